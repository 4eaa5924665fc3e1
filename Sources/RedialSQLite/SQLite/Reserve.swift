internal import RedialStore
internal import Glibc
internal import RedialModel

/// Space on the disk that is reserved for the time when it is full: a file beside the store's file, to which nothing is
/// written.
///
/// On a disk that the store itself has filled, nothing could be removed: a removal is a commit, which needs space in
/// the log, and the log needs space in the file before it can start again at its beginning. So the first write that
/// finds no space releases the reserve. Its space then serves the outcomes of accepted calls, retention, and the
/// checkpoint that makes the file smaller. New calls are refused until there is space for the reserve again, because
/// they would use it up.
final class Reserve {
  /// The file.
  let path: String
  /// The size of the reserve, in bytes; 0 for none.
  let bytes: Int
  /// Whether it was released, or could not be allocated yet.
  private(set) var isMissing = false
  /// It is allocated again only if this part of it would remain free as well, so that it is not released at once.
  private static let freePart = 8

  /// Allocates it if there is space, and removes the file if the size is 0.
  ///
  /// - Parameter bytes: The size; nil to leave the file unchanged.
  /// - Throws: `unavailable` if its name belongs to something other than a file, such as a symbolic link: the file
  ///   behind the link, which may be anybody's, would be truncated.
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

  /// Releases its space; false if there is none to release.
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

  /// Allocates it again if there is space; returns whether it is there.
  func take() -> Bool {
    if isMissing, allocate(andFree: bytes / Self.freePart) { isMissing = false }
    return !isMissing
  }

  /// Runs a closure that may find no space, and again with the space of the reserve if it does.
  func lending<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    let canLend = bytes > 0 && !isMissing
    do throws(StoreError) {
      return try body()
    } catch {
      guard error.kind == .full, canLend else { throw error }
      // A transaction that was rolled back has released it already.
      _ = release()
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
    // Its space in blocks of 512 bytes, by stat(2).
    let has = Int(status.st_blocks) * 512
    if has < bytes {
      var system = statvfs()
      guard fstatvfs(file, &system) == 0 else { return false }
      // Checked first: a failed allocation briefly takes space that others need.
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
