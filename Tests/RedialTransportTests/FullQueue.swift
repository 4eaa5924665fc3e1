import Glibc

/// A listener whose queue of connections is full, so that the system leaves each further one unanswered.
final class FullQueue {
  let port: Int
  private var descriptors: [Int32] = []

  /// - Parameters:
  ///   - host: Its address, of IPv4.
  ///   - port: 0 for any.
  init?(host: UInt32 = 0x7F00_0001, port wanted: Int = 0) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = UInt16(wanted).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 0) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    port = Int(UInt16(bigEndian: address.sin_port))
    descriptors = [listener]
    guard isBound else { return nil }
    for _ in 0..<4 {
      let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      descriptors.append(client)
      withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, length) }
      }
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
