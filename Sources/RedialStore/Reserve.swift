internal import Glibc

/// Room on the disk that is reserved for the time when it is full: a file beside the store's file, to which nothing
/// is written.
///
/// On a disk that the store itself has filled, nothing could be removed: a removal is a commit, which needs room in
/// the log, and the log needs room in the file before it can start again at its beginning. So the first write that
/// finds no room releases the reserve. The room then serves the outcomes of accepted calls, retention, and the
/// checkpoint that makes the file smaller. New calls are refused until there is room for the reserve again, because
/// they would use it up.
final class Reserve {
  /// The file.
  let path: String
  /// How much is to be set aside, in bytes; 0 for nothing.
  let bytes: Int
  /// Whether it was released, or could not be taken yet.
  private(set) var isMissing = false
  /// It is taken again only where this part of it would be free besides, so that it is not released at once.
  private static let freePart = 8

  /// Takes it where there is room, and removes the file where nothing is to be set aside.
  ///
  /// - Parameter bytes: How much; nil to leave alone what is there.
  /// - Throws: `unavailable` when something else than a file has its name, such as a symbolic link: the file that it leads
  ///   to, which may be anybody's, would be cut off.
  init(path: String, bytes: Int?) throws(StoreError) {
    self.path = path
    self.bytes = bytes ?? 0
    var status = stat()
    if let bytes, bytes > 0, lstat(path, &status) == 0, !Self.isReserve(status) {
      throw StoreError(
        kind: .unavailable,
        message:
          "\(path) is not a regular file, so it cannot be the store's reserve. Remove it and start Redial again, "
          + "which makes a new one, or set reserveBytes to 0.")
    }
    if bytes == 0 { unlink(path) }
    if let bytes, bytes > 0 { isMissing = !allocate(andFree: 0) }
  }

  /// Gives its room to others; false when there is none to give.
  func release() -> Bool {
    guard bytes > 0, !isMissing else { return false }
    isMissing = true
    let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return true }
    defer { close(file) }
    var status = stat()
    if fstat(file, &status) == 0, Self.isReserve(status) { ftruncate(file, 0) }
    return true
  }

  /// Takes it again if there is room; answers whether it is there.
  func take() -> Bool {
    if isMissing, allocate(andFree: bytes / Self.freePart) { isMissing = false }
    return !isMissing
  }

  /// Does something that may find no room, and once more with the room of the reserve if it does.
  func lending<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) {
      return try body()
    } catch {
      guard error.kind == .full, release() else { throw error }
      return try body()
    }
  }

  private static func isReserve(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFREG }

  private func allocate(andFree more: Int) -> Bool {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, Self.isReserve(status) else { return false }
    // The room that it has in blocks of 512 bytes, by stat(2).
    let has = Int(status.st_blocks) * 512
    if has < bytes {
      var system = statvfs()
      guard fstatvfs(file, &system) == 0 else { return false }
      // Asked first: an attempt that fails takes for a moment what others need.
      let free = UInt(system.f_bavail).multipliedReportingOverflow(by: UInt(system.f_frsize))
      guard free.overflow || free.partialValue >= UInt(bytes - has + more) else { return false }
    }
    guard posix_fallocate(file, 0, bytes) == 0, ftruncate(file, bytes) == 0 else {
      ftruncate(file, 0)
      return false
    }
    return true
  }
}
