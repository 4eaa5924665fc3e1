import Polling
import Foundation
import Glibc
import RedialCore
import Synchronization

@testable import RedialPostgres

/// A way to a cluster that can be blocked or cut at any moment. It listens on a Unix socket of its own.
final class Proxy: Sendable {
  /// What it does with what it receives.
  enum Mode: Sendable {
    /// Passes it on.
    case pass
    /// Nothing: both sides wait, and lose nothing.
    case freeze
    /// Passes requests on, and drops the answers.
    case dropAnswers
    /// Drops requests.
    case dropRequests
    /// Passes requests on without the last message of what arrives at once, which ends a transaction.
    case holdSync
  }

  private struct State: Sendable {
    var mode = Mode.pass
    var cuts = 0
    /// A text in a request whose answer is lost, and what follows.
    var loss: (text: [UInt8], then: Mode)?
    /// Texts in requests, each of which is answered late once, and how late.
    var delays: [(text: [UInt8], time: Duration)] = []
    /// How often something arrived from clients.
    var arrivals = 0
    /// The connections that it carries, by the cuts before them.
    var carried: [Int: Int] = [:]
    var isClosed = false
  }

  /// The folder with its socket.
  let folder: String
  private let server: String
  private let listener: Int32
  private let state = Mutex(State())

  init(_ cluster: Cluster) {
    folder = cluster.folder + "/p\(UInt32.random(in: 0...UInt32.max))"
    server = cluster.folder + "/.s.PGSQL.5432"
    guard mkdir(folder, 0o777) == 0 else { fatalError("could not make \(folder)") }
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let bound = Self.withAddress(folder + "/.s.PGSQL.5432") { bind(listener, $0, $1) }
    guard bound == 0, listen(listener, 16) == 0 else { fatalError("the proxy cannot listen") }
    Thread.detachNewThread { [self] in accepting() }
  }

  /// The settings for a database, by this way.
  func settings(for other: PostgresSettings, of cluster: Cluster) -> PostgresSettings {
    PostgresSettings(other.location.replacing("host=\(cluster.folder)", with: "host=\(folder)"))
  }

  var mode: Mode {
    get { state.withLock { $0.mode } }
    set { state.withLock { $0.mode = newValue } }
  }

  /// Ends all connections; what they have not passed on by now is lost. New ones pass everything on.
  func cut(then mode: Mode = .pass) {
    state.withLock { state in
      state.cuts += 1
      state.mode = mode
    }
  }

  /// How often something arrived from clients.
  var arrivals: Int { state.withLock { $0.arrivals } }

  /// Whether all connections that it had at the last cut have ended.
  var hasCut: Bool { state.withLock { state in state.carried.allSatisfy { $0.key >= state.cuts || $0.value == 0 } } }

  /// The answer to the next request with a text is lost, and its connection ends, when the server has answered.
  func loseAnswer(to text: String, then mode: Mode = .pass) {
    state.withLock { $0.loss = (Array(text.utf8), mode) }
  }

  /// The answer to the next request with a text is late.
  func delayAnswer(to text: String, by time: Duration) {
    state.withLock { $0.delays.append((Array(text.utf8), time)) }
  }

  /// How late the answer to this request is to be; asked once.
  private func delay(of request: [UInt8]) -> Duration {
    state.withLock { state in
      guard let place = state.delays.firstIndex(where: { request.contains($0.text) }) else { return .zero }
      return state.delays.remove(at: place).time
    }
  }

  /// Whether the answer to this request is to be lost; asked once.
  private func losesAnswer(to request: [UInt8]) -> Mode? {
    state.withLock { state in
      guard let loss = state.loss, request.contains(loss.text) else { return nil }
      state.loss = nil
      return loss.then
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    Glibc.close(listener)
  }

  private func accepting() {
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { return }
      let target = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      guard Self.withAddress(server, { connect(target, $0, $1) }) == 0 else {
        Glibc.close(client)
        Glibc.close(target)
        continue
      }
      Thread.detachNewThread { [self] in carry(client, target) }
    }
  }

  private func carry(_ client: Int32, _ target: Int32) {
    let cuts = state.withLock { state in
      state.carried[state.cuts, default: 0] += 1
      return state.cuts
    }
    defer {
      Glibc.close(client)
      Glibc.close(target)
      state.withLock { $0.carried[cuts]? -= 1 }
    }
    var held: [UInt8] = []
    var loss: Mode?
    while true {
      let now = state.withLock { $0 }
      if now.isClosed || now.cuts != cuts { return }
      if case .freeze = now.mode {
        usleep(500)
        continue
      }
      var watched = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: target, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&watched, 2, 1) >= 0 else { return }
      // It may have changed during the wait.
      let later = state.withLock { $0 }
      if later.cuts != cuts { return }
      let mode = later.mode
      if case .freeze = mode { continue }
      if watched[0].revents != 0 {
        guard var bytes = Self.receive(client) else { return }
        state.withLock { $0.arrivals += 1 }
        switch mode {
        case .dropRequests: bytes = []
        case .holdSync:
          bytes = held + bytes
          // A sync is the letter S and a length of four bytes.
          held = Array(bytes.suffix(5))
          bytes.removeLast(min(5, bytes.count))
        default:
          bytes = held + bytes
          held = []
        }
        loss = loss ?? losesAnswer(to: bytes)
        let delay = delay(of: bytes)
        guard Self.send(bytes, target) else { return }
        usleep(UInt32(delay.wholeMicroseconds))
      }
      if watched[1].revents != 0 {
        guard let bytes = Self.receive(target) else { return }
        if let loss {
          self.mode = loss
          return
        }
        if case .dropAnswers = mode { continue }
        guard Self.send(bytes, client) else { return }
      }
    }
  }

  private static func receive(_ socket: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(socket, &buffer, buffer.count)
    return count > 0 ? Array(buffer.prefix(count)) : nil
  }

  private static func send(_ bytes: [UInt8], _ socket: Int32) -> Bool {
    var left = bytes[...]
    while !left.isEmpty {
      let count = left.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      left = left.dropFirst(count)
    }
    return true
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
      precondition(path.utf8.count < room.count, "the path of a socket has to be short")
      room.copyBytes(from: path.utf8)
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
