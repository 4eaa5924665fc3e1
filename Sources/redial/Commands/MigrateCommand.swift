internal import RedialModel
import RedialService
import RedialStore

extension Command {
  /// `redial migrate`
  static let migrate = Command(
    name: "migrate", summary: "Move everything in a store into another one, such as from SQLite to PostgreSQL.",
    options: [
      Option(name: "--from", form: "STORE", summary: "The store to copy: sqlite:PATH or postgresql://…"),
      Option(name: "--to", form: "STORE", summary: "A new, empty store: sqlite:PATH or postgresql://…"),
      StoreOption.config,
    ],
    notes: """
      No service may be running on either store. The store to copy is only read, and stays as it is. At the end both are
      compared. If this is interrupted, run it again: it goes on where it stopped, and no service starts on the new
      store before all is there.
      Exit codes of this command: 0 everything is in the new store; 1 it is not; 2 the command line is wrong.
      """
  ) { arguments throws(CommandError) in
    for option in ["--from", "--to"] where arguments.value(option) == nil {
      throw CommandError(code: .usage, message: "name both stores: \(option) is missing")
    }
    return try MigrateCommand.run(
      from: try StoreOption.settings(arguments, of: "--from"), to: try StoreOption.settings(arguments, of: "--to"))
  }
}

/// Moves the contents of a store into another one.
enum MigrateCommand {
  static func run(from: ServiceSettings, to: ServiceSettings) throws(CommandError) -> ExitCode {
    let source = try ArchiveCommands.open { () throws(ServiceStartError) in try from.openSource() }
    defer { source.close() }
    let destination = try ArchiveCommands.open { () throws(ServiceStartError) in try to.openDestination() }
    defer { destination.close() }
    var progress = ProgressLine()
    let outcome: StoreMigration.Outcome
    do throws(StoreError) {
      outcome = try StoreMigration(from: source, to: destination, at: WallClock.now).run { done in
        progress.show(text(done))
      }
    } catch {
      progress.end()
      throw CommandError(error)
    }
    progress.end()
    let differences = outcome.differences
    guard differences.count == 0 else {
      for example in differences.examples { Terminal.error("redial migrate: \(example)\n") }
      throw CommandError(
        code: .unsuccessful,
        message:
          "\(destination.place) differs from \(source.place) in \(differences.count) places, so no service starts on "
          + "it. Begin again with a new, empty store.")
    }
    Terminal.write(text(outcome, from: source.place, to: destination.place))
    return .success
  }

  private static func text(_ progress: StoreMigration.Progress) -> String {
    // Moving and comparing are the two halves.
    let isMoving = progress.phase == .moving
    let done = isMoving ? progress.done : progress.all + progress.done
    return "\(ProgressLine.bar(done, of: 2 * progress.all))  \(isMoving ? "moving" : "comparing") calls"
  }

  private static func text(_ outcome: StoreMigration.Outcome, from: String, to: String) -> String {
    var text = outcome.isResumed ? "went on with a migration that was interrupted\n" : ""
    text += "moved \(outcome.calls) calls from \(from) to \(to):\n"
    let others = StoreItem.Kind.allCases.map { ($0.title, outcome.items[$0] ?? 0) }
    for (title, count) in [("attempts", outcome.attempts)] + others where count > 0 {
      text += "  \(RedialTool.padded(title, 52))\(count)\n"
    }
    return text + "Both were compared, and are equal.\n"
  }
}
