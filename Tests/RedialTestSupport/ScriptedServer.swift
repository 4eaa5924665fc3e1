internal import Dispatch
internal import Glibc
internal import Synchronization

/// A listening socket whose connections do what a script says, down to the byte.
package final class ScriptedServer: Sendable {
  package let port: Int
  private let listener: Int32

  /// One connection, from the server's side.
  package struct Connection: Sendable {
    package let descriptor: Int32

    /// Reads up to the end of a request's head; false when the client has gone.
    package func readHead() -> Bool {
      var head: [UInt8] = []
      var byte: UInt8 = 0
      while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
        guard recv(descriptor, &byte, 1, 0) == 1 else { return false }
        head.append(byte)
      }
      return true
    }

    /// Sends text; false when the client has gone.
    @discardableResult
    package func send(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }

    /// Waits until the client closes its side.
    package func waitForEnd() {
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) > 0 {}
    }

    /// Lets the close that follows reset the connection.
    package func reset() {
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
  }

  /// Each connection runs the script, with its number from 1, and is closed after it.
  package init(_ script: @escaping @Sendable (Connection, Int) -> Void) {
    (listener, port) = Self.bound()
    precondition(listen(listener, 64) == 0, "cannot listen")
    let listener = listener
    let numbers = Numbers()
    DispatchQueue(label: "ScriptedServer").async {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        let number = numbers.next()
        DispatchQueue(label: "ScriptedServer.\(number)").async {
          script(Connection(descriptor: descriptor), number)
          close(descriptor)
        }
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  package var url: String { "http://127.0.0.1:\(port)" }

  /// A socket that does not listen yet.
  package static func bound(isShared: Bool = false) -> (socket: Int32, port: Int) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var one: Int32 = 1
    if isShared { setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size)) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        precondition(bind(socket, address, length) == 0, "cannot bind")
        getsockname(socket, address, &length)
      }
    }
    return (socket, Int(address.sin_port.bigEndian))
  }

  private final class Numbers: Sendable {
    private let last = Mutex(0)

    package func next() -> Int {
      last.withLock {
        $0 += 1
        return $0
      }
    }
  }
}

/// A port on which nobody listens, and nobody else can meanwhile.
package final class RefusingPort: Sendable {
  package let port: Int
  private let socket: Int32

  package init() { (socket, port) = ScriptedServer.bound() }

  deinit { close(socket) }

  package var url: String { "http://127.0.0.1:\(port)/" }
}
