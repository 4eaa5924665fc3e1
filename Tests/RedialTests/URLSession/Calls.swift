import Foundation
import Redial
import Synchronization
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// What the tests of sessions share: a session, a clock on which waits take no time, and a list of log lines.
struct Calls: Sendable {
  let session = URLSession(configuration: .ephemeral)
  let clock: TestClock
  let lines = Lines()

  init(_ mode: TestClock.Mode = .automatic, now: Timestamp = Timestamp(microseconds: 1_790_000_000_000_000)) {
    clock = TestClock(mode, now: now)
  }

  /// Alley's options on the test's clock.
  func options(_ maxAttempts: Int = 10, _ change: (inout URLRetryOptions) -> Void = { _ in }) -> URLRetryOptions {
    var options = URLRetryOptions.maxAttempts(maxAttempts)
    options.retrier.clock = clock
    options.retrier.seed = { 7 }
    let lines = lines
    options.retrier.log = { lines.add($0) }
    change(&options)
    return options
  }

  /// How a request that must not succeed has ended.
  func failure(of request: URLRequest, _ options: URLRetryOptions) async -> HTTPCallError? {
    await failure { try await session.data(for: request, retrying: options) }
  }

  /// How a call that must not succeed has ended; nil when it has succeeded.
  func failure<Value>(_ call: () async throws -> Value) async -> HTTPCallError? {
    do {
      _ = try await call()
      return nil
    } catch let error as HTTPCallError {
      return error
    } catch {
      Issue.record("an untyped error: \(error)")
      return nil
    }
  }
}

/// Lines, or whatever text, from any thread.
final class Lines: Sendable {
  private let all = Mutex<[String]>([])

  var list: [String] { all.withLock { $0 } }
  var text: String { list.joined(separator: "\n") }

  func add(_ line: String) { all.withLock { $0.append(line) } }
}

extension HTTPCallError {
  /// The case's name, for short expectations.
  var kind: String {
    switch self {
    case .inaccessible: "inaccessible"
    case .cancelled: "cancelled"
    case .urlError(let error): "urlError \(error.code.rawValue)"
    case .other: "other"
    case .notHTTP: "notHTTP"
    case .noData: "noData"
    case .endpoint(let response, _): "endpoint \(response.statusCode)"
    }
  }

  /// Of an inaccessible endpoint, how it ended last and with what history.
  var spent: (last: HTTPCallError?, retries: RetryError)? {
    if case .inaccessible(let last, let retries) = self { (last, retries) } else { nil }
  }
}
