import Dispatch
import Foundation
import HTTPServer
@testable import Redial
import RedialTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("A call by a session")
struct BasicTests {
  let calls = Calls()

  @Test("one line sends a request until it succeeds")
  func oneLine() async throws {
    let server = try LocalServer(.ok("hello"))
    let (data, response) = try await URLSession.shared.data(for: server.request(), retrying: .alley)
    #expect(String(decoding: data, as: UTF8.self) == "hello")
    #expect(response.statusCode == 200)
    #expect(server.count == 1)
  }

  @Test("the default maximum is 10 attempts, and every maximum is exact at the server", arguments: [1, 2, 3, 9])
  func exactAttempts(_ count: Int) async throws {
    #expect(URLRetryOptions.alley.policy.maxAttempts == 10)
    #expect(URLRetryOptions.maxAttempts().policy.maxAttempts == 10)
    let server = try LocalServer(.status(503))
    let error = try await calls.failure(of: server.request(), calls.options(count))
    #expect(error?.spent?.retries.attempts == count)
    #expect(server.count == count)
    #expect(calls.clock.waits.count == count - 1)
  }

  @Test("ten attempts, the last of which succeeds, are ten requests")
  func lastSucceeds() async throws {
    let server = try LocalServer { $0.number == 10 ? .ok("at last") : .status(503) }
    let (data, _) = try await calls.session.data(for: server.request(), retrying: calls.options())
    #expect(String(decoding: data, as: UTF8.self) == "at last")
    #expect(server.count == 10)
  }

  @Test("the callback form reports the same result once, on the caller's queue")
  func callback() async throws {
    let server = try LocalServer(.status(503), .ok("hello"))
    let key = DispatchSpecificKey<String>()
    let queue = DispatchQueue(label: "completions")
    queue.setSpecific(key: key, value: "mine")
    let told = Mutex(0)
    let request = try server.request()
    let result = await withCheckedContinuation { continuation in
      calls.session.perform(request, retrying: calls.options(), completionQueue: queue) { result in
        told.withLock { $0 += 1 }
        #expect(DispatchQueue.getSpecific(key: key) == "mine")
        continuation.resume(returning: result)
      }
    }
    let (data, response) = try result.get()
    #expect(String(decoding: data, as: UTF8.self) == "hello")
    #expect(response.statusCode == 200)
    #expect(told.withLock { $0 } == 1)
    #expect(server.count == 2)
  }

  @Test("the callback form reports the typed error")
  func callbackFailure() async throws {
    let server = try LocalServer(.status(404, [], "nothing here"))
    let request = try server.request()
    let result = await withCheckedContinuation { continuation in
      calls.session.perform(request, retrying: calls.options()) { continuation.resume(returning: $0) }
    }
    guard case .failure(.endpoint(let response, let body)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(response.statusCode == 404)
    #expect(String(decoding: body, as: UTF8.self) == "nothing here")
  }

  @Test("waits have full jitter, 0.5 s × 2 up to 30 s")
  func fullJitter() async throws {
    let server = try LocalServer(.status(503))
    var options = calls.options(200)
    options.retrier.seed = { 42 }
    #expect(try await calls.failure(of: server.request(), options)?.kind == "inaccessible")
    let waits = calls.clock.waits.map(\.inSeconds)
    #expect(waits.count == 199)
    for (index, wait) in waits.enumerated() {
      let bound = min(30, 0.5 * pow(2, Double(min(index, 20))))
      #expect((0...bound).contains(wait), "wait \(index) is \(wait)")
    }
    let late = waits.dropFirst(10)
    let mean = late.reduce(0, +) / Double(late.count)
    #expect((12...18).contains(mean), "the mean of full jitter up to 30 s is 15 s, not \(mean)")
  }

  @Test("a backoff of 0 retries at once")
  func atOnce() async throws {
    let server = try LocalServer(.status(503), .status(503), .ok())
    let options = calls.options { $0.policy.backoff = .constant(.zero) }
    _ = try await calls.session.data(for: server.request(), retrying: options)
    #expect(calls.clock.waits == [.zero, .zero])
  }

  @Test("calls of a session reuse a connection; retries and requests that must not be repeated use their own")
  func connections() async throws {
    let opened = Lines()
    let server = ScriptedServer { connection, number in
      opened.add("\(number)")
      while connection.readHead() { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
    }
    var request = URLRequest(url: try LocalServer.url(server.url))
    for _ in 1...3 { _ = try await calls.session.data(for: request, retrying: calls.options()) }
    #expect(opened.list.count == 1)
    request.httpMethod = "POST"
    for _ in 1...3 { _ = try await calls.session.data(for: request, retrying: calls.options()) }
    #expect(opened.list.count == 4)
  }

  @Test("a POST on a session with an idle connection is never sent twice in one attempt")
  func noSilentRepeat() async throws {
    let server = try LocalServer(.ok(), .reset, .ok())
    _ = try await calls.session.data(for: server.request(), retrying: calls.options())
    #expect(try await calls.failure(of: server.request("POST"), calls.options())?.kind.hasPrefix("urlError") == true)
    #expect(server.count == 2)
  }

  @Test("the inner session is released with its session", .timeLimit(.minutes(5)))
  func companions() async throws {
    let server = try LocalServer(.ok())
    let request = try server.request()
    weak let router = try await routerOfPassingSession(request)
    while router != nil {
      // Any call looks for the abandoned.
      _ = try await calls.session.data(for: request, retrying: calls.options())
    }
    #expect(CompanionSession.shared(with: calls.session).router === CompanionSession.shared(with: calls.session).router)
  }

  private func routerOfPassingSession(_ request: URLRequest) async throws -> ExchangeRouter {
    let session = URLSession(configuration: .ephemeral)
    _ = try await session.data(for: request, retrying: calls.options())
    defer { session.finishTasksAndInvalidate() }
    return CompanionSession.shared(with: session).router
  }

  @Test("a hundred concurrent calls on one session each get their own response")
  func manyAtOnce() async throws {
    let server = try LocalServer { $0.number % 3 == 0 ? .status(503) : .ok($0.path) }
    let requests = try (1...100).map { try server.request("GET", "/\($0)") }
    let answers = try await withThrowingTaskGroup(of: (String, String).self) { group in
      for request in requests {
        group.addTask {
          let (data, _) = try await calls.session.data(for: request, retrying: calls.options(50))
          return (request.url?.path ?? "", String(decoding: data, as: UTF8.self))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count == 100)
    for (path, answer) in answers { #expect(path == answer) }
  }
}
