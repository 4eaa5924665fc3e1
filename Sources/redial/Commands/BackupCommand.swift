import RedialService
import RedialSQLite
import RedialStore
internal import RedialModel

extension Command {
  /// `redial backup`
  static let backup = Command(
    name: "backup", summary: "Copy a store into a new file; a service can be running on it.",
    operands: "FILE", operandCount: 1...1,
    options: StoreOption.any + [
      Option(name: "--compact", summary: "Leave out the free space of removed calls (of SQLite).")
    ],
    notes: """
      The copy is the whole store as of one moment. Of an SQLite store it is such a store: to restore it, stop the service, move
      the store's file and the files beside it (-wal, -shm) away, and put the copy in its place. Of PostgreSQL it is an archive,
      as `redial export` writes one: `redial import` puts it into a new database. The copy holds all payloads; its
      secrets are encrypted by the key file that stays behind.
      """
  ) { arguments throws(CommandError) in
    let (settings, target) = (try StoreOption.settings(arguments), arguments.operands[0])
    guard let source = try StoreOption.file(settings) else {
      guard !arguments.has("--compact") else {
        throw CommandError(code: .usage, message: "--compact is for SQLite: an archive has no free space.")
      }
      let database = try ArchiveCommands.open { () throws(ServiceStartError) in
        try settings.openExport(in: nil, asOfOneMoment: true)
      }
      return try ArchiveCommands.export(database, hasItems: true, to: target, as: "backup")
    }
    do throws(StoreError) {
      // The size of the copy, which is written under another name, shows the progress.
      let partial = PartialFile.path(of: target)
      let isCompact = arguments.has("--compact")
      let bytes = try ProgressLine.showing {
        let (copied, whole) = (FileReading.size(partial) ?? 0, FileReading.size(source) ?? 0)
        return "\(ProgressLine.bar(copied, of: whole))  \(copied >> 20) of \(whole >> 20) MiB"
      } while: { () throws(StoreError) in
        try StoreBackup.copy(from: source, to: target, compact: isCompact)
      }
      Terminal.write("wrote \(bytes) bytes of \(source) to \(target)\n")
      if settings.encryptionKeyFile == nil, settings.encryptionKeyCommand == nil,
        FileReading.size(source + ".key") != nil
      {
        Terminal.write("keep a copy of \(source).key, too: the secrets in the backup are encrypted by it\n")
      }
    } catch {
      throw CommandError(error)
    }
    return .success
  }
}
