internal import CLinux
internal import RedialStore
internal import Glibc
internal import RedialModel

/// A store's file on disk, and the lock that reserves it for one process.
///
/// SQLite would let two processes write alternately, and each would run the calls that the other has in memory. So
/// the owner of a store holds `flock` on a file beside it. The kernel releases the lock when the process ends,
/// however it ends.
final class StoreFile {
  /// The path without links, so that a file has only one lock, whatever name it is opened by.
  let path: String
  private var lock: Int32

  /// Creates the folder and the file if they are missing, for this user only, and takes the lock.
  ///
  /// What is there is looked at before anything is made or changed: a file of another kind or of another program, and a
  /// damaged log, stay as they are, with nothing new beside them.
  init(path given: String) throws(StoreError) {
    path = try Self.resolved(given)
    let lockPath = path + ".lock"
    lock = open(lockPath, O_RDWR | O_CLOEXEC)
    guard lock >= 0 || errno == ENOENT else { throw Self.failure("open the lock file", lockPath) }
    do throws(StoreError) {
      // An owner may just be writing the log. Without a lock file there is none.
      if lock >= 0 { try take(lockPath) }
      try Schema.checkFile(path)
      // Else only root could read some.
      for suffix in ["-wal", "-shm"] { openToOwner(path + suffix) }
      try WriteAheadFile.check(path)
      if lock < 0 {
        lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.failure("open the lock file", lockPath) }
        try take(lockPath)
      }
      try create()
      for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
        openToOwner(path + suffix)
        try Self.closeToOthers(path + suffix)
      }
    } catch {
      // Not automatically: an initializer that throws after it has set everything is followed by `deinit`, which
      // would close the descriptor again, or another file that has been given its number by then.
      close()
      throw error
    }
  }

  private func take(_ lockPath: String) throws(StoreError) {
    guard !Self.take(lock) else { return }
    guard errno == EWOULDBLOCK else { throw Self.failure("lock", lockPath) }
    throw StoreError(
      kind: .inUse,
      message: "\(path) is in use by another process, which holds \(lockPath). "
        + "Stop that process, or give this one a store of its own. Do not delete the lock file.")
  }

  /// SQLite would create the file with the process's umask; its log and shared memory take the same mode. An existing file
  /// is not opened: closing it would drop the locks that a connection of this process has on it.
  private func create() throws(StoreError) {
    let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 || errno == EEXIST else { throw Self.failure("create the store", path) }
    if file >= 0 { Glibc.close(file) }
  }

  /// Closes an existing file to other users: it has payloads and secrets.
  private static func closeToOthers(_ path: String) throws(StoreError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
    if chmod(path, status.st_mode & 0o700) == 0 { return }
    // Whoever reaches another user's file by its group cannot change the mode, and needs it.
    guard status.st_mode & 0o007 != 0 else { return }
    throw StoreError(
      kind: .unavailable,
      message: "\(path) can be used by every user of this machine, and this user may not change that: "
        + "\(String(cString: strerror(errno))). Have its owner run: chmod 600 \(path)")
  }

  /// Lets the owner write a file beside the store who may write the store: a program that has only read it, while it was
  /// write-protected, has made the log so, too. If this fails, opening the file says why.
  private func openToOwner(_ beside: String) {
    var (store, status) = (stat(), stat())
    guard stat(path, &store) == 0, stat(beside, &status) == 0 else { return }
    let missing = store.st_mode & 0o600 & ~status.st_mode
    if missing != 0 { chmod(beside, status.st_mode & 0o777 | missing) }
  }

  deinit {
    close()
  }

  /// Whether a process owns the store in a file now.
  static func isOwned(_ path: String) -> Bool {
    let lock = open((realPath(path) ?? path) + ".lock", O_RDONLY | O_CLOEXEC)
    guard lock >= 0 else { return false }
    // Released at once; an owner that comes in between tries again.
    defer { Glibc.close(lock) }
    return flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// Takes the lock for this process. A process that only checks whether it is taken has it for an instant, so this
  /// tries more than once.
  private static func take(_ lock: Int32) -> Bool {
    for _ in 0..<10 {
      if flock(lock, LOCK_EX | LOCK_NB) == 0 { return true }
      guard errno == EWOULDBLOCK else { return false }
      usleep(5000)
    }
    errno = EWOULDBLOCK
    return false
  }

  /// What the last owner has written as it crashed; it is removed. A crash of this process is written from now on.
  ///
  /// The lock file has it: it is open, and no commit can be in its way.
  func takeCrash() -> CrashRecord? {
    var crash = redial_crash()
    let wasLeft = redial_take_crash(lock, &crash) != 0
    redial_write_crashes_to(lock)
    guard wasLeft else { return nil }
    return CrashRecord(signal: crash.signal, call: crash.in_hand == 0 ? nil : CallID(rawValue: crash.in_hand))
  }

  /// Releases the lock. The lock file stays: if it were deleted, two processes could each lock a file of that name.
  func close() {
    redial_write_no_crashes_to(lock)
    if lock >= 0 { Glibc.close(lock) }
    lock = -1
  }

  /// The absolute path of a file, which need not exist, in a folder, which is created if it does not exist.
  private static func resolved(_ path: String) throws(StoreError) -> String {
    if let whole = realPath(path) { return whole }
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    try makeFolder(folder)
    guard let parent = realPath(folder) else { throw failure("find the folder", folder) }
    return parent == "/" ? "/" + name : parent + "/" + name
  }

  private static func makeFolder(_ path: String) throws(StoreError) {
    var status = stat()
    if stat(path, &status) == 0 { return }
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      return try makeOneFolder(path, in: path.hasPrefix("/") ? "/" : ".")
    }
    let parent = String(path[..<slash])
    try makeFolder(parent)
    try makeOneFolder(path, in: parent)
  }

  private static func makeOneFolder(_ path: String, in parent: String) throws(StoreError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure("make the folder", path) }
    // The entry of this folder must be as durable as the files in it.
    try sync(folder: parent)
  }

  /// Makes the entries of the store's files durable.
  func syncFolder() throws(StoreError) {
    try Self.syncFolder(of: path)
  }

  /// Makes the entry of a file durable.
  static func syncFolder(of path: String) throws(StoreError) {
    let slash = path.lastIndex(of: "/")
    try sync(folder: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
  }

  private static func sync(folder: String) throws(StoreError) {
    let opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be searched but not read; the file system decides how durable its entries are.
    guard opened >= 0 else { return }
    defer { Glibc.close(opened) }
    // File systems without fsync for folders report these errors.
    guard fsync(opened) == 0 || errno == EINVAL || errno == EBADF else {
      let code = errno
      throw StoreError(
        kind: .syncFailed,
        message:
          "Could not sync the folder \(folder): \(String(cString: strerror(code))). \(StoreError.advice(for: .syncFailed))"
      )
    }
  }

  /// The path of an existing file, without links.
  static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func failure(_ purpose: String, _ path: String, _ code: Int32 = errno) -> StoreError {
    StoreError(
      kind: code == ENOSPC || code == EDQUOT ? .full : .unavailable,
      message: "Could not \(purpose) \(path): \(String(cString: strerror(code))). "
        + "Check that the folder exists and that this user may write in it.")
  }
}
