internal import CCurl
internal import Glibc

/// Looks names up with the system's resolver, each on a thread of its own.
///
/// libcurl has such threads too, but as many as there are attempts; and some versions wait for the thread if the
/// attempt ends before it, which delays every other transfer.
enum NameLookup {
  enum Result: Sendable, Equatable {
    /// Addresses as text, in the order in which to try them; at least one.
    case found([String])
    /// There is no address.
    case none
    /// The resolver cannot say: those that it asks do not answer, or only that they do not know either.
    case unknown
    /// No thread was available.
    case noThread
  }

  /// Address space of a thread, in bytes. It uses little of it; the modules of the name service need more.
  private static let stackSize = 512 * 1024

  /// Everything that a thread needs.
  private final class Job {
    let name: String
    let resolve: @Sendable (String) -> Result
    let deliver: @Sendable (Result) -> Void

    init(
      _ name: String, _ resolve: @escaping @Sendable (String) -> Result, _ deliver: @escaping @Sendable (Result) -> Void
    ) {
      (self.name, self.resolve, self.deliver) = (name, resolve, deliver)
    }
  }

  /// Starts a lookup. The result is delivered on its thread, or on this one if there is no thread.
  static func start(
    _ name: String, by resolve: @escaping @Sendable (String) -> Result, deliver: @escaping @Sendable (Result) -> Void
  ) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackSize)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let job = Unmanaged.passRetained(Job(name, resolve, deliver))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { pointer in
        guard let pointer else { return nil }
        let job = Unmanaged<Job>.fromOpaque(pointer).takeRetainedValue()
        job.deliver(job.resolve(job.name))
        return nil
      }, job.toOpaque())
    guard code != 0 else { return }
    job.release()
    deliver(.noThread)
  }

  /// Asks the system's resolver. Blocks until it answers or gives up.
  @Sendable
  static func resolve(_ name: String) -> Result {
    var hints = addrinfo()
    hints.ai_family = hasIPv6 ? AF_UNSPEC : AF_INET
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(name, nil, &hints, &list)
    if code == EAI_AGAIN || code == EAI_FAIL { return .unknown }
    guard code == 0, let list else { return .none }
    defer { freeaddrinfo(list) }
    var found: [String] = []
    for entry in sequence(first: list, next: { $0.pointee.ai_next }) {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let code = getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      guard code == 0 else { continue }
      let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // libcurl does not accept a link-local address with its interface.
      if !address.contains("%"), !found.contains(address) { found.append(address) }
    }
    return found.isEmpty ? .none : .found(found)
  }

  /// Whether this machine has IPv6, determined in libcurl's way.
  private static let hasIPv6: Bool = {
    let probe = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { return false }
    close(probe)
    return true
  }()
}
