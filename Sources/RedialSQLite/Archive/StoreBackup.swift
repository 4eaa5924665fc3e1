internal import RedialStore
internal import CSQLite
internal import Glibc
import RedialText
package import RedialModel

/// Copies a store that a service may be using.
package enum StoreBackup {
  /// Steps of SQLite's virtual machine between two looks at how much is written, when SQLite writes it: four copy a row.
  private static let stepsAtOnce: Int32 = 100

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
  package static func copy(from source: String, to path: String, compact: Bool = false) throws(StoreError) -> Int {
    try WriteAheadFile.check(source)
    let connection = try SQLiteConnection(path: source, role: .reader)
    defer { connection.close() }
    try Schema.checkIsStore(connection)
    // Only for this user; it contains the webhooks' secret.
    let file = try PartialFile(path)
    let partial = file.path
    // Of a copy that was cut off.
    for end in ["-journal", "-wal", "-shm"] { unlink(partial + end) }
    if compact {
      // This is for the copy: a connection that may not write reports an error here, but still uses the setting for its
      // next VACUUM.
      try? connection.execute("choose how the copy becomes smaller", "PRAGMA auto_vacuum = INCREMENTAL")
      try connection.execute(
        "copy the store", "VACUUM INTO '\(partial.replacing("'", with: "''"))'",
        stepsAtOnce: Self.stepsAtOnce, pausing: file.rest)
    } else {
      try connection.copy(to: file)
    }
    return try file.complete()
  }
}

extension SQLiteConnection {
  /// Pages between two rests.
  private static let pagesAtOnce = Int32(PartialFile.bytesBetweenRests / Checkpoints.pageBytes)

  /// Copies everything into another file, as of one moment: pages that are committed meanwhile are not copied.
  fileprivate func copy(to file: PartialFile) throws(StoreError) {
    let target = try SQLiteConnection(path: file.path, role: .writer)
    defer { target.close() }
    try target.takeAll(of: self, pagesAtOnce: Self.pagesAtOnce, pausing: file.rest)
  }
}
