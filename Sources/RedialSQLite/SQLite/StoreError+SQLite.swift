internal import RedialStore
internal import CSQLite
internal import Glibc
internal import RedialModel

extension StoreError {
  /// The error of SQLite's last call on a connection.
  ///
  /// - Parameters:
  ///   - code: The result code of that call; SQLite's extended code gives details.
  ///   - purpose: The action, as in "could not …".
  ///   - advice: The meaning of the error and what to do, if not the usual.
  static func sqlite(
    _ database: OpaquePointer?, code: Int32, purpose: String, path: String, advice: String? = nil
  ) -> StoreError {
    guard let database else {
      return StoreError(kind: .unavailable, message: "Could not \(purpose) in \(path): the store is closed.")
    }
    let extended = sqlite3_extended_errcode(database)
    let detail = extended & 0xFF == code & 0xFF ? extended : code
    let text = String(cString: detail == extended ? sqlite3_errmsg(database) : sqlite3_errstr(code))
    let primary = code & 0xFF
    // The system's error stays set from one failure to the next, so it is read only where it was just set.
    let system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN ? sqlite3_system_errno(database) : 0
    let kind = isFailedSync(detail) ? Kind.syncFailed : kind(of: primary, systemError: system)
    let cause = system == 0 ? text : "\(text), \(String(cString: strerror(system)))"
    let meaning = kind == .syncFailed ? Self.advice(for: kind) : advice ?? Self.advice(for: kind)
    return StoreError(
      kind: kind, message: "Could not \(purpose) in \(path): \(cause) (SQLite \(detail)). \(meaning)")
  }

  /// Whether an extended code means that an fsync failed, of a file or of its folder. (Swift does not import these
  /// macros as constants.)
  private static func isFailedSync(_ code: Int32) -> Bool {
    code == SQLITE_IOERR | 4 << 8 || code == SQLITE_IOERR | 5 << 8
  }

  private static func kind(of code: Int32, systemError: Int32) -> Kind {
    switch code {
    case SQLITE_FULL: return .full
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT, SQLITE_MISMATCH: return .corrupt
    // A full disk can also appear as a plain I/O error, when SQLite extends its shared-memory file.
    case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: return .full
    default: return .unavailable
    }
  }

  /// The meaning of a kind of error, and what to do.
  static func advice(for kind: Kind) -> String {
    switch kind {
    case .full: "Nothing was written. Free some space on that file system; no restart is needed."
    case .unavailable: "Nothing was written. It may be tried again; check the disk, its mount and its permissions."
    case .syncFailed:
      "What was written since the last fsync may be lost, although it can still be read, so nothing is added to "
        + "it. Start Redial again: it continues with the data that is on the disk. Check the disk if this happens again."
    case .corrupt:
      "Keep a copy of the file and its -wal beside it before anything else. Then restore a backup, or run "
        + "`redial salvage`, which makes a new store of all that can be read."
    case .inUse, .leaseLost, .keyTaken, .callStored:
      "Stop the other process first, or give this one a store of its own."
    case .outcomeUnknown: "It may have been written."
    }
  }
}
