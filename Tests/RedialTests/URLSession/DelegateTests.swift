import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Delegates")
struct DelegateTests {
  let calls = Calls()

  /// Follows redirections, or not, and counts its events.
  private final class Watcher: NSObject, URLSessionTaskDelegate {
    let follows: Bool
    let redirections = Mutex(0)
    let challenges = Mutex(0)

    init(follows: Bool = true) { self.follows = follows }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      redirections.withLock { $0 += 1 }
      completionHandler(follows ? request : nil)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let isFirst = challenges.withLock {
        $0 += 1
        return $0 == 1
      }
      let credential = URLCredential(user: "me", password: "secret", persistence: .none)
      completionHandler(isFirst ? .useCredential : .performDefaultHandling, isFirst ? credential : nil)
    }
  }

  private func redirecting() throws -> LocalServer {
    try LocalServer { seen in
      if seen.path == "/" { return .status(302, [HTTPHeader("Location", "/there")]) }
      return seen.number < 6 ? .status(503) : .ok("there")
    }
  }

  @Test("one delegate receives the events of every attempt", .timeLimit(.minutes(5)), arguments: ["data", "stream"])
  func everyAttempt(_ form: String) async throws {
    let server = try redirecting()
    let watcher = Watcher()
    let options = calls.options { $0.delegate = watcher }
    if form == "data" {
      _ = try await calls.session.data(for: server.request(), retrying: options)
    } else {
      let (chunks, _) = try await calls.session.stream(for: server.request(), retrying: options)
      for try await _ in chunks {}
    }
    #expect(server.seen.map(\.path) == ["/", "/there", "/", "/there", "/", "/there"])
    #expect(watcher.redirections.withLock { $0 } == 3)
  }

  @Test("the delegate's decisions are followed", .timeLimit(.minutes(5)), arguments: ["data", "stream"])
  func decides(_ form: String) async throws {
    let server = try redirecting()
    let options = calls.options { $0.delegate = Watcher(follows: false) }
    let request = try server.request()
    let error =
      form == "data"
      ? await calls.failure(of: request, options)
      : await calls.failure { try await calls.session.stream(for: request, retrying: options) }
    #expect(error?.kind == "endpoint 302")
    #expect(server.count == 1)
  }

  @Test("the delegate's credentials answer a challenge", .timeLimit(.minutes(5)))
  func credentials() async throws {
    let server = try LocalServer { seen in
      seen.fields["authorization"] == "Basic bWU6c2VjcmV0"
        ? .ok("welcome") : .status(401, [HTTPHeader("WWW-Authenticate", "Basic realm=\"here\"")])
    }
    let watcher = Watcher()
    let options = calls.options { $0.delegate = watcher }
    let (data, _) = try await calls.session.data(for: server.request(), retrying: options)
    #expect(String(decoding: data, as: UTF8.self) == "welcome")
    #expect(watcher.challenges.withLock { $0 } == 1)
  }

  @Test("a call without a delegate uses the session's delegate", .timeLimit(.minutes(5)))
  func sessionDelegate() async throws {
    let server = try redirecting()
    let watcher = Watcher(follows: false)
    let session = URLSession(configuration: .ephemeral, delegate: watcher, delegateQueue: nil)
    let request = try server.request()
    let error = await calls.failure { try await session.data(for: request, retrying: calls.options()) }
    #expect(error?.kind == "endpoint 302")
    #expect(watcher.redirections.withLock { $0 } == 1)
    session.invalidateAndCancel()
  }
}
