internal import RedialStore
internal import Glibc
internal import RedialModel

/// Remembers the files in which a store was opened, and checks whether they are still in their place.
///
/// SQLite continues to write to files that were removed or replaced, and its fsyncs succeed. Such commits are lost when
/// the process ends, so they must not be acknowledged. The log matters as much as the database: commits are in it until
/// a checkpoint moves them.
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

  /// Records the files of an open store. Their inodes are not reused while SQLite has them open.
  init(path: String) {
    files = ["", "-wal", "-shm"].compactMap { suffix in
      Self.identity(path + suffix).map { File(path: path + suffix, identity: $0) }
    }
  }

  /// Checks that each path leads to the same file as before.
  ///
  /// - Throws: `unavailable`, because the files may be moved back.
  func check() throws(StoreError) {
    for file in files {
      let identity = Self.identity(file.path)
      // Another error, such as missing permissions, does not show where the file is.
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
