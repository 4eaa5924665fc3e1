internal import Glibc
internal import Synchronization

/// A file of issuers as libcurl is given it, so that it keeps what it has read only as long as the file is the same.
///
/// libcurl reads such a file for each connection, on the thread of all transfers, or keeps what it has read for a time, by the
/// file's name. A system's issuers take tens of milliseconds. So the name changes with the file: `/./` in it leads to the same
/// file, and is another name.
struct IssuersFile: Sendable, Hashable {
  let path: String
  /// The name for libcurl.
  let name: String
  /// Whether what is read may be kept.
  let isKept: Bool
  /// Whether libcurl may read it; a missing one is left to it, which says so.
  let mayBeRead: Bool

  private struct Identity: Hashable {
    var device: UInt
    var inode: UInt
    var size: Int
    var modified: Int
    var changed: Int
  }

  private struct Known {
    var identity: Identity
    var name: String
  }

  private struct State {
    var files: [String: Known] = [:]
    var number = 0
  }

  private static let state = Mutex(State())
  /// How many files are remembered.
  private static let most = 1000
  /// The longest path, in bytes: a name is longer, and has to fit into `PATH_MAX`.
  private static let longest = 4000
  /// The number of a name, in bits.
  private static let bits = 16
  /// A file that has changed just now may change again without another time of its change, in nanoseconds.
  private static let settling = 2_000_000_000

  /// A file as it is now.
  ///
  /// - Parameter now: The machine's time, in nanoseconds.
  init(_ path: String, at now: Int = IssuersFile.now) {
    self.path = path
    var file = stat()
    let isThere = stat(path, &file) == 0
    mayBeRead = !isThere || TLSFile.mayRead(file)
    guard isThere, path.utf8.count <= Self.longest else {
      (name, isKept) = (path, false)
      return
    }
    let identity = Identity(
      device: UInt(file.st_dev), inode: UInt(file.st_ino), size: Int(file.st_size),
      modified: Self.nanoseconds(file.st_mtim), changed: Self.nanoseconds(file.st_ctim))
    name = Self.state.withLock { state in
      if let known = state.files[path], known.identity == identity { return known.name }
      if state.files.count >= Self.most { state.files = [:] }
      state.number = (state.number + 1) % (1 << Self.bits)
      let name = Self.name(path, state.number)
      state.files[path] = Known(identity: identity, name: name)
      return name
    }
    // The name stays when the file has settled: connections of it are used on.
    isKept = now - identity.changed > Self.settling
  }

  /// Another name of the same file for each number.
  private static func name(_ path: String, _ number: Int) -> String {
    let place = path.lastIndex(of: "/")
    let folder = place.map { path[..<$0] } ?? "."
    let file = place.map { path[path.index(after: $0)...] } ?? path[...]
    var name = String(folder)
    for bit in 0..<bits { name += number >> bit & 1 == 1 ? "/." : "/" }
    return name + "/" + file
  }

  private static var now: Int {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return nanoseconds(now)
  }

  private static func nanoseconds(_ time: timespec) -> Int { time.tv_sec * 1_000_000_000 + time.tv_nsec }
}
