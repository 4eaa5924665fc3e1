import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Hooks around attempts")
struct HookTests {
  let calls = Calls()

  private struct SignedOut: Error {}

  private struct TokenServiceBusy: RetryOutcomeProviding {
    var retryOutcome: AttemptOutcome { .localFault }
  }

  /// A token that can be renewed.
  private final class Token: Sendable {
    private let version = Mutex(1)
    var text: String { "Bearer \(version.withLock { $0 })" }
    var renewals: Int { version.withLock { $0 } - 1 }
    func renew() { version.withLock { $0 += 1 } }
  }

  /// Wants the token's second version.
  private func guarded(_ fields: [HTTPHeader] = []) throws -> LocalServer {
    try LocalServer { $0.fields["authorization"] == "Bearer 2" ? .ok() : .status(401, fields, "who are you?") }
  }

  private func signing(_ token: Token, _ attempts: Int = 10) -> URLRetryOptions {
    calls.options(attempts) {
      $0.authenticate = { request, _ in
        var request = request
        request.setValue(token.text, forHTTPHeaderField: "Authorization")
        return request
      }
      $0.refresh = { _ in
        token.renew()
        return true
      }
    }
  }

  @Test("authenticate runs before every attempt, on the original request")
  func everyAttempt() async throws {
    let server = try LocalServer(.status(503), .reset, .ok())
    let options = calls.options {
      $0.authenticate = { request, attempt in
        #expect(request.value(forHTTPHeaderField: "X-Signature") == nil)
        var request = request
        request.setValue("signed \(attempt.number)", forHTTPHeaderField: "X-Signature")
        return request
      }
    }
    _ = try await calls.session.data(for: server.request(), retrying: options)
    #expect(server.seen.map { $0.fields["x-signature"] } == ["signed 1", "signed 2", "signed 3"])
  }

  @Test("a 401 refreshes once and continues within the same attempt", arguments: ["GET", "POST"])
  func refreshes(_ method: String) async throws {
    let server = try guarded()
    let token = Token()
    _ = try await calls.session.data(for: server.request(method), retrying: signing(token, 1))
    #expect(server.seen.map { $0.fields["authorization"] } == ["Bearer 1", "Bearer 2"])
    #expect(token.renewals == 1)
    #expect(calls.clock.waits.isEmpty)
  }

  @Test("a 401 that asks for a password also refreshes, and has its body", .timeLimit(.minutes(5)))
  func basicChallenge() async throws {
    let server = try guarded([HTTPHeader("WWW-Authenticate", "Basic realm=\"here\"")])
    let token = Token()
    _ = try await calls.session.data(for: server.request(), retrying: signing(token))
    #expect(server.seen.map { $0.fields["authorization"] } == ["Bearer 1", "Bearer 2"])
    guard case .endpoint(let response, let body) = try await calls.failure(of: server.request(), calls.options()) else {
      Issue.record("no endpoint error")
      return
    }
    #expect(response.statusCode == 401)
    #expect(String(decoding: body, as: UTF8.self) == "who are you?")
  }

  @Test("downloads and streams also end at a 401 that asks for a password", .timeLimit(.minutes(5)))
  func basicChallengeElsewhere() async throws {
    let server = try guarded([HTTPHeader("WWW-Authenticate", "Basic realm=\"here\"")])
    let request = try server.request()
    let download = await calls.failure { try await calls.session.download(for: request, retrying: calls.options()) }
    #expect(download?.kind == "endpoint 401")
    let stream = await calls.failure { try await calls.session.stream(for: request, retrying: calls.options()) }
    guard case .endpoint(_, let body) = stream else {
      Issue.record("\(String(describing: stream))")
      return
    }
    #expect(String(decoding: body, as: UTF8.self) == "who are you?")
    let token = Token()
    let (chunks, _) = try await calls.session.stream(for: request, retrying: signing(token))
    for try await chunk in chunks { #expect(String(decoding: chunk, as: UTF8.self) == "well") }
    #expect(token.renewals == 1)
  }

  @Test("the second 401 of a call is final, also in a later attempt")
  func refreshesOnce() async throws {
    let server = try LocalServer(.status(401), .status(503), .status(401), .ok())
    let token = Token()
    let error = try await calls.failure(of: server.request(), signing(token))
    #expect(error?.kind == "endpoint 401")
    #expect(token.renewals == 1)
    #expect(server.count == 3)
  }

  @Test("a 401 stays the result if there is no refresh, or it does not help")
  func noHelp() async throws {
    let server = try LocalServer(.status(401), .ok())
    let options = calls.options { $0.refresh = { $0.statusCode != 401 } }
    #expect(try await calls.failure(of: server.request(), options)?.kind == "endpoint 401")
    #expect(server.count == 1)
  }

  @Test("an error in a hook ends the call, unless the error asks for a retry")
  func failingHooks() async throws {
    let server = try LocalServer(.status(401))
    let signedOut = calls.options { $0.authenticate = { _, _ in throw SignedOut() } }
    let error = try await calls.failure(of: server.request(), signedOut)
    guard case .other(let cause) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause is SignedOut)
    #expect(server.count == 0)
    let broken = calls.options { $0.refresh = { _ in throw SignedOut() } }
    #expect(try await calls.failure(of: server.request(), broken)?.kind == "other")
    #expect(server.count == 1)
    let busy = calls.options(3) { $0.authenticate = { _, _ in throw TokenServiceBusy() } }
    #expect(try await calls.failure(of: server.request(), busy)?.spent?.retries.attempts == 3)
    #expect(server.count == 1)
  }
}
