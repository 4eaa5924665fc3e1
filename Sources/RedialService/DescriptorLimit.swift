internal import Glibc
internal import RedialEngine
internal import RedialTransport

/// How many file descriptors this process may have, and how they are shared.
///
/// Without descriptors nothing works: no client is accepted, no target reached. So the system's limit is raised as far
/// as possible, and the settings are brought within it at the start, not under load.
struct DescriptorLimit {
  /// Descriptors that the process needs for itself: the store and its log, readers, epoll, wake-ups, the standard
  /// streams.
  static let reserve = 64
  /// Descriptors for the lookup of a name: a socket to a name server, and a second one or a file of the name service.
  static let lookup = 2

  /// The maximum number of descriptors.
  let count: Int

  /// Raises the soft limit to the hard one.
  static func raised() -> DescriptorLimit {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return DescriptorLimit(count: 1024)
    }
    if limit.rlim_cur < limit.rlim_max {
      var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
      if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return DescriptorLimit(count: Int(clamping: limit.rlim_cur))
  }

  /// Why the service does not start, if it could only open a part of its files: it would end halfway through.
  var shortage: String? {
    count >= Self.reserve
      ? nil
      : "The service may have \(count) file descriptors, and needs \(Self.reserve) for itself. Raise the limit "
        + "(ulimit -n, LimitNOFILE)."
  }

  /// Brings settings within the limit. Lookups of names get at most an eighth of it, clients half of the rest, attempts
  /// half of what is then left, and idle connections the remainder.
  ///
  /// - Returns: The settings, and those that were lowered, with their new values.
  func bounded(_ wished: ServiceSettings) -> (settings: ServiceSettings, lowered: [(setting: StaticString, to: Int)]) {
    var settings = wished
    var lowered: [(setting: StaticString, to: Int)] = []
    func lower(_ value: inout Int, _ name: StaticString, to most: Int) {
      guard value > most else { return }
      value = max(1, most)
      lowered.append((name, value))
    }
    let all = max(4, count - Self.reserve)
    let wanted = settings.maxConnections + settings.engine.maxInFlight + settings.transport.maxIdleConnections
    guard wanted + Self.lookup * settings.transport.maxLookups > all else { return (settings, []) }
    lower(&settings.transport.maxLookups, "maxLookups", to: all / 8 / Self.lookup)
    let free = max(4, all - Self.lookup * settings.transport.maxLookups)
    lower(&settings.maxConnections, "maxConnections", to: max(free / 2, free - (wanted - settings.maxConnections)))
    let left = max(2, free - settings.maxConnections)
    lower(&settings.engine.maxInFlight, "maxInFlight", to: left / 2)
    lower(&settings.transport.maxIdleConnections, "maxIdleConnections", to: left - settings.engine.maxInFlight)
    return (settings, lowered)
  }
}
