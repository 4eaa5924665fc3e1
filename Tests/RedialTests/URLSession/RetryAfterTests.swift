import Foundation
import HTTPServer
import Redial
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Retry-After")
struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
  static let then = Timestamp(microseconds: 784_111_777_000_000)

  @Test(
    "Retry-After lengthens the backoff, in both forms; past dates and invalid values do not change it",
    arguments: [
      ("120", 120), ("0", nil), ("3600", 3600), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sun, 06 Nov 1994 08:48:37 GMT", nil), ("Sunday, 06-Nov-94 08:51:37 GMT", 120), ("Sun Nov  6 08:49:47 1994", 10),
      ("inf", nil), ("1e30", nil), ("0x10", nil), ("-5", nil), ("1.5", nil), ("soon", nil), ("nan", nil),
    ])
  func forms(_ value: String, _ seconds: Int?) async throws {
    let calls = Calls(now: Self.then)
    let server = try LocalServer(.status(503, [HTTPHeader("Retry-After", value)]), .ok())
    _ = try await calls.session.data(for: server.request(), retrying: calls.options())
    let wait = try #require(calls.clock.waits.first)
    if let seconds {
      #expect(wait == .seconds(seconds))
    } else {
      #expect(wait > .zero && wait <= .milliseconds(500), "the backoff's own first wait, not \(wait)")
    }
    #expect(server.count == 2)
  }

  @Test(
    "a Retry-After longer than the policy's maximum ends the call", arguments: ["3601", "99999999999999999999"])
  func tooLong(_ value: String) async throws {
    let calls = Calls(now: Self.then)
    let server = try LocalServer(.status(503, [HTTPHeader("Retry-After", value)]), .ok())
    let error = try await calls.failure(of: server.request(), calls.options())
    #expect(error?.kind == "endpoint 503")
    #expect(calls.clock.waits.isEmpty)
    #expect(server.count == 1)
  }

  @Test("the user can change the maximum of Retry-After, and whether it counts")
  func ownRule() async throws {
    let calls = Calls(now: Self.then)
    let server = try LocalServer(.status(503, [HTTPHeader("Retry-After", "7200")]), .ok())
    let patient = calls.options { $0.policy.retryAfter.maximum = .seconds(7200) }
    _ = try await calls.session.data(for: server.request(), retrying: patient)
    #expect(calls.clock.waits == [.seconds(7200)])
    let other = try LocalServer(.status(503, [HTTPHeader("Retry-After", "7200")]), .ok())
    let deaf = calls.options { $0.policy.retryAfter.isRespected = false }
    _ = try await calls.session.data(for: other.request(), retrying: deaf)
    #expect(calls.clock.waits.count == 2)
    #expect(calls.clock.waits.last.map { $0 <= .milliseconds(500) } == true)
  }

  @Test(
    "of several Retry-After fields the first counts",
    arguments: [
      (["5", "7"], 5), (["Sun, 06 Nov 1994 08:50:37 GMT", "7"], 60), (["Sunday, 06-Nov-94 08:51:37 GMT", "9"], 120),
      (["8", "Sun, 06 Nov 1994 08:50:37 GMT"], 8), (["soon", "7"], nil),
    ])
  func severalLines(_ values: [String], _ seconds: Int?) async throws {
    let calls = Calls(now: Self.then)
    let server = try LocalServer(.status(503, values.map { HTTPHeader("Retry-After", $0) }), .ok())
    _ = try await calls.session.data(for: server.request(), retrying: calls.options())
    let wait = try #require(calls.clock.waits.first)
    if let seconds { #expect(wait == .seconds(seconds)) } else { #expect(wait <= .milliseconds(500)) }
  }

  @Test(
    "rate limit fields are used if there is no Retry-After",
    arguments: [
      (429, [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30")], 30),
      (503, [("RateLimit-Remaining", "0"), ("RateLimit-Reset", "40")], 40),
      (429, [("RateLimit", "\"default\";r=0;t=50")], 50),
      (429, [("RateLimit", "\"default\";r=0;t=50"), ("Retry-After", "3")], 3),
      (429, [("X-RateLimit-Remaining", "1"), ("X-RateLimit-Reset", "30")], nil),
      (504, [("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "30")], nil),
    ] as [(Int, [(String, String)], Int?)])
  func rateLimits(_ status: Int, _ fields: [(String, String)], _ seconds: Int?) async throws {
    let calls = Calls(now: Self.then)
    let server = try LocalServer(.status(status, fields.map { HTTPHeader($0.0, $0.1) }), .ok())
    _ = try await calls.session.data(for: server.request(), retrying: calls.options())
    let wait = try #require(calls.clock.waits.first)
    if let seconds { #expect(wait == .seconds(seconds)) } else { #expect(wait <= .milliseconds(500)) }
  }
}
