internal import Glibc
package import RedialModel

/// A new file that gets its name when it is complete; until then `.partial` follows the name. So a file of that name is
/// whole, whatever ends its writer. A lock tells what is being written from what a writer that was ended has left, which
/// the next one replaces.
package final class PartialFile {
  /// The name of a file until it is complete.
  package static func path(of name: String) -> String { name + ".partial" }

  private let name: String
  private var hasName = false
  /// Its size at the last rest.
  private var syncedBytes = 0
  /// In microseconds.
  private static let longestRest: Double = 500_000
  /// Where it is until it is complete.
  package let path: String
  /// The file, open for writing.
  package let descriptor: Int32

  /// - Throws: If a file of that name exists, because it is never overwritten, or if the file is being written, or cannot
  ///   be made.
  package init(_ name: String) throws(StoreError) {
    guard access(name, F_OK) != 0 else { throw Self.exists(name) }
    (self.name, path) = (name, Self.path(of: name))
    descriptor = try Self.make(path)
  }

  deinit {
    if !hasName { unlink(path) }
    close(descriptor)
  }

  /// A new, locked file. Only for this user, like the store itself.
  private static func make(_ path: String) throws(StoreError) -> Int32 {
    while true {
      var file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      let isNew = file >= 0
      if !isNew, errno == EEXIST {
        file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        // It was removed in between.
        if file < 0, errno == ENOENT { continue }
      }
      guard file >= 0 else { throw failure("make", path) }
      // Some file systems have no locks.
      let isLocked = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
      var (own, named) = (stat(), stat())
      let isThere = fstat(file, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino
      if isNew, isThere, !isLocked { return file }
      defer { close(file) }
      if isNew { continue }
      guard !isLocked else {
        throw StoreError(kind: .unavailable, message: "\(path) is being written. Name another file.")
      }
      // It is not emptied: a writer that was ended at the last moment has left the complete file, which has its name, too.
      guard !isThere || unlink(path) == 0 else { throw failure("remove", path) }
    }
  }

  /// How much is written between two rests, in bytes.
  package static let bytesBetweenRests = 1 << 20

  /// After each megabyte, writes the file to disk and waits as long as that took, so that a service on the same disk has
  /// half of its time. Call it often while writing: a large file that is synced only at its end makes each sync of the
  /// service wait for all of it (measured: 300 ms for two gigabytes).
  package func rest() throws(StoreError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure("read", path) }
    let size = Int(status.st_size)
    guard size - syncedBytes >= Self.bytesBetweenRests else { return }
    let begun = ContinuousClock.now
    guard fdatasync(descriptor) == 0 else { throw Self.failure("sync", path) }
    syncedBytes = size
    usleep(UInt32(min((ContinuousClock.now - begun) / .microseconds(1), Self.longestRest)))
  }

  /// Gives the file its name, once its content and its name are on disk.
  ///
  /// - Returns: Its size, in bytes.
  package func complete() throws(StoreError) -> Int {
    var status = stat()
    guard fsync(descriptor) == 0, fstat(descriptor, &status) == 0 else { throw Self.failure("sync", path) }
    if link(path, name) != 0 {
      guard errno != EEXIST, access(name, F_OK) != 0 else { throw Self.exists(name) }
      // Some file systems have no links.
      guard rename(path, name) == 0 else { throw Self.failure("name", name) }
      hasName = true
    }
    let slash = name.lastIndex(of: "/")
    let folder = slash.map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { throw Self.failure("open the folder", folder) }
    defer { close(opened) }
    guard fsync(opened) == 0 else { throw Self.failure("sync the folder", folder) }
    return Int(status.st_size)
  }

  private static func exists(_ path: String) -> StoreError {
    StoreError(kind: .unavailable, message: "\(path) exists and is not overwritten. Name another file.")
  }

  private static func failure(_ purpose: String, _ path: String) -> StoreError {
    let code = errno
    return StoreError(
      kind: code == ENOSPC || code == EDQUOT ? .full : .unavailable,
      message: "Could not \(purpose) \(path): \(String(cString: strerror(code))). Check the folder.")
  }
}
