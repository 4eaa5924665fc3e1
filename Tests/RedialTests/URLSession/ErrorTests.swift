import Foundation
import HTTPServer
import Redial
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("How a call ends without success")
struct ErrorTests {
  let calls = Calls()

  @Test("inaccessible: the error has the last error and the history of every attempt")
  func inaccessible() async throws {
    let server = try LocalServer(.reset, .status(504), .status(503, [HTTPHeader("Retry-After", "2")], "busy"))
    let error = try #require(try await calls.failure(of: server.request(), calls.options(3)))
    let (last, retries) = try #require(error.spent)
    guard case .endpoint(let response, let body) = last else {
      Issue.record("\(error)")
      return
    }
    #expect(response.statusCode == 503)
    #expect(response.value(forHTTPHeaderField: "Retry-After") == "2")
    #expect(String(decoding: body, as: UTF8.self) == "busy")
    #expect(retries.reason == .attemptsExhausted)
    #expect(retries.history.map(\.number) == [1, 2, 3])
    #expect(
      retries.history.map { ($0.error as? HTTPCallError)?.kind }
        == ["urlError \(URLError.networkConnectionLost.rawValue)", "endpoint 504", "endpoint 503"])
    #expect(retries.history.last?.decision.rule == .attemptsSpent)
    #expect(error.retryOutcome == .answered(status: 503, retryAfter: .seconds(2)))
  }

  @Test("inaccessible: the deadline leaves no time for a retry")
  func deadline() async throws {
    let server = try LocalServer(.status(503, [HTTPHeader("Retry-After", "60")]))
    let options = calls.options { $0.policy.deadline = .seconds(30) }
    let error = try await calls.failure(of: server.request(), options)
    #expect(error?.spent?.retries.reason == .deadlineExceeded)
    #expect(error?.spent?.last?.kind == "endpoint 503")
    #expect(server.count == 1)
  }

  @Test("inaccessible: no attempt while the breaker is open")
  func tripped() async throws {
    let server = try LocalServer(.ok())
    let breaker = SharedCircuitBreaker(.fe9lix, clock: calls.clock)
    breaker.trip()
    let options = calls.options {
      $0.retrier.breaker = breaker
      $0.policy.onTrip = .fail
    }
    let error = try await calls.failure(of: server.request(), options)
    #expect(error?.spent?.retries.reason == .tripped)
    #expect(error?.spent?.last == nil)
    #expect(error?.retryOutcome == .notSent)
    #expect(server.count == 0)
  }

  @Test("inaccessible: the retry budget is used up")
  func budget() async throws {
    let server = try LocalServer(.status(503))
    let budget = SharedRetryBudget(.aws, clock: calls.clock)
    while budget.withdraw() != nil {}
    let options = calls.options { $0.retrier.budget = budget }
    let error = try await calls.failure(of: server.request(), options)
    #expect(error?.spent?.retries.reason == .budgetExhausted)
    #expect(server.count == 1)
  }

  @Test("a shared breaker counts every attempt")
  func breakerHears() async throws {
    let server = try LocalServer(.status(503))
    let breaker = SharedCircuitBreaker(clock: calls.clock)
    let options = calls.options(3) { $0.retrier.breaker = breaker }
    _ = try await calls.failure(of: server.request(), options)
    #expect(breaker.failureCount == 3)
    let good = try LocalServer(.status(404))
    _ = try await calls.failure(of: good.request(), options)
    #expect(breaker.failureCount == 0, "an answer of 404 is a sign of health")
  }

  @Test("URL error at once: a request without a URL, and a URL that cannot be loaded")
  func urlError() async throws {
    var request = URLRequest(url: try LocalServer.url("http://a/"))
    request.url = nil
    #expect(await calls.failure(of: request, calls.options())?.kind == "urlError \(URLError.badURL.rawValue)")
    let strange = URLRequest(url: try LocalServer.url("strange://a/"))
    #expect(await calls.failure(of: strange, calls.options())?.kind == "urlError \(URLError.unsupportedURL.rawValue)")
    #expect(calls.clock.waits.isEmpty)
  }

  @Test("URL error: endless redirects")
  func redirections() async throws {
    let server = try LocalServer(.status(302, [HTTPHeader("Location", "/again")]))
    let error = try await calls.failure(of: server.request(), calls.options())
    #expect(error?.kind == "urlError \(URLError.httpTooManyRedirects.rawValue)")
    #expect(calls.clock.waits.isEmpty)
  }

  @Test("URL error: a redirect to a URL that cannot be loaded")
  func strangeRedirection() async throws {
    let server = try LocalServer(.status(302, [HTTPHeader("Location", "strange://there/")]))
    let error = try await calls.failure(of: server.request(), calls.options())
    #expect(error?.kind.hasPrefix("urlError") == true)
    #expect(error?.retryOutcome == .unusable)
    #expect(server.count == 1)
  }

  @Test("a response that is not HTTP has its own error")
  func notHTTP() async throws {
    let request = URLRequest(url: try LocalServer.url("data:text/plain,hello"))
    #expect(await calls.failure(of: request, calls.options())?.kind == "notHTTP")
    #expect(calls.clock.waits.isEmpty)
  }

  @Test("an empty response is the error noData only if that is asked for")
  func noData() async throws {
    let server = try LocalServer(.ok(""))
    let (data, _) = try await calls.session.data(for: server.request(), retrying: calls.options())
    #expect(data.isEmpty)
    let strict = calls.options { $0.allowNoData = false }
    #expect(try await calls.failure(of: server.request(), strict)?.kind == "noData")
    #expect(server.count == 2)
  }

  @Test("an empty response counts as a success for the breaker")
  func noDataAndBreaker() async throws {
    let server = try LocalServer(.status(503), .ok(""))
    let breaker = SharedCircuitBreaker(clock: calls.clock)
    let options = calls.options {
      $0.allowNoData = false
      $0.retrier.breaker = breaker
    }
    #expect(try await calls.failure(of: server.request(), options)?.kind == "noData")
    #expect(breaker.failureCount == 0)
  }

  @Test(
    "204, 304 and responses to HEAD do not count as empty responses",
    arguments: [("GET", 204), ("GET", 304), ("HEAD", 200)])
  func naturallyEmpty(_ method: String, _ status: Int) async throws {
    let server = try LocalServer(.status(status, [], "not sent"))
    let options = calls.options { $0.allowNoData = false }
    let (data, response) = try await calls.session.data(for: server.request(method), retrying: options)
    #expect(response.statusCode == status)
    #expect(data.isEmpty)
  }

  @Test("an endpoint error has the response and its body")
  func endpoint() async throws {
    let server = try LocalServer(.status(422, [HTTPHeader("X-Why", "age")], "{\"age\":\"too old\"}"))
    guard case .endpoint(let response, let body) = try await calls.failure(of: server.request(), calls.options()) else {
      Issue.record("no endpoint error")
      return
    }
    #expect(response.statusCode == 422)
    #expect(response.value(forHTTPHeaderField: "X-Why") == "age")
    #expect(String(decoding: body, as: UTF8.self) == "{\"age\":\"too old\"}")
  }

  @Test("the user can change which statuses are successes")
  func ownSuccesses() async throws {
    let server = try LocalServer(.status(404, [], "gone fishing"))
    let options = calls.options { $0.successStatuses = StatusSet([200...299, 404...404]) }
    let (data, response) = try await calls.session.data(for: server.request(), retrying: options)
    #expect(response.statusCode == 404)
    #expect(String(decoding: data, as: UTF8.self) == "gone fishing")
    let picky = calls.options { $0.successStatuses = StatusSet(statuses: [201]) }
    let other = try LocalServer(.ok())
    #expect(try await calls.failure(of: other.request(), picky)?.kind == "endpoint 200")
    #expect(other.count == 1)
  }

  @Test("every error has a description for people")
  func forPeople() async throws {
    let server = try LocalServer(.status(404))
    let notFound = try #require(try await calls.failure(of: server.request(), calls.options()))
    #expect(notFound.localizedDescription.contains("404"))
    let busy = try LocalServer(.status(503))
    let spent = try #require(try await calls.failure(of: busy.request(), calls.options(2)))
    #expect(spent.localizedDescription.contains("after 2 attempts"))
    #expect(spent.localizedDescription.contains("503"))
    #expect(HTTPCallError.cancelled.localizedDescription == "The request was cancelled.")
    #expect(HTTPCallError.noData.localizedDescription == "The service has answered without content.")
  }

  @Test("the error is typed: a catch needs no cast, and a switch over it no default")
  func typed() async throws {
    let server = try LocalServer(.status(404))
    let request = try server.request()
    do {
      _ = try await calls.session.data(for: request, retrying: calls.options())
      Issue.record("a success")
    } catch {
      switch error {
      case .endpoint(let response, _): #expect(response.statusCode == 404)
      case .inaccessible, .cancelled, .urlError, .other, .notHTTP, .noData: Issue.record("\(error)")
      }
    }
  }

  @Test("events report every step of a call in order")
  func events() async throws {
    let server = try LocalServer(.status(503, [HTTPHeader("Retry-After", "9")]), .ok())
    let events = RetryEvents()
    let stream = events.stream()
    let options = calls.options { $0.retrier.events = events }
    _ = try await calls.session.data(for: server.request(), retrying: options)
    events.finish()
    var course: [String] = []
    for await event in stream {
      switch event {
      case .attemptStarted(_, let number): course.append("start \(number)")
      case .attemptFailed(_, _, let error, _): course.append((error as? HTTPCallError)?.kind ?? "?")
      case .waiting(_, let reason, let wait): course.append("\(reason) \(wait.inSeconds)")
      case .succeeded(_, let attempts, _): course.append("done \(attempts)")
      default: course.append("?")
      }
    }
    #expect(course == ["start 1", "endpoint 503", "retryAfter 9.0", "start 2", "done 2"])
  }
}
