import Polling
import Glibc

@testable import HTTPServer

/// A client's side of a connection: blocking, byte for byte, and never longer than its timeout.
final class RawConnection {
  enum Failure: Error, Equatable {
    case system(String, Int32)
    /// Nothing arrived in time.
    case timedOut
    /// The server has shut its side.
    case ended
    /// The server has reset the connection.
    case reset
    case malformed(String)
  }

  /// Far more than any answer needs, for a busy machine.
  private static let timeoutSeconds = 60

  private let descriptor: Int32
  private var isOpen = true
  /// Received bytes that were not read yet.
  private var held: [UInt8] = []

  /// - Parameter receiveBuffer: The size of the socket's receive buffer, for a slow reader.
  convenience init(port: Int, receiveBuffer: Int32? = nil) throws {
    try self.init(SocketAddress(host: "127.0.0.1", port: port), receiveBuffer: receiveBuffer)
  }

  convenience init(_ address: SocketAddress, receiveBuffer: Int32? = nil) throws {
    try self.init(unconnectedLike: address, receiveBuffer: receiveBuffer)
    try connect(to: address)
  }

  /// A socket for addresses of that family, which is not yet connected.
  init(unconnectedLike address: SocketAddress, receiveBuffer: Int32? = nil) throws {
    descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failure.system("socket", errno) }
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var timeout = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    var one: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  func connect(to address: SocketAddress) throws {
    guard address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
      throw Failure.system("connect", errno)
    }
  }

  /// Whether bytes can be read at once.
  var hasInput: Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&item, 1, 0) == 1
  }

  deinit { close() }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { rest in
        Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw failure("send") }
      sent += count
    }
  }

  /// Sends a text repeatedly until the server accepts no more of it.
  ///
  /// - Parameter iteration: Does something that takes the server's loop an iteration, so that it is known to have run
  ///   meanwhile.
  /// - Returns: Whether that happened before `count` bytes.
  func stalls(sending text: String, before count: Int, iteration: () throws -> Void) throws -> Bool {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < count {
      let offset = sent % bytes.count
      let result = bytes[offset...].withUnsafeBytes { rest in
        Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if result > 0 {
        sent += result
      } else if errno == EAGAIN {
        var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&item, 1, 100) == 0 else { continue }
        try iteration()
        if poll(&item, 1, 0) == 0 { return true }
      } else {
        throw failure("send")
      }
    }
    return false
  }

  /// Sends a request of HTTP/1.1 without a body.
  func get(_ path: String, method: String = "GET", fields: String = "") throws {
    try send("\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
  }

  /// Reads the head of a response.
  func head() throws -> RawResponse {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) { head.append(try byte()) }
    return try RawResponse(head: String(decoding: head, as: UTF8.self))
  }

  /// Reads one chunk; the last is empty.
  func chunk() throws -> String {
    var line: [UInt8] = []
    while line.last != 10 { line.append(try byte()) }
    guard let size = Int(String(decoding: line.dropLast(2), as: UTF8.self), radix: 16) else {
      throw Failure.malformed(String(decoding: line, as: UTF8.self))
    }
    while held.count < size + 2 { try receive() }
    defer { held.removeFirst(size + 2) }
    guard held[size] == 13, held[size + 1] == 10 else { throw Failure.malformed("a chunk longer than its size") }
    return String(decoding: held[..<size], as: UTF8.self)
  }

  /// Reads one response.
  ///
  /// - Parameter toHead: Whether it answers HEAD, so no body follows.
  func response(toHead: Bool = false) throws -> RawResponse {
    var response = try head()
    let hasBody = !toHead && response.status >= 200 && response.status != 204 && response.status != 304
    if hasBody {
      guard let count = response["content-length"].flatMap({ Int($0) }) else {
        throw Failure.malformed("Content-Length is missing: \(response)")
      }
      while held.count < count { try receive() }
      response.body = Array(held.prefix(count))
      held.removeFirst(count)
    }
    return response
  }

  /// Reads until the server shuts its side.
  func rest() throws -> String {
    do {
      while true { try receive() }
    } catch Failure.ended {
      defer { held = [] }
      return String(decoding: held, as: UTF8.self)
    }
  }

  /// Whether the server shuts its side normally, with no further byte.
  func endsHere() throws -> Bool { try rest().isEmpty }

  /// Receives once.
  ///
  /// - Returns: The number of bytes.
  @discardableResult
  func receive(atMost count: Int = 65_536) throws -> Int {
    var buffer = [UInt8](repeating: 0, count: count)
    let received = recv(descriptor, &buffer, count, 0)
    guard received > 0 else { throw received == 0 ? Failure.ended : failure("recv") }
    held += buffer[..<received]
    return received
  }

  /// Waits, without reading anything, until the server resets the connection.
  func waitForReset() throws {
    var item = pollfd(fd: descriptor, events: 0, revents: 0)
    guard poll(&item, 1, Int32(Self.timeoutSeconds * 1000)) == 1 else { throw Failure.timedOut }
    guard item.revents & Int16(POLLERR) != 0 else { throw Failure.malformed("poll says \(item.revents)") }
  }

  /// Shuts the client's side; answers can still be read.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Leaves with a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    Glibc.close(descriptor)
  }

  private func byte() throws -> UInt8 {
    if held.isEmpty { try receive() }
    return held.removeFirst()
  }

  private func failure(_ call: String) -> Failure {
    switch errno {
    case EAGAIN: .timedOut
    case ECONNRESET, EPIPE: .reset
    case let code: .system(call, code)
    }
  }
}

/// A response as it was received.
struct RawResponse: CustomStringConvertible {
  let head: String
  let status: Int
  let fields: [(name: String, value: String)]
  var body: [UInt8] = []

  init(head: String) throws {
    self.head = head
    let lines = head.split(separator: "\r\n")
    let parts = (lines.first ?? "").split(separator: " ")
    guard parts.count > 1, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
      throw RawConnection.Failure.malformed(head)
    }
    self.status = status
    fields = lines.dropFirst().map { line in
      let pair = line.split(separator: ":", maxSplits: 1)
      return (pair[0].lowercased(), pair.count > 1 ? String(pair[1].drop { $0 == " " }) : "")
    }
  }

  /// The value of the first field of that name, which is given in lower case.
  subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

  var text: String { String(decoding: body, as: UTF8.self) }

  var description: String { head + text }
}
