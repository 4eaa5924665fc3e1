import Glibc
import Testing

@testable import HTTPServer

@Suite("Listening")
struct ListeningTests {
  // MARK: Unix domain sockets

  @Test("serves a Unix domain socket, whose file goes with it", arguments: [1, 3])
  func servesUnixSockets(loops: Int) throws {
    let folder = try Folder()
    let server = try TestServer({
      $0.address = .unix(path: folder.socket)
      $0.loops = loops
    }) { request, responder in
      responder.respond(HTTPResponse(status: 200, text: "[\(request.peer)] \(request.cameByUnixSocket)"))
    }
    #expect(server.server.urls == ["unix:" + folder.socket] && server.server.port == 0)
    let clients = try (0..<20).map { _ in try folder.connect() }
    for client in clients { try client.get("/") }
    for client in clients { #expect(try client.response().text == "[] true") }
    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    #expect(!folder.hasSocket)
    for client in clients { #expect(try client.endsHere()) }
    for client in clients { client.close() }
    try ends.take()
  }

  @Test("sends large answers and bodies over a Unix domain socket")
  func carriesMuch() throws {
    let folder = try Folder()
    let server = try TestServer({
      $0.address = .unix(path: folder.socket)
      $0.maxBodyBytes = 8_000_000
    }) { request, responder in
      responder.respond(HTTPResponse(status: 200, body: [UInt8](request.body)))
    }
    let body = [UInt8](repeating: 0x78, count: 4_000_000)
    let client = try folder.connect()
    try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
    try client.send(body)
    #expect(try client.response().body == body)
    withExtendedLifetime(server) {}
  }

  @Test("removes a Unix domain socket when it is stopped or released", arguments: [true, false])
  func removesFile(stops: Bool) throws {
    let folder = try Folder()
    var server: TestServer? = try TestServer { $0.address = .unix(path: folder.socket) }
    #expect(folder.hasSocket)
    if stops { server?.server.stop() }
    server = nil
    #expect(!folder.hasSocket)
  }

  @Test("gives the file the mode that is set, whatever the umask", arguments: [0o600, 0o660, 0o666, 0o777])
  func setsPermissions(mode: Int) throws {
    let folder = try Folder()
    let server = try TestServer {
      $0.address = .unix(path: folder.socket)
      $0.socketPermissions = mode
    }
    var status = stat()
    #expect(lstat(folder.socket, &status) == 0 && Int(status.st_mode & 0o7777) == mode)
    withExtendedLifetime(server) {}
  }

  @Test("lets only its own user connect by default")
  func isPrivate() {
    #expect(HTTPServerConfiguration().socketPermissions == 0o600)
  }

  @Test("replaces the socket that an ended process has left")
  func replacesStaleSocket() throws {
    let folder = try Folder()
    close(try folder.bind())
    #expect(folder.hasSocket)
    let server = try TestServer { $0.address = .unix(path: folder.socket) }
    let client = try folder.connect()
    try client.get("/new")
    #expect(try client.response().text == "GET /new ")
    withExtendedLifetime(server) {}
  }

  @Test("leaves the socket of a living process alone, and says what to do")
  func refusesLiveSocket() throws {
    let folder = try Folder()
    let first = try TestServer { $0.address = .unix(path: folder.socket) }
    let error = #expect(throws: HTTPServerError.self) {
      try TestServer { $0.address = .unix(path: folder.socket) }
    }
    #expect(
      error?.description == "Cannot listen on unix:\(folder.socket): another process listens there: "
        + "stop it or choose another path.")
    let client = try folder.connect()
    try client.get("/")
    #expect(try client.response().status == 200)
    withExtendedLifetime(first) {}
  }

