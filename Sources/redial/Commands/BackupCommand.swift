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
      Option(name: "--compact", summary: "Leave out the free space of removed calls (of SQLite)."),
      Option(name: "--with-key", summary: "Copy the key file, too, to FILE.key: who has both can read all of it."),
    ],
    notes: """
      The copy is the whole store as of one moment. Of an SQLite store it is such a store: to restore it, stop the service, move
      the store's file and the files beside it (-wal, -shm) away, and put the copy in its place. Of PostgreSQL it is an archive,
      as `redial export` writes one: `redial import` puts it into a new database. The copy holds all payloads; its
      secrets are encrypted by the key file, which stays behind without --with-key. Keep it with the copies: when both are put
      back, FILE.key belongs beside the store under the store's name and .key, or where encryptionKeyFile says.
      """
  ) { arguments throws(CommandError) in
    let (settings, target) = (try StoreOption.settings(arguments), arguments.operands[0])
    let file = try StoreOption.file(settings)
    let key = try BackupKey(settings, of: file, isWanted: arguments.has("--with-key"), to: target + ".key")
    guard let source = file else {
      guard !arguments.has("--compact") else {
        throw CommandError(code: .usage, message: "--compact is for SQLite: an archive has no free space.")
      }
      let database = try ArchiveCommands.open { () throws(ServiceStartError) in
        try settings.openExport(in: nil, asOfOneMoment: true)
      }
      let code = try ArchiveCommands.export(database, hasItems: true, to: target, as: "backup")
      try key.copy()
      return code
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
    } catch {
      throw CommandError(error)
    }
    try key.copy()
    return .success
  }
}

/// The key file of a store that is backed up.
private struct BackupKey {
  /// The file; nil if there is none.
  private let file: String?
  private let store: String?
  private let isWanted: Bool
  private let target: String

  /// - Parameters:
  ///   - store: The path of the store; nil for a database.
  ///   - isWanted: Whether it is a part of the backup.
  /// - Throws: If it is, and cannot be.
  init(_ settings: ServiceSettings, of store: String?, isWanted: Bool, to target: String) throws(CommandError) {
    (self.store, self.isWanted, self.target) = (store, isWanted, target)
    if settings.encryptionKeyCommand != nil {
      file = nil
    } else {
      let beside = store.map { $0 + ".key" }
      file = settings.encryptionKeyFile ?? beside.flatMap { FileReading.size($0) == nil ? nil : $0 }
    }
    guard isWanted else { return }
    guard file != nil || settings.encryptionKeyCommand == nil else {
      throw CommandError(
        code: .usage,
        message: "--with-key copies a key file, and encryptionKeyCommand names a program that has the key.")
    }
    guard FileReading.size(target) == nil else {
      throw CommandError(
        code: .unsuccessful, message: "\(target) exists and is not overwritten. Remove it, or name another file.")
    }
  }

  /// Copies it, or says that it is left out.
  func copy() throws(CommandError) {
    guard let file else {
      guard isWanted else { return }
      let hasKeys = try store.map { store throws(CommandError) in
        do throws(StoreError) { return try !StoredDataKeys.read(store).isEmpty } catch { throw CommandError(error) }
      }
      return Terminal.write(
        hasKeys == true
          ? "there is no key file: what it has encrypted in the backup cannot be read until it is found\n"
          : "there is no key file: nothing in the backup is encrypted by one\n")
    }
    guard isWanted else {
      return Terminal.write(
        "left out the key file \(file): keep a copy of it, too (--with-key makes one); what it encrypts cannot be read without it\n"
      )
    }
    do throws(StoreError) {
      try KeyFile.copy(file, to: target)
    } catch {
      throw CommandError(error)
    }
    Terminal.write("wrote the key file \(file) to \(target)\n")
  }
}
