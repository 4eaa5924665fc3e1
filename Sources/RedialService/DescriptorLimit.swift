internal import Glibc
internal import RedialEngine
internal import RedialTransport

/// How many file descriptors this process may have, and how they are shared out.
///
/// Without descriptors nothing goes on: no client is heard, no target reached. So the bound that the system sets is raised
/// as far as it lets itself be, and what is configured is brought within it, rather than found out under load.
struct DescriptorLimit {
  /// What the process needs for itself: the store and its log, readers, epoll, wake-ups, the standard streams.
  static let reserve = 64
  /// What the lookup of a name needs: a socket to a name server, and a second one or a file of the name service.
  static let lookup = 2

  /// How many descriptors there may be.
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

  /// Brings settings within the limit. Lookups of names get an eighth of it at most, clients half of what is left, attempts
  /// half of the rest, and idle connections what then remains.
  ///
  /// - Returns: What was lowered, and to what.
  func bound(_ settings: inout ServiceSettings) -> [(setting: StaticString, to: Int)] {
    var lowered: [(setting: StaticString, to: Int)] = []
    func lower(_ value: inout Int, _ name: StaticString, to most: Int) {
      guard value > most else { return }
      value = max(1, most)
      lowered.append((name, value))
    }
    let all = max(4, count - Self.reserve)
    let wanted = settings.maxConnections + settings.engine.maxInFlight + settings.transport.maxIdleConnections
    guard wanted + Self.lookup * settings.transport.maxLookups > all else { return [] }
    lower(&settings.transport.maxLookups, "maxLookups", to: all / 8 / Self.lookup)
    let free = max(4, all - Self.lookup * settings.transport.maxLookups)
    lower(&settings.maxConnections, "maxConnections", to: max(free / 2, free - (wanted - settings.maxConnections)))
    let left = max(2, free - settings.maxConnections)
    lower(&settings.engine.maxInFlight, "maxInFlight", to: left / 2)
    lower(&settings.transport.maxIdleConnections, "maxIdleConnections", to: left - settings.engine.maxInFlight)
    return lowered
  }
}
