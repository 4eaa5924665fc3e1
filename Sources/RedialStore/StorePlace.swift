internal import Glibc

/// Knows which files a store was opened in, and whether they are still in their place.
///
/// SQLite goes on writing to files that were removed or replaced, and its fsyncs succeed. What is committed there is gone
/// when the process ends, so that it must not be acknowledged. The log counts as much as the database: commits are in it
/// until a checkpoint moves them.
struct StorePlace {
  private struct File {
    let path: String
    let identity: Identity
  }

  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t
  }

  private let files: [File]

  /// Notes the files of a store that is open. Their inodes are not used again while SQLite has them open.
  init(path: String) {
    files = ["", "-wal", "-shm"].compactMap { suffix in
      Self.identity(path + suffix).map { File(path: path + suffix, identity: $0) }
    }
  }

  /// Checks that each path leads to the same file as before.
  ///
  /// - Throws: `unavailable`, which may become better: somebody may move the files back.
  func check() throws(StoreError) {
    for file in files {
      let identity = Self.identity(file.path)
      // Another reason why a path cannot be looked up now, such as missing permissions, does not say where the file is.
      if identity == file.identity || identity == nil && errno != ENOENT && errno != ENOTDIR { continue }
      throw StoreError(
        kind: .unavailable,
        message:
          "The store's file \(file.path) was \(identity == nil ? "removed" : "replaced") while Redial had it open. "
          + "New calls are refused, since they would be lost. If the files were moved, move all of them back (the file, "
          + "its -wal and its -shm); no restart is needed. Otherwise this process alone has the accepted calls: save what "
          + "you need with GET /v1/calls, then stop Redial, restore a backup if there is one, and start it again.")
    }
  }

  private static func identity(_ path: String) -> Identity? {
    var status = stat()
    return stat(path, &status) == 0 ? Identity(device: status.st_dev, inode: status.st_ino) : nil
  }
}