  @Test("leaves a socket alone whose backlog is full, and one of another kind")
  func refusesBusySockets() throws {
    let folder = try Folder()
    let listening = try folder.bind()
    #expect(listen(listening, 0) == 0)
    let waiting = try folder.connect()
    #expect(throws: HTTPServerError.socketInUse(path: folder.socket)) {
      try TestServer { $0.address = .unix(path: folder.socket) }
    }
    waiting.close()
    close(listening)
    unlink(folder.socket)
    let datagrams = try folder.bind(SOCK_DGRAM)
    #expect(throws: HTTPServerError.socketInUse(path: folder.socket)) {
      try TestServer { $0.address = .unix(path: folder.socket) }
    }
    #expect(folder.hasSocket)
    close(datagrams)
  }

  @Test("never removes a file, a folder, or a link in place of a socket")
  func refusesOtherFiles() throws {
    let folder = try Folder()
    let make: [(String) -> Int32] = [
      { path in close(open(path, O_CREAT | O_WRONLY, 0o600)) },
      { path in mkdir(path, 0o700) },
      { path in symlink("/nonexistent", path) },
    ]
    for make in make {
      #expect(make(folder.socket) == 0)
      let error = #expect(throws: HTTPServerError.self) {
        try TestServer { $0.address = .unix(path: folder.socket) }
      }
      #expect(
        error?.description == "Cannot listen on unix:\(folder.socket): the file there is not a socket: "
          + "move it away or choose another path.")
      #expect(remove(folder.socket) == 0)
    }
  }

  @Test("does not begin on an impossible path, and says why")
  func refusesPaths() throws {
    let long = "/" + String(repeating: "p", count: 107)
    #expect(throws: HTTPServerError.socketPathTooLong(long)) { try TestServer { $0.address = .unix(path: long) } }
    #expect(
      HTTPServerError.socketPathTooLong(long).description.contains("the path has 108 bytes, and the system takes 107"))
    for path in ["", "a\0b"] {
      #expect(throws: HTTPServerError.invalidSocketPath(path)) { try TestServer { $0.address = .unix(path: path) } }
    }
    let error = #expect(throws: HTTPServerError.self) {
      try TestServer { $0.address = .unix(path: "/nonexistent/redial.sock") }
    }
    #expect(error?.description.contains("The folder must exist") == true)
  }

  @Test("does not remove a socket that has replaced its own")
  func leavesSuccessor() throws {
    let folder = try Folder()
    let first = try TestServer { $0.address = .unix(path: folder.socket) }
    #expect(rename(folder.socket, folder.socket + ".old") == 0)
    let second = try TestServer { $0.address = .unix(path: folder.socket) }
    first.server.stop()
    let client = try folder.connect()
    try client.get("/")
    #expect(try client.response().status == 200)
    unlink(folder.socket + ".old")
    withExtendedLifetime(second) {}
  }

  // MARK: IPv6

  static let hasIPv6 = (try? TestServer { $0.address = .tcp(host: "::1", port: 0) }) != nil

  @Test("serves IPv6 with a listener per loop", .enabled(if: hasIPv6), arguments: [1, 2])
  func servesIPv6(loops: Int) throws {
    let server = try TestServer({
      $0.address = .tcp(host: "::1", port: 0)
      $0.loops = loops
    }) { request, responder in responder.respond(HTTPResponse(status: 200, text: request.peer)) }
    let port = server.server.port
    #expect(server.server.urls == ["http://[::1]:\(port)"])
    let client = try RawConnection(SocketAddress(host: "::1", port: port))
    try client.get("/")
    #expect(try client.response().text == "::1")
    #expect(throws: RawConnection.Failure.system("connect", ECONNREFUSED)) { try server.connect() }
  }

  @Test("accepts IPv4 as well at the unspecified address, and shows it as IPv4", .enabled(if: hasIPv6))
  func servesBoth() throws {
    let server = try TestServer({ $0.address = .tcp(host: "::", port: 0) }) { request, responder in
      responder.respond(HTTPResponse(status: 200, text: request.peer))
    }
    for host in ["::1", "127.0.0.1"] {
      let client = try RawConnection(SocketAddress(host: host, port: server.server.port))
      try client.get("/")
      #expect(try client.response().text == host)
    }
  }

  // MARK: Inherited sockets

  @Test("uses an inherited socket, and leaves it open for the next process", arguments: [1, 3])
  func inherits(loops: Int) throws {
    let socket = try ListeningSocket()
    for round in 1...3 {
      let server = try TestServer({
        $0.address = .inherited([socket.handedOver()])
        $0.loops = loops
      }) { _, responder in responder.respond(HTTPResponse(status: 200, text: "\(round)")) }
      #expect(server.server.port == socket.port)
      #expect(server.server.urls == ["http://127.0.0.1:\(socket.port)"])
      let clients = try (0..<20).map { _ in try server.connect() }
      for client in clients { try client.get("/") }
      for client in clients { #expect(try client.response().text == "\(round)") }
      let ends = Inbox<Void>()
      server.server.drain(within: .seconds(3600)) { ends.put(()) }
      for client in clients { #expect(try client.endsHere()) }
      for client in clients { client.close() }
      try ends.take()
    }
    // No server uses it now, and no client is refused.
    let waiting = try RawConnection(port: socket.port)
    try waiting.get("/")
    let server = try TestServer { $0.address = .inherited([socket.handedOver()]) }
    #expect(try waiting.response().status == 200)
    withExtendedLifetime(server) {}
  }

  @Test("answers the first request of a connection that was accepted before the drain began")
  func answersFirstRequest() throws {
    let server = try TestServer()
    let fresh = try server.connect()
    let other = try server.connect()
    try other.get("/")
    // The loop serves its connections in turn: the new one is accepted.
    _ = try other.response()
    let ends = Inbox<Void>()
    server.server.drain(within: .seconds(3600)) { ends.put(()) }
    #expect(try other.endsHere())
    try fresh.get("/first")
    let response = try fresh.response()
    #expect(response.text == "GET /first " && response["connection"] == "close")
    fresh.close()
    other.close()
    try ends.take()
  }

  @Test("serves several inherited sockets of different kinds")
  func inheritsSeveral() throws {
    let folder = try Folder()
    let socket = try ListeningSocket()
    let file = try folder.bind()
    #expect(listen(file, 16) == 0)
    let server = try TestServer {
      $0.address = .inherited([InheritedSocket(descriptor: file, name: "local"), socket.handedOver()])
      $0.loops = 2
    }
    #expect(server.server.urls == ["unix:" + folder.socket, "http://127.0.0.1:\(socket.port)"])
    #expect(server.server.port == socket.port)
    for client in [try folder.connect(), try server.connect()] {
      try client.get("/")
      #expect(try client.response().status == 200)
    }
    server.server.stop()
    // It was not created here.
    #expect(folder.hasSocket)
  }

  @Test("a loop at its limit leaves the connection that woke it to another")
  func sharesWhenFull() throws {
    for _ in 0..<20 {
      let held = Inbox<HTTPResponder>()
      let folder = try Folder()
      let server = try TestServer({
        $0.address = .unix(path: folder.socket)
        $0.loops = 2
        $0.maxConnections = 2
      }) { request, responder in
        if request.path == "/held" { held.put(responder) } else { responder.respond(TestServer.echo(request)) }
      }
      let busy = try folder.connect()
      try busy.get("/held")
      let first = try held.take()
      let leaving = try folder.connect()
      try leaving.get("/held")
      let second = try held.take()
      // While idle, it could be closed, so its loop is woken again for connections; but then it is busy.
      first.respond(HTTPResponse(status: 200))
      _ = try busy.response()
      try busy.get("/held")
      let third = try held.take()
      second.respond(HTTPResponse(status: 200))
      _ = try leaving.response()
      leaving.close()
      let fresh = try folder.connect()
      try fresh.get("/")
      #expect(try fresh.response().status == 200)
      third.respond(HTTPResponse(status: 200))
      #expect(try busy.response().status == 200)
      withExtendedLifetime(server) {}
    }
  }

  @Test("refuses an inherited descriptor that does not listen, and leaves it open")
  func refusesToInherit() throws {
    let folder = try Folder()
    let bound = try folder.bind()
    let datagrams = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    let file = open("/dev/null", O_RDONLY)
    for descriptor in [bound, datagrams, file] {
      let inherited = InheritedSocket(descriptor: descriptor, name: "web")
      let error = #expect(throws: HTTPServerError.notListening(inherited)) {
        try TestServer { $0.address = .inherited([inherited]) }
      }
      #expect(
        error?.description == "Cannot listen on the inherited descriptor \(descriptor) (web): "
          + "it is not a listening stream socket: check the program that passes it.")
      #expect(fcntl(descriptor, F_GETFD) >= 0)
      close(descriptor)
    }
    #expect(throws: HTTPServerError.nothingInherited) { try TestServer { $0.address = .inherited([]) } }
  }
}

