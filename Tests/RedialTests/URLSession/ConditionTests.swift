import Dispatch
import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("What is worth another attempt")
struct ConditionTests {
  let calls = Calls()

  @Test("Alley's statuses are retried", arguments: [408, 429, 444, 503, 504, 599])
  func retriedStatus(_ status: Int) async throws {
    let server = try LocalServer(.status(status), .ok())
    let (_, response) = try await calls.session.data(for: server.request(), retrying: calls.options())
    #expect(response.statusCode == 200)
    #expect(server.count == 2)
  }

  @Test("other statuses are not retried", arguments: [400, 401, 403, 404, 410, 422, 500, 501, 502])
  func otherStatus(_ status: Int) async throws {
    let server = try LocalServer(.status(status), .ok())
    let error = try await calls.failure(of: server.request(), calls.options())
    #expect(error?.kind == "endpoint \(status)")
    #expect(server.count == 1)
  }

  @Test("the user can change the set of statuses")
  func ownStatuses() async throws {
    let server = try LocalServer(.status(418), .ok())
    let options = calls.options { $0.policy.retryOn.statuses = StatusSet(statuses: [418]) }
    _ = try await calls.session.data(for: server.request(), retrying: options)
    #expect(server.count == 2)
    let other = try LocalServer(.status(503), .ok())
    #expect(try await calls.failure(of: other.request(), options)?.kind == "endpoint 503")
  }

  @Test("a refused connection is retried and counts as never sent")
  func refused() async throws {
    let nobody = RefusingPort()
    let error = try await calls.failure(of: URLRequest(url: LocalServer.url(nobody.url)), calls.options(3))
    #expect(error?.spent?.last?.kind == "urlError \(URLError.cannotConnectToHost.rawValue)")
    #expect(error?.spent?.retries.attempts == 3)
    #expect(error?.spent?.last?.retryOutcome == .notSent)
    #expect(error?.retryOutcome == .notSent)
  }

  @Test("an unknown host is retried and counts as never sent")
  func unknownHost() async throws {
    // A label of more than 63 characters is no name that anybody could look up.
    let url = try LocalServer.url("http://\(String(repeating: "a", count: 64)).invalid/")
    let error = await calls.failure(of: URLRequest(url: url), calls.options(2))
    #expect(error?.spent?.last?.kind == "urlError \(URLError.cannotFindHost.rawValue)")
    #expect(error?.spent?.last?.retryOutcome == .notSent)
    #expect(error?.spent?.retries.attempts == 2)
  }

  @Test("a lost connection is retried and counts as possibly sent")
  func lost() async throws {
    let server = try LocalServer(.reset)
    let error = try await calls.failure(of: server.request(), calls.options(3))
    #expect(error?.spent?.last?.kind == "urlError \(URLError.networkConnectionLost.rawValue)")
    #expect(error?.spent?.last?.retryOutcome == .maybeSent)
    #expect(server.count == 3)
  }

  @Test("a request that times out is retried and counts as possibly sent")
  func timedOut() async throws {
    let server = try LocalServer { $0.number == 1 ? .silence : .ok() }
    var request = try server.request()
    request.timeoutInterval = 1
    // On a busy machine others may time out, too.
    _ = try await calls.session.data(for: request, retrying: calls.options(60))
    #expect(server.count >= 2)
    let silent = try LocalServer(.silence)
    request.url = try silent.url()
    let error = await calls.failure(of: request, calls.options(1))
    #expect(error?.spent?.last?.kind == "urlError \(URLError.timedOut.rawValue)")
    #expect(error?.spent?.last?.retryOutcome == .maybeSent)
  }

  @Test("an attempt that exceeds the policy's timeout is retried like one that timed out")
  func attemptTimeout() async throws {
    let manual = Calls(.manual)
    let server = try LocalServer(.silence)
    let request = try server.request()
    let options = manual.options(1) { $0.policy.attemptTimeout = .seconds(5) }
    async let ended = manual.failure(of: request, options)
    await manual.clock.waitForSleepers(1, .timeout)
    #expect(await eventually { server.count == 1 })
    manual.clock.advance(by: .seconds(5))
    let error = await ended
    #expect(error?.spent?.last?.kind == "urlError \(URLError.timedOut.rawValue)")
    #expect(error?.spent?.retries.history.first?.error is AttemptTimeout)
  }

  @Test("a transfer that flows is not cut off, and one that falls silent is", arguments: [true, false])
  func flowing(isWhole: Bool) async throws {
    let (clock, next) = (CountingClock(), DispatchSemaphore(value: 0))
    let server = ScriptedServer { connection, _ in
      guard connection.readHead() else { return }
      for piece in ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "a", "b", "c", "d", "e"] {
        guard next.wait(timeout: .now() + 60) == .success else { return }
        connection.send(piece)
      }
      connection.waitForEnd()
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let options = calls.options(1) {
      $0.policy.attemptTimeout = .seconds(5)
      $0.retrier.clock = clock
    }
    let call = Task { try await calls.session.data(for: request, retrying: options) }
    for _ in 0..<5 {
      await clock.base.waitForSleepers(1, .timeout)
      let before = clock.readings
      next.signal()
      try #require(await eventually { clock.readings > before })
      clock.base.advance(by: .seconds(4))
    }
    if isWhole {
      next.signal()
      #expect(try await call.value.0 == Data("abcde".utf8))
    } else {
      await clock.base.waitForSleepers(1, .timeout)
      clock.base.advance(by: .seconds(2))
      let error = await #expect(throws: HTTPCallError.self) { try await call.value }
      #expect(error?.spent?.last?.kind == "urlError \(URLError.timedOut.rawValue)")
    }
  }

