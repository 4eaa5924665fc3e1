import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Uploads, downloads and streams")
struct TransferTests {
  let calls = Calls()

  @Test("an upload sends its whole body at every attempt")
  func upload() async throws {
    let server = try LocalServer(.status(503), .status(429), .ok())
    let body = Data(repeating: 0x61, count: 100_000)
    let (data, response) = try await calls.session.upload(
      for: server.request("PUT"), from: body, retrying: calls.options())
    #expect(String(decoding: data, as: UTF8.self) == "well")
    #expect(response.statusCode == 200)
    #expect(server.seen.map(\.method) == ["PUT", "PUT", "PUT"])
    #expect(server.seen.map(\.body.utf8.count) == [100_000, 100_000, 100_000])
  }

  @Test("an upload reads its file again at every attempt")
  func uploadFile() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("from a file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let server = try LocalServer(.status(503), .ok())
    _ = try await calls.session.upload(for: server.request("PUT"), fromFile: file, retrying: calls.options())
    #expect(server.seen.map(\.body) == ["from a file", "from a file"])
  }

  @Test("an upload of a missing file fails at once")
  func uploadNoFile() async throws {
    let server = try LocalServer(.ok())
    let request = try server.request("PUT")
    let file = URL(fileURLWithPath: "/nowhere/\(UUID().uuidString)")
    let error = await calls.failure {
      try await calls.session.upload(for: request, fromFile: file, retrying: calls.options())
    }
    #expect(error != nil)
    #expect(calls.clock.waits.isEmpty)
    #expect(server.count == 0)
  }

  @Test("a body that can be read only once is sent only once")
  func bodyStream() async throws {
    let server = try LocalServer(.status(503))
    var request = try server.request("PUT")
    request.httpBodyStream = InputStream(data: Data("once".utf8))
    let error = await calls.failure(of: request, calls.options())
    #expect(error?.spent?.retries.attempts == 1)
    #expect(server.seen.map(\.body) == ["once"])
  }

  @Test("a download is retried, and its file has the content")
  func download() async throws {
    let content = String(repeating: "content ", count: 20_000)
    let server = try LocalServer(.reset, .status(503, [], "busy"), .ok(content))
    let (file, response) = try await calls.session.download(for: server.request(), retrying: calls.options())
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(response.statusCode == 200)
    #expect(try String(contentsOf: file, encoding: .utf8) == content)
    #expect(server.count == 3)
  }

  @Test("a failed download has the response's body, up to its limit")
  func downloadFailure() async throws {
    let server = try LocalServer(.status(404, [], "no such file"))
    let request = try server.request()
    let options = calls.options { $0.maxErrorBodyBytes = 7 }
    let error = await calls.failure { try await calls.session.download(for: request, retrying: options) }
    guard case .endpoint(let response, let body) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(response.statusCode == 404)
    #expect(String(decoding: body, as: UTF8.self) == "no such")
  }

  @Test("a download without content is an error if that is asked for")
  func emptyDownload() async throws {
    let server = try LocalServer(.ok(""))
    let request = try server.request()
    let options = calls.options { $0.allowNoData = false }
    let error = await calls.failure { try await calls.session.download(for: request, retrying: options) }
    #expect(error?.kind == "noData")
  }

  @Test("a stream is retried until its header has arrived")
  func stream() async throws {
    let server = try LocalServer(.reset, .status(503, [], "busy"), .ok("all of it"))
    let (chunks, response) = try await calls.session.stream(for: server.request(), retrying: calls.options())
    #expect(response.statusCode == 200)
    var data = Data()
    for try await chunk in chunks { data += chunk }
    #expect(String(decoding: data, as: UTF8.self) == "all of it")
    #expect(server.count == 3)
  }

  @Test("a stream delivers bytes before the rest has arrived")
  func streamInPieces() async throws {
    let gate = DispatchSemaphore(value: 0)
    let server = ScriptedServer { connection, _ in
      guard connection.readHead() else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
      gate.wait()
      connection.send("later")
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let (chunks, _) = try await calls.session.stream(for: request, retrying: calls.options())
    var reader = chunks.makeAsyncIterator()
    #expect(try await reader.next() == Data("first".utf8))
    gate.signal()
    #expect(try await reader.next() == Data("later".utf8))
    #expect(try await reader.next() == nil)
  }

  @Test("a stream that has begun is not retried: it ends with its error")
  func streamBreaks() async throws {
    let connections = Lines()
    let server = ScriptedServer { connection, number in
      connections.add("\(number)")
      guard connection.readHead() else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst")
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let (chunks, _) = try await calls.session.stream(for: request, retrying: calls.options())
    var data = Data()
    let error = await calls.failure {
      for try await chunk in chunks { data += chunk }
    }
    #expect(String(decoding: data, as: UTF8.self) == "first")
    #expect(error?.kind.hasPrefix("urlError") == true)
    #expect(connections.list == ["1"])
    #expect(calls.clock.waits.isEmpty)
  }

  @Test("a stream that gets an error status has the response's body")
  func streamFailure() async throws {
    let server = try LocalServer(.status(403, [], "not for you"))
    let request = try server.request()
    let error = await calls.failure { try await calls.session.stream(for: request, retrying: calls.options()) }
    guard case .endpoint(let response, let body) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(response.statusCode == 403)
    #expect(String(decoding: body, as: UTF8.self) == "not for you")
  }

  @Test("a stream with too many unread bytes ends with an error")
  func streamOverflow() async throws {
    let cutOff = AsyncStream<Void>.makeStream()
    let server = ScriptedServer { connection, _ in
      guard connection.readHead() else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
      while connection.send(String(repeating: "x", count: 10_000)) {}
      cutOff.continuation.finish()
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let options = calls.options { $0.maxUnreadBytes = 50_000 }
    let (chunks, _) = try await calls.session.stream(for: request, retrying: options)
    // Nobody reads before the server has been cut off.
    for await _ in cutOff.stream {}
    var count = 0
    let error = await calls.failure {
      for try await chunk in chunks { count += chunk.count }
    }
    guard case .other(let overflow as StreamOverflow) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(overflow.limit == 50_000)
    #expect(count <= 50_000)
  }

  @Test("releasing a stream ends its exchange", .timeLimit(.minutes(5)))
  func abandonedStream() async throws {
    let ended = AsyncStream<Void>.makeStream()
    let server = ScriptedServer { connection, _ in
      guard connection.readHead() else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst")
      connection.waitForEnd()
      ended.continuation.finish()
    }
    var request = URLRequest(url: try LocalServer.url(server.url))
    // Longer than the test may take, so that nothing but the reader ends it.
    request.timeoutInterval = 600
    try await readOne(request)
    for await _ in ended.stream {}
  }

  private func readOne(_ request: URLRequest) async throws {
    let (chunks, _) = try await calls.session.stream(for: request, retrying: calls.options())
    for try await _ in chunks { break }
  }

  @Test("a download that is interrupted or not used leaves no file", .timeLimit(.minutes(5)))
  func noFilesLeft() async throws {
    let content = UUID().uuidString
    let server = ScriptedServer { connection, number in
      guard connection.readHead() else { return }
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(number == 1 ? 100 : 36)\r\n\r\n\(content)")
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let (file, _) = try await calls.session.download(for: request, retrying: calls.options())
    #expect(try filesHolding(content) == [file.lastPathComponent])
    try FileManager.default.removeItem(at: file)
  }

  /// The names of the library's temporary files of that content.
  private func filesHolding(_ text: String) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
      name.hasPrefix("redial-download-")
        && (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) == text
    }
  }
}
