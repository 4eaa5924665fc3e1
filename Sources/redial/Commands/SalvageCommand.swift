import RedialService
import RedialSQLite
import RedialStore
internal import RedialModel

extension Command {
  /// `redial salvage`
  static let salvage = Command(
    name: "salvage", summary: "Make a new store of all that can be read of a damaged one.",
    operands: "FROM TO", operandCount: 2...2, options: [StoreOption.config],
    notes: """
      FROM and TO are files of SQLite stores. FROM is only read, and TO must not exist; there must be room for FROM twice. Pages of
      the write-ahead log are read also behind damage. What cannot be read is named, one line each. No service may be running on FROM.
      Exit codes of this command: 0 everything is in the new store; 1 something is missing, or there is no new store; 2 the command
      line is wrong.
      """
  ) { arguments throws(CommandError) in
    let settings = try StoreOption.settings(arguments)
    let (source, target) = (path(arguments.operands[0]), path(arguments.operands[1]))
    let outcome: StoreSalvage.Outcome
    do throws(StoreError) {
      outcome = try StoreSalvage.run(from: source, to: target, payloads: settings.payloads, at: WallClock.now) {
        Terminal.error("redial salvage: \($0)\n")
      }
    } catch {
      throw CommandError(error)
    }
    Terminal.write(
      "wrote \(outcome.calls) calls of \(source) to \(target)"
        + (outcome.leftOut == 0 ? "; nothing is missing\n" : "; what is missing is named above\n"))
    return outcome.leftOut == 0 ? .success : .unsuccessful
  }

  /// The file of a store, which may be named as `--store` names it.
  private static func path(_ store: String) -> String {
    store.hasPrefix("sqlite:") ? String(store.dropFirst("sqlite:".count)) : store
  }
}
