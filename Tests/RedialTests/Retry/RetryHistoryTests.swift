import Foundation
import HTTPServer
import Redial
import RedialTestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("The history of a run, whatever it ends with")
struct RetryHistoryTests {
  private let history = RetryHistory()

  @Test("who catches the error of the work can read the attempts before it, and why each was repeated or not")
  func besideTheOriginal() async {
    var tries = 0
    await #expect(throws: Flop(retryOutcome: .unusable)) {
      try await retry(maxAttempts: 5, clock: TestClock(), history: history) {
        tries += 1
        throw Flop(retryOutcome: tries < 3 ? .answered(status: 503) : .unusable)
      }
    }
    #expect(history.attempts == 3 && history.isOver)
    #expect(history.failures.map(\.number) == [1, 2, 3])
    #expect(history.failures.map(\.decision.rule) == [.retryableStatus, .retryableStatus, .unusableRequest])
    #expect(history.failures.map { $0.error as? Flop }.last == Flop(retryOutcome: .unusable))
    #expect(history.error?.reason == .notRetryable && history.error?.attempts == 3)
  }

  @Test("after a success the attempts before it can be read")
  func besideAValue() async throws {
    let number = try await Retrier.test().with(history).run { attempt in
      if attempt.number < 3 { throw Flop() }
      return attempt.number
    }
    #expect(number == 3 && history.attempts == 3 && history.isOver && history.error == nil)
    #expect(history.failures.map(\.number) == [1, 2])
  }

  @Test("a run of which no attempt was made, and one that was cancelled, say so")
  func withoutEnd() async {
    #expect(history.isOver && history.attempts == 0)
    _ = try? await retry(RetryPolicy(deadline: .zero), history: history) {}
    #expect(history.attempts == 0 && history.error?.reason == .deadlineExceeded)
    let clock = TestClock(.manual)
    let task = Task { try await retry(clock: clock, history: history) { throw Flop() } }
    await clock.waitForSleepers()
    #expect(history.attempts == 1 && history.failures.count == 1 && !history.isOver && history.error == nil)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(history.error?.reason == .cancelled && history.failures.count == 1)
  }

  @Test("it knows the run that began last, and keeps no more than the latest attempts of it")
  func latest() async throws {
    let clock = TestClock(.manual)
    let patient = RetryPolicy(deadline: .seconds(1 << 40))
    let early = Task {
      try await Retrier.test(patient, clock: clock).with(history).run { if $0.number == 1 { throw Flop() } }
    }
    await clock.waitForSleepers()
    let many = RetryPolicy(maxAttempts: RetryError.historyLimit + 20, deadline: .seconds(1 << 40))
    await #expect(throws: RetryError.self) {
      try await Retrier.test(many).with(history).run { _ in throw Flop() }
    }
    clock.advance(by: .seconds(3600))
    try await early.value
    #expect(history.attempts == RetryError.historyLimit + 20, "what the earlier run did later changed nothing")
    #expect(history.failures.map(\.number) == Array(21...120))
  }

  @Test("a call by a session keeps its attempts when it ends with a status that is not retried, and when it succeeds")
  func session() async throws {
    let calls = Calls()
    let server = try LocalServer(.status(503), .reset, .status(404))
    let options = calls.options { $0.history = history }
    let error = try await calls.failure(of: server.request(), options)
    #expect(error?.kind == "endpoint 404" && history.attempts == 3)
    #expect(
      history.failures.map { ($0.error as? HTTPCallError)?.kind }
        == ["endpoint 503", "urlError \(URLError.networkConnectionLost.rawValue)", "endpoint 404"])
    #expect(history.failures.map(\.decision.rule) == [.retryableStatus, .retryableFailure, .statusNotRetryable])
    let good = try LocalServer(.status(503, [HTTPHeader("Retry-After", "2")]), .ok())
    _ = try await calls.session.data(for: good.request(), retrying: options)
    #expect(history.attempts == 2 && history.error == nil && history.isOver)
    #expect(history.failures.map(\.decision.rule) == [.retryAfter])
  }
}

extension Retrier {
  fileprivate func with(_ history: RetryHistory) -> Retrier {
    var copy = self
    copy.history = history
    return copy
  }
}