/// A folder for one socket, removed with the test.
private final class Folder {
  private let path: String
  var socket: String { path + "/redial.sock" }

  init() throws {
    var template = Array("/tmp/redial-listen-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw RawConnection.Failure.system("mkdtemp", errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    unlink(socket)
    rmdir(path)
  }

  var hasSocket: Bool {
    var status = stat()
    return lstat(socket, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  func connect() throws -> RawConnection { try RawConnection(SocketAddress(path: socket)) }

  /// A socket that is bound there and does not listen.
  func bind(_ type: __socket_type = SOCK_STREAM) throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let address = try SocketAddress(path: socket)
    guard address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      throw RawConnection.Failure.system("bind", errno)
    }
    return descriptor
  }
}

/// A socket that listens on 127.0.0.1, as from another process.
private final class ListeningSocket {
  private let descriptor: Int32
  let port: Int

  init() throws {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    let address = try SocketAddress(host: "127.0.0.1", port: 0)
    guard address.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 64) == 0 else {
      throw RawConnection.Failure.system("listen", errno)
    }
    self.descriptor = descriptor
    port = SocketAddress.local(descriptor)?.port ?? 0
  }

  deinit { close(descriptor) }

  func handedOver() -> InheritedSocket { InheritedSocket(descriptor: dup(descriptor)) }
}
