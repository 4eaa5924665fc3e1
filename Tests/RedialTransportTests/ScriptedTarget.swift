import Dispatch
import Glibc
import Synchronization

/// A listening socket whose connections follow a script, byte for byte.
final class ScriptedTarget: Sendable {
  let port: Int
  private let listener: Int32
  private let state = Mutex(State())
  private let finished = DispatchSemaphore(value: 0)

  private struct State {
    var connections = 0
    var requests: [[UInt8]] = []
  }

  /// One connection, from the target's side.
  struct Connection {
    let descriptor: Int32
    let target: ScriptedTarget

    /// Reads one request, without chunked coding, and returns its header; nil if the client has left.
    func readRequest() -> String? {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 16 * 1024)
      // The header, and the length of the whole request, once the header is there.
      var (head, whole): (String, Int?) = ("", nil)
      while true {
        if whole == nil {
          whole = Self.end(ofHead: bytes).map { end in
            head = String(decoding: bytes[..<end], as: UTF8.self)
            let length = head.lowercased().split(separator: "\r\n").compactMap { line -> Int? in
              line.hasPrefix("content-length:") ? Int(line.dropFirst(15).filter { $0 != " " }) : nil
            }
            return end + (length.first ?? 0)
          }
        }
        if let whole, bytes.count >= whole {
          target.state.withLock { $0.requests.append(bytes) }
          return head
        }
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count <= 0 { return nil }
        bytes += chunk[..<count]
      }
    }

    /// The length of the header in bytes; nil if it is incomplete.
    private static func end(ofHead bytes: [UInt8]) -> Int? {
      var position = 3
      while position < bytes.count {
        if bytes[position] == 10, bytes[position - 1] == 13, bytes[position - 2] == 10, bytes[position - 3] == 13 {
          return position + 1
        }
        position += 1
      }
      return nil
    }

    /// Sends text; false if the client has left.
    @discardableResult
    func send(_ text: String) -> Bool { send(bytes: Array(text.utf8)) }

    /// Sends bytes; false if the client has left.
    @discardableResult
    func send(bytes: [UInt8]) -> Bool {
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes {
          Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return false }
        sent += count
      }
      return true
    }

    /// Closes with a reset instead of an orderly end.
    func reset() {
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Reads available bytes; returns their number, 0 at the end.
    func receive(atMost count: Int) -> Int {
      var bytes = [UInt8](repeating: 0, count: count)
      return max(0, recv(descriptor, &bytes, count, 0))
    }

    /// Waits, without reading, until the client has closed or reset the connection.
    func waitUntilAborted() {
      var poll = pollfd(fd: descriptor, events: 0x2000 /* POLLRDHUP */, revents: 0)
      _ = Glibc.poll(&poll, 1, 60_000)
    }

    /// Waits until the client closes its side.
    func waitForEnd() {
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) > 0 {}
    }
  }

  /// Listens on a free port of 127.0.0.1; each connection gets a thread on which `script` runs.
  init(_ script: @escaping @Sendable (Connection) -> Void) {
    (listener, port) = Self.listen()
    Thread.detach { [self] in
      while true {
        let descriptor = accept(listener, nil, nil)
        if descriptor < 0 { break }
        state.withLock { $0.connections += 1 }
        Thread.detach { [self] in
          script(Connection(descriptor: descriptor, target: self))
          close(descriptor)
        }
      }
      finished.signal()
    }
  }

  private static func listen() -> (listener: Int32, port: Int) {
    let (listener, port) = bound()
    precondition(Glibc.listen(listener, 1024) == 0, "cannot listen")
    return (listener, port)
  }

  /// A port on which nobody listens. It stays bound until the process ends, so that no other target gets it; a program whose
  /// sockets share addresses, as those of servers do, may listen there all the same.
  static func unusedPort() -> Int { bound(isShared: true).port }

  private static func bound(isShared: Bool = false) -> (socket: Int32, port: Int) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
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

  var url: String { "http://127.0.0.1:\(port)" }
  /// Connections that were accepted.
  var connectionCount: Int { state.withLock { $0.connections } }
  /// Whole requests, in the order of their ends.
  var requests: [String] { bytesOfRequests.map { String(decoding: $0, as: UTF8.self) } }
  /// The same as bytes, for large ones: splitting and comparing text takes long.
  var bytesOfRequests: [[UInt8]] { state.withLock { $0.requests } }

  /// Accepts no more.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    finished.wait()
    close(listener)
  }

  /// A target that answers all requests alike.
  static func answering(_ response: String) -> ScriptedTarget {
    ScriptedTarget { connection in
      while connection.readRequest() != nil, connection.send(response) {}
    }
  }
}

/// A thread for blocking code, which must not run on the tests' own threads.
enum Thread {
  static func detach(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "test.thread").async(execute: body)
  }
}
