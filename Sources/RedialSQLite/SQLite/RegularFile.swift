internal import Glibc
internal import RedialStore
internal import RedialModel

/// An open regular file. Nothing else is opened: a pipe would be waited for, and a device has no end.
final class RegularFile {
  let path: String
  private let descriptor: Int32

  /// Opens a file for reading; nil if there is none.
  init?(_ path: String) throws(StoreError) {
    self.path = path
    try Self.check(path)
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor < 0 else { return }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw Self.failure("open", path)
  }

  /// Makes a new file for this user only.
  init(creating path: String) throws(StoreError) {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure("make", path) }
  }

  deinit {
    close(descriptor)
  }

  /// Throws if there is something else under that name: a folder, a pipe, a device.
  static func check(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    let kind =
      switch status.st_mode & S_IFMT {
      case S_IFDIR: "a folder"
      case S_IFIFO: "a pipe"
      case S_IFSOCK: "a socket"
      default: "a device"
      }
    throw StoreError(
      kind: .unavailable,
      message: "\(path) is \(kind), and a store is a regular file. Nothing was changed; name a file.")
  }

  /// The size of a file, in bytes; nil if there is none.
  static func size(_ path: String) throws(StoreError) -> Int? {
    var status = stat()
    if stat(path, &status) == 0 { return Int(status.st_size) }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw failure("find", path)
  }

  /// Whether it was changed since this machine started. The clock may have been set back since: then it says no.
  var wasWrittenSinceBoot: Bool {
    var (status, now, up) = (stat(), timespec(), timespec())
    guard fstat(descriptor, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0,
      clock_gettime(CLOCK_BOOTTIME, &up) == 0
    else { return false }
    return status.st_mtim.tv_sec > now.tv_sec - up.tv_sec && status.st_mtim.tv_sec <= now.tv_sec
  }

  /// Reads as many bytes as there are, up to the size of a buffer; returns how many.
  func read(into buffer: UnsafeMutableRawBufferPointer, at place: Int) throws(StoreError) -> Int {
    var count = 0
    while count < buffer.count {
      let more = pread(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count, place + count)
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw Self.failure("read", path) }
      if more == 0 { break }
      count += more
    }
    return count
  }

  /// The bytes at a place: fewer, if the file ends before.
  func bytes(at place: Int, _ count: Int) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let found = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(StoreError) in
      try read(into: UnsafeMutableRawBufferPointer(buffer), at: place)
    }
    return Array(bytes.prefix(found))
  }

  func write(_ bytes: UnsafeRawBufferPointer, at place: Int) throws(StoreError) {
    var count = 0
    while count < bytes.count {
      let more = pwrite(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count, place + count)
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw Self.failure("write", path) }
      count += more
    }
  }

  /// Makes it as long as this.
  func cut(to bytes: Int) throws(StoreError) {
    guard ftruncate(descriptor, bytes) == 0 else { throw Self.failure("cut", path) }
  }

  private static func failure(_ purpose: String, _ path: String) -> StoreError {
    let code = errno
    return StoreError(
      kind: code == ENOSPC || code == EDQUOT ? .full : .unavailable,
      message: "Could not \(purpose) \(path): \(String(cString: strerror(code))). "
        + "Check the disk, and that this user may use the file.")
  }
}