  @Test("presets whose originals limit no attempt limit none")
  func unlimitedPresets() {
    #expect(RetryPolicy.alley.attemptTimeout == .longest)
    #expect(RetryPolicy.exponentialBackOff.attemptTimeout == .longest)
    #expect(RetryPolicy.fe9lix.attemptTimeout == .seconds(10))
  }

  @Test("a response that is not HTTP is retried and counts as possibly sent")
  func garbage() async throws {
    let server = ScriptedServer { connection, number in
      guard connection.readHead() else { return }
      connection.send(number == 1 ? "\u{1}\u{2}rubbish\r\n\r\nrubbish" : "HTTP/1.1 204 No\r\n\r\n")
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let (_, response) = try await calls.session.data(for: request, retrying: calls.options())
    #expect(response.statusCode == 204)
    #expect(calls.clock.waits.count == 1)
  }

  @Test("a connection that is closed without a response is retried and counts as possibly sent")
  func silentEnd() async throws {
    let server = ScriptedServer { connection, number in
      guard connection.readHead() else { return }
      if number > 1 { connection.send("HTTP/1.1 204 No\r\n\r\n") }
    }
    var request = URLRequest(url: try LocalServer.url(server.url))
    _ = try await calls.session.data(for: request, retrying: calls.options())
    #expect(calls.clock.waits.count == 1)
    let mute = ScriptedServer { connection, _ in _ = connection.readHead() }
    request.url = try LocalServer.url(mute.url)
    request.httpMethod = "POST"
    #expect(await calls.failure(of: request, calls.options())?.kind.hasPrefix("urlError") == true)
  }

  @Test("an incomplete response is retried and counts as possibly sent")
  func cutShort() async throws {
    let connections = Lines()
    let server = ScriptedServer { connection, number in
      connections.add("\(number)")
      guard connection.readHead() else { return }
      connection.send(number == 1 ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort" : "HTTP/1.1 204 No\r\n\r\n")
    }
    let request = URLRequest(url: try LocalServer.url(server.url))
    let (_, response) = try await calls.session.data(for: request, retrying: calls.options())
    #expect(response.statusCode == 204)
    #expect(connections.list == ["1", "2"])
  }

  @Test(
    "network errors that a test machine cannot produce mean the same",
    arguments: [
      (URLError.timedOut, AttemptOutcome.maybeSent), (.networkConnectionLost, .maybeSent), (.unknown, .maybeSent),
      (.badServerResponse, .maybeSent), (.cannotFindHost, .notSent), (.dnsLookupFailed, .notSent),
      (.cannotConnectToHost, .notSent), (.notConnectedToInternet, .notSent), (.serverCertificateUntrusted, .unusable),
      (.serverCertificateHasBadDate, .unusable), (.secureConnectionFailed, .unusable), (.badURL, .unusable),
      (.unsupportedURL, .unusable), (.cancelled, .unusable), (.httpTooManyRedirects, .unusable),
      (.cannotOpenFile, .localFault),
    ])
  func outcomes(_ code: URLError.Code, _ outcome: AttemptOutcome) {
    #expect(URLError(code).retryOutcome == outcome)
    #expect(HTTPCallError.urlError(URLError(code)).retryOutcome == outcome)
  }

  @Test("the user can change what an error means")
  func ownOutcome() async throws {
    let server = try LocalServer(.status(503), .ok())
    let options = calls.options { $0.outcome = { _, _ in .unusable } }
    #expect(try await calls.failure(of: server.request(), options)?.kind == "endpoint 503")
    #expect(server.count == 1)
  }

  @Test("a directive of the target about retries decides", arguments: [("stop", 503, 1), ("retry", 404, 2)])
  func directive(_ word: String, _ status: Int, _ requests: Int) async throws {
    let server = try LocalServer(.status(status, [HTTPHeader("Redial-Retry", word)]), .ok())
    let error = try await calls.failure(of: server.request(), calls.options())
    #expect((error == nil) == (requests == 2))
    #expect(server.count == requests)
  }
}

/// A clock for tests that counts how often it was read.
private final class CountingClock: RetryClock {
  let base = TestClock(.manual)
  private let count = Mutex(0)

  var readings: Int { count.withLock { $0 } }
  var now: Timestamp {
    count.withLock { $0 += 1 }
    return base.now
  }
  var wallTime: Timestamp { base.now }

  func sleep(for wait: Duration) async throws { try await base.sleep(for: wait) }
  func timeout(after limit: Duration) async throws { try await base.timeout(after: limit) }
}
