import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Requests that may not be repeated")
struct IdempotencyTests {
  let calls = Calls()

  @Test("a POST that may have been executed is not retried", arguments: [503, 504, 444, 599])
  func post(_ status: Int) async throws {
    let server = try LocalServer(.status(status), .ok())
    let error = try await calls.failure(of: server.request("POST"), calls.options())
    #expect(error?.kind == "endpoint \(status)")
    #expect(server.count == 1)
  }

  @Test("a POST whose connection is lost is not retried")
  func lostPost() async throws {
    let server = try LocalServer(.reset)
    let error = try await calls.failure(of: server.request("POST"), calls.options())
    #expect(error?.kind == "urlError \(URLError.networkConnectionLost.rawValue)")
    #expect(server.count == 1)
  }

  @Test("a POST is retried if the options ask for it")
  func askedFor() async throws {
    let server = try LocalServer(.status(503), .reset, .ok())
    let options = calls.options { $0.retryNonIdempotent = true }
    _ = try await calls.session.data(for: server.request("POST"), retrying: options)
    #expect(server.count == 3)
  }

  @Test("a POST with an idempotency key is retried with the same key")
  func keyed() async throws {
    let server = try LocalServer(.status(503), .ok())
    var request = try server.request("POST")
    request.setValue("\"k1\"", forHTTPHeaderField: "Idempotency-Key")
    _ = try await calls.session.data(for: request, retrying: calls.options())
    #expect(server.seen.map { $0.fields["idempotency-key"] } == ["\"k1\"", "\"k1\""])
  }

  @Test("a POST that was certainly never sent is retried")
  func neverSent() async throws {
    let nobody = RefusingPort()
    var request = URLRequest(url: try LocalServer.url(nobody.url))
    request.httpMethod = "POST"
    let error = await calls.failure(of: request, calls.options(4))
    #expect(error?.spent?.retries.attempts == 4)
  }

  @Test("a POST is retried if the response says that it was not executed", arguments: [408, 429])
  func notExecuted(_ status: Int) async throws {
    let server = try LocalServer(.status(status), .ok())
    _ = try await calls.session.data(for: server.request("POST"), retrying: calls.options())
    #expect(server.count == 2)
  }

  @Test("no method makes the policy retry a status that it does not list")
  func policyIsStricter() async throws {
    let server = try LocalServer(.status(429), .ok())
    let options = calls.options { $0.policy.retryOn = RetryConditions(network: .never, statuses: .none) }
    #expect(try await calls.failure(of: server.request("POST"), options)?.kind == "endpoint 429")
    let nobody = RefusingPort()
    var request = URLRequest(url: try LocalServer.url(nobody.url))
    request.httpMethod = "POST"
    let error = await calls.failure(of: request, options)
    #expect(error?.kind == "urlError \(URLError.cannotConnectToHost.rawValue)")
  }

  @Test("idempotent methods are retried", arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
  func idempotent(_ method: String) async throws {
    let server = try LocalServer(.status(503), .ok())
    _ = try await calls.session.data(for: server.request(method), retrying: calls.options())
    #expect(server.seen.map(\.method) == [method, method])
  }

  @Test("PATCH is not idempotent")
  func patch() async throws {
    let server = try LocalServer(.status(503), .ok())
    #expect(try await calls.failure(of: server.request("PATCH"), calls.options())?.kind == "endpoint 503")
    #expect(server.count == 1)
  }
}
