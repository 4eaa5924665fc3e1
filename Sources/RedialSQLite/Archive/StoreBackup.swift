public import RedialStore
internal import CSQLite
internal import Glibc

/// Copies a store that a service may be using.
public enum StoreBackup {
  /// The name of a copy until it is complete.
  public static func partialPath(of path: String) -> String { path + ".partial" }

  /// Copies a store as of one moment into a new file, which is on disk when this function returns.
  ///
  /// The copy is written beside the file under the name of the file and `.partial`, and gets its name when it is
  /// complete.
  ///
  /// - Parameters:
  ///   - compact: Write a new file without the space of removed calls, instead of a copy page by page. This takes
  ///     longer, and turns a file of an older version into one that can shrink by itself.
  /// - Returns: The size of the copy, in bytes.
  /// - Throws: If a file of that name exists, because it is never overwritten, or if the copy cannot be made.
  public static func copy(from source: String, to path: String, compact: Bool = false) throws(StoreError) -> Int {
    let partial = partialPath(of: path)
    guard access(path, F_OK) != 0 else { throw exists(path) }
    let connection = try SQLiteConnection(path: source, role: .reader)
    defer { connection.close() }
    try Schema.checkIsStore(connection)
    // Only for this user, like the store itself; it contains the webhooks' secret.
    let file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("make", partial) }
    close(file)
    defer { unlink(partial) }
    if compact {
      // This is for the copy: a connection that may not write reports an error here, but still uses the setting for its
      // next VACUUM.
      try? connection.execute("choose how the copy becomes smaller", "PRAGMA auto_vacuum = INCREMENTAL")
      try connection.execute("copy the store", "VACUUM INTO '\(partial.replacing("'", with: "''"))'")
    } else {
      try connection.copy(to: partial)
    }
    let size = try sync(partial)
    guard link(partial, path) == 0 else {
      throw errno == EEXIST ? exists(path) : failure("name", path)
    }
    try syncFolder(of: path)
    return size
  }

  private static func sync(_ path: String) throws(StoreError) -> Int {
    let file = open(path, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw failure("open", path) }
    defer { close(file) }
    var status = stat()
    guard fsync(file) == 0, fstat(file, &status) == 0 else { throw failure("sync", path) }
    return Int(status.st_size)
  }

  private static func syncFolder(of path: String) throws(StoreError) {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw failure("open the folder", folder) }
    defer { close(opened) }
    guard fsync(opened) == 0 else { throw failure("sync the folder", folder) }
  }

  private static func exists(_ path: String) -> StoreError {
    StoreError(kind: .unavailable, message: "\(path) exists and is not overwritten. Name another file.")
  }

  private static func failure(_ purpose: String, _ path: String) -> StoreError {
    let code = errno
    let advice =
      code == EEXIST ? "Another backup is running, or was cut off: then remove that file." : "Check the folder."
    return StoreError(
      kind: code == ENOSPC || code == EDQUOT ? .full : .unavailable,
      message: "Could not \(purpose) \(path): \(String(cString: strerror(code))). \(advice)")
  }
}

extension SQLiteConnection {
  /// Copies everything into another file, as of one moment: pages that are committed meanwhile are not copied.
  func copy(to path: String) throws(StoreError) {
    let target = try SQLiteConnection(path: path, role: .writer)
    defer { target.close() }
    try target.takeAll(of: self)
  }
}
