import CLinux
import Glibc
import Testing

@testable import HTTPServer

@Suite("Accepting")
struct AcceptorTests {
  /// A listener on a free port of 127.0.0.1, with clients that connect to it.
  private final class Port {
    let listener: Int32
    private var address = sockaddr_in()
    private var clients: [Int32] = []

    init() throws {
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isListening = withAddress { address in
        bind(listener, address, length) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &length) == 0
      }
      try #require(isListening)
    }

    deinit { for client in clients { close(client) } }

    private func withAddress<Result>(_ body: (UnsafeMutablePointer<sockaddr>) -> Result) -> Result {
      withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
      }
    }

    func connect() throws {
      let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      clients.append(client)
      try #require(withAddress { Glibc.connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) } == 0)
    }
  }

  @Test("a listener gives each connection once, and then none")
  func accepts() throws {
    let port = try Port()
    defer { close(port.listener) }
    #expect(Acceptor.accept(port.listener) == .none)
    try port.connect()
    guard case .connection(let descriptor) = Acceptor.accept(port.listener) else {
      Issue.record("nothing was accepted")
      return
    }
    // The loop must never block on it, and no child process may inherit it.
    #expect(fcntl(descriptor, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    close(descriptor)
    #expect(Acceptor.accept(port.listener) == .none)
    #expect(Acceptor.accept(-1) == .failed)
  }

  @Test("while the limit is reached no connection wakes the loop; another loop of the same sockets is asked")
  func pausesWhileFull() throws {
    let (port, sharer) = (try Port(), try LoopMailbox())
    let poller = try Poller()
    var acceptor = Acceptor(listeners: [port.listener], handsOnBacklog: false, sharers: [sharer])
    #expect(acceptor.watch(poller) == true)
    try port.connect()
    #expect(poller.wait(atMost: -1) == 1)
    #expect(poller[0].tag == Acceptor.tag)
    acceptor.pauseWhileFull(poller)
    acceptor.pauseWhileFull(poller)
    #expect(acceptor.isAccepting == false)
    #expect(acceptor.retriesAt == nil)
    #expect(poller.wait(atMost: 0) == 0)
    var messages: [LoopMailbox.Message] = []
    sharer.take(&messages)
    #expect(messages.count == 1)
    // No time ends this, only room.
    acceptor.resumeIfDue(poller, now: .max)
    #expect(acceptor.isAccepting == false)
    acceptor.resumeIfFull(poller, now: 0)
    #expect(acceptor.isAccepting == true)
    #expect(poller.wait(atMost: 0) == 1)
    acceptor.close(poller)
  }

  @Test("without descriptors accepting is tried again after a pause, and not because a connection has ended")
  func pausesWhileStarved() throws {
    let port = try Port()
    let poller = try Poller()
    var acceptor = Acceptor(listeners: [port.listener], handsOnBacklog: false, sharers: [])
    #expect(acceptor.watch(poller) == true)
    try port.connect()
    acceptor.pauseWhileStarved(poller, now: 1000)
    #expect(acceptor.retriesAt == 1000 + Acceptor.pause)
    acceptor.resumeIfFull(poller, now: 1050)
    acceptor.resumeIfDue(poller, now: 1000 + Acceptor.pause - 1)
    #expect(acceptor.isAccepting == false)
    #expect(poller.wait(atMost: 0) == 0)
    acceptor.resumeIfDue(poller, now: 1000 + Acceptor.pause)
    #expect(acceptor.isAccepting == true)
    #expect(acceptor.retriesAt == nil)
    #expect(poller.wait(atMost: 0) == 1)
    acceptor.close(poller)
  }

  @Test("an acceptor whose listeners cannot be watched tries again later")
  func triesAgain() throws {
    let port = try Port()
    let poller = try Poller()
    var acceptor = Acceptor(listeners: [port.listener], handsOnBacklog: false, sharers: [])
    #expect(acceptor.watch(poller) == true)
    acceptor.pauseWhileFull(poller)
    // It is watched by somebody else meanwhile, which epoll refuses to do twice.
    #expect(poller.watch(port.listener, for: EPOLLIN.rawValue, tag: 1) == true)
    acceptor.resumeIfFull(poller, now: 10)
    #expect(acceptor.isAccepting == false)
    #expect(acceptor.retriesAt == 10 + Acceptor.pause)
    acceptor.resumeIfDue(poller, now: 10 + Acceptor.pause)
    #expect(acceptor.isAccepting == true)
    acceptor.close(poller)
  }

  @Test("a closed acceptor has no listeners, and never accepts again")
  func closes() throws {
    let port = try Port()
    let poller = try Poller()
    var acceptor = Acceptor(listeners: [port.listener], handsOnBacklog: false, sharers: [])
    #expect(acceptor.watch(poller) == true)
    acceptor.close(poller)
    #expect(acceptor.listeners.isEmpty == true)
    acceptor.pauseWhileStarved(poller, now: 0)
    acceptor.resumeIfDue(poller, now: .max)
    acceptor.resumeIfFull(poller, now: .max)
    #expect(acceptor.isAccepting == false)
    #expect(acceptor.retriesAt == nil)
  }
}
