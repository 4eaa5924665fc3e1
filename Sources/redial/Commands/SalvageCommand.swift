import Glibc
import RedialService
import RedialSQLite
import RedialStore
internal import RedialModel

extension Command {
  /// `redial salvage`
  static let salvage = Command(
    name: "salvage", summary: "Make a new store of all that can be read of a damaged one.",
    operands: "FROM TO", operandCount: 2...2,
    options: [
      Option(name: "--without-key", summary: "The key that encrypts FROM is lost: keep what can be read without it."),
      StoreOption.config,
    ],
    notes: """
      FROM is only read, and what of it cannot be read is named, one line each. If it is the file of an SQLite store, TO is a new
      file; there must be room for FROM twice, no service may be running on it, and pages of the write-ahead log are read also behind
      damage. If FROM is a database of PostgreSQL, TO is a new file or an empty database.
      Exit codes of this command: 0 everything is in the new store; 1 something is missing, or there is no new store; 2 the command
      line is wrong.
      """
  ) { arguments throws(CommandError) in
    let settings = try arguments.operands.map { store throws(CommandError) in
      // A file may have a colon in its name.
      let isNamed = ["sqlite:", "postgres:", "postgresql:"].contains { store.hasPrefix($0) }
      return try StoreOption.settings(arguments, store: isNamed ? store : "sqlite:" + store)
    }
    let (source, target) = (try StoreOption.file(settings[0]), try StoreOption.file(settings[1]))
    let omissions = Omissions()
    let names = settings.map { Redaction.place($0.store) }
    let keyless = arguments.has("--without-key") ? Vault(setsAside: true) : nil
    let calls: Int
    switch (source, target) {
    case (let source?, let target?):
      let vaults = try ArchiveCommands.open { () throws(ServiceStartError) in
        let source = if let keyless { keyless } else { try settings[0].vault() }
        return (source: source, target: try settings[1].vault())
      }
      do throws(StoreError) {
        calls = try StoreSalvage.run(
          from: source, to: target, payloads: settings[0].payloads, vaults: vaults, at: WallClock.now,
          report: omissions.report)
      } catch {
        throw CommandError(error)
      }
    case (let source?, nil):
      throw CommandError(
        code: .usage,
        message: "\(source) is a file, and is salvaged into another file. Name one, and then use `redial migrate`.")
    case (nil, _): calls = try salvage(settings[0], keyless, into: settings[1], omissions)
    }
    let rest = omissions.count == 0 ? "nothing is missing" : "what is missing is named above"
    Terminal.write("wrote \(calls) calls of \(names[0]) to \(names[1]); \(rest)\n")
    return omissions.count == 0 ? .success : .unsuccessful
  }

  /// Moves what can be read of a database. Returns how many calls.
  private static func salvage(
    _ from: ServiceSettings, _ keyless: Vault?, into to: ServiceSettings, _ omissions: Omissions
  ) throws(CommandError) -> Int {
    let source = try ArchiveCommands.open { () throws(ServiceStartError) in try from.openSource(keyless) }
    defer { source.close() }
    let new = try StoreOption.file(to).flatMap { FileReading.size($0) == nil ? $0 : nil }
    let destination = try ArchiveCommands.open { () throws(ServiceStartError) in try to.openDestination() }
    var isWhole = false
    defer {
      destination.close()
      if let new, !isWhole { for suffix in ["", "-wal", "-shm", ".lock"] { unlink(new + suffix) } }
    }
    do throws(StoreError) {
      let calls = try StoreMigration(from: source, to: destination, at: WallClock.now).salvage(damage: omissions.report)
      isWhole = true
      return calls
    } catch {
      throw CommandError(error)
    }
  }
}

/// What was left out, which is shown at once.
private final class Omissions {
  private(set) var count = 0

  func report(_ omission: String) {
    count += 1
    Terminal.error("redial salvage: \(omission)\n")
  }
}
