import Redial
import RedialTestSupport
import Synchronization
import Testing

@Suite("The function retry")
struct RetryFunctionTests {
  private struct Refused: Error, Equatable { var number: Int }
  private struct Broken: Error {}

  /// Not to be sent to another actor.
  private final class Session {
    var tries: Int
    init(tries: Int) { self.tries = tries }
  }

  /// Uses its state in its work, and keeps what the work returns.
  private actor Client {
    private var tries = 0
    private var session: Session?

    func connect() async throws -> Int {
      session = try await retry(.quick) {
        tries += 1
        if tries < 3 { throw Broken() }
        return Session(tries: tries)
      }
      return session?.tries ?? 0
    }

    func connectByRetrier() async throws -> Int {
      session = try await Retrier(.quick).run { attempt in
        tries += 1
        if attempt.number < 3 { throw Broken() }
        return Session(tries: tries)
      }
      return session?.tries ?? 0
    }
  }

  @Test("work uses the state of its actor, and returns what cannot be sent")
  func actorState() async throws {
    #expect(try await Client().connect() == 3)
    #expect(try await Client().connectByRetrier() == 3)
  }

  @Test("work does not escape: it changes a variable of its caller")
  func localState() async throws {
    var tries = 0
    let session = try await retry(.quick) {
      tries += 1
      if tries < 4 { throw Broken() }
      return Session(tries: tries)
    }
    #expect(tries == 4 && session.tries == 4)
  }

  @Test("until: a value that is not accepted is tried again, and the last is returned when the attempts are spent")
  func until() async throws {
    var tries = 0
    let history = RetryHistory()
    let session = try await retry(.quick, until: { $0.tries == 3 }, history: history) {
      tries += 1
      return Session(tries: tries)
    }
    #expect(session.tries == 3)
    #expect(history.failures.map { $0.error is UnacceptedValue } == [true, true])
    #expect(try await retry(.quick, maxAttempts: 2, until: { _ in false }) { Session(tries: 9) }.tries == 9)
  }

  @Test("until: an error after a value that is not accepted is thrown, and one that must not be retried ends it")
  func untilWithErrors() async throws {
    var tries = 0
    await #expect(throws: Refused(number: 2)) {
      try await retry(.quick, maxAttempts: 2, until: { $0 == 0 }) { () async throws -> Int in
        tries += 1
        if tries == 2 { throw Refused(number: tries) }
        return tries
      }
    }
    tries = 0
    await #expect(throws: Broken.self) {
      try await retry(.quick, if: { $0 is Refused }, until: { $0 == 0 }) { () async throws -> Int in
        tries += 1
        throw Broken()
      }
    }
    #expect(tries == 1)
  }

  @Test("work on the main actor stays there")
  @MainActor func mainActor() async throws {
    var tries = 0
    let answer = try await retry(.quick) {
      MainActor.assertIsolated()
      tries += 1
      if tries < 2 { throw Broken() }
      return tries
    }
    #expect(answer == 2)
  }

  @Test("the error of the last attempt reaches catch as it was thrown")
  func original() async throws {
    var number = 0
    do {
      try await retry(.quick, maxAttempts: 3) {
        number += 1
        throw Refused(number: number)
      }
      Issue.record("it has not thrown")
    } catch let error as Refused {
      #expect(error == Refused(number: 3))
    }
  }

  @Test("with throwing: .history it is a RetryError with every attempt")
  func history() async throws {
    let error = await #expect(throws: RetryError.self) {
      try await retry(.quick, maxAttempts: 3, throwing: .history) { throw Broken() }
    }
    #expect(error?.attempts == 3 && error?.history.count == 3 && error?.lastError is Broken)
    var retrier = Retrier(.quick)
    retrier.policy.maxAttempts = 2
    retrier.throwing = .original
    await #expect(throws: Broken.self) { try await retrier.run { _ in throw Broken() } }
  }

  @Test("with if: only such errors are retried")
  func condition() async throws {
    var tries = 0
    await #expect(throws: Broken.self) {
      try await retry(.quick, maxAttempts: 5, if: { $0 is Refused }) {
        tries += 1
        if tries < 3 { throw Refused(number: tries) }
        throw Broken()
      }
    }
    #expect(tries == 3)
  }

  @Test("Permanent ends the retries, and the caller catches the error inside")
  func permanent() async throws {
    var tries = 0
    await #expect(throws: Refused(number: 2)) {
      try await retry(.quick, maxAttempts: 5) {
        tries += 1
        if tries < 2 { throw Broken() }
        throw Permanent(Refused(number: 2))
      }
    }
    #expect(tries == 2)
    let breaker = SharedCircuitBreaker(CircuitBreakerSettings(consecutiveFailures: 1))
    let retrier = Retrier(.quick, breaker: breaker)
    let error = await retrier.failure { _ in throw Permanent(Broken()) }
    #expect(error?.reason == .notRetryable && error?.lastError is Broken && error?.history.first?.error is Broken)
    #expect(breaker.current == .closed && breaker.failureCount == 0)
  }

  @Test("without an attempt there is no original error: a RetryError says why")
  func nothingTried() async throws {
    let error = await #expect(throws: RetryError.self) { try await retry(RetryPolicy(deadline: .zero)) { 1 } }
    #expect(error?.reason == .deadlineExceeded)
  }

  @Test("one type of error leaves result, a cancellation included")
  func typed() async throws {
    func fetch(_ retrier: Retrier) async throws(RetryError) -> Int {
      try await retrier.result { attempt in
        if attempt.number < 3 { throw Broken() }
        return attempt.number
      }.get()
    }
    #expect(try await fetch(Retrier(.quick)) == 3)
    var short = Retrier(.quick)
    short.policy.maxAttempts = 2
    let spent = await short.result { _ in throw Broken() }
    guard case .failure(let error) = spent else {
      Issue.record("it has succeeded")
      return
    }
    #expect(error.reason == .attemptsExhausted && error.attempts == 2)
    let cancelled = Task {
      await Retrier(.waiting).result { _ in throw Broken() }
    }
    cancelled.cancel()
    guard case .failure(let error) = await cancelled.value else {
      Issue.record("it has succeeded")
      return
    }
    #expect(error.reason == .cancelled)
  }

  @Test("waits pass on the clock that is given: the library's own for tests, or any of Swift's")
  func clocks() async throws {
    let policy = RetryPolicy(maxAttempts: 4, backoff: .constant(.seconds(60)))
    let clock = TestClock()
    await #expect(throws: Broken.self) { try await retry(policy, clock: clock) { throw Broken() } }
    #expect(clock.waits == Array(repeating: .seconds(60), count: 3))
    let steps = SteppedClock()
    var tries = 0
    let task = Task { [steps] in
      try await retry(policy, clock: steps) {
        tries += 1
        if tries < 3 { throw Broken() }
        return tries
      }
    }
    for _ in 0..<2 {
      await steps.waitForSleeper(of: .seconds(60))
      steps.advance(by: .seconds(60))
    }
    #expect(try await task.value == 3)
    #expect(try await retry(.quick, clock: SuspendingClock()) { 1 } == 1)
  }

  @Test("an attempt's time passes on the clock that is given, and its work is cancelled then")
  func timeout() async throws {
    let steps = SteppedClock()
    let task = Task { [steps] in
      try await retry(RetryPolicy(maxAttempts: 1, attemptTimeout: .seconds(10)), clock: steps) {
        try await Task.sleep(for: .seconds(3600))
      }
    }
    await steps.waitForSleeper(of: .seconds(10))
    steps.advance(by: .seconds(10))
    await #expect(throws: AttemptTimeout(limit: .seconds(10))) { try await task.value }
  }

  @Test("cancelling the task ends a wait and an attempt at once")
  func cancelled() async throws {
    for isWaiting in [true, false] {
      let (started, start) = AsyncStream.makeStream(of: Void.self)
      let began = ContinuousClock.now
      let task = Task {
        try await retry(.waiting) {
          start.yield()
          if isWaiting { throw Broken() }
          try await Task.sleep(for: .seconds(3600))
        }
      }
      for await _ in started { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(ContinuousClock.now - began < .seconds(60))
    }
  }
}

extension RetryPolicy {
  /// Without a wait.
  static let quick = RetryPolicy(maxAttempts: 25, backoff: .constant(.zero))
  /// With waits that only a cancellation ends.
  fileprivate static let waiting = RetryPolicy(deadline: .seconds(86_400), backoff: .constant(.seconds(3600)))
}

/// A clock as Swift packages for tests have it: time passes when the test says so, for waits and timeouts alike.
final class SteppedClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
    func duration(to other: Self) -> Duration { other.offset - offset }
    static func < (a: Self, b: Self) -> Bool { a.offset < b.offset }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [(until: Instant, continuation: AsyncStream<Void>.Continuation)] = []
  }

  private let state = Mutex(State())
  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let isOver = state.withLock { state in
      if deadline > state.now { state.sleepers.append((deadline, continuation)) }
      return deadline <= state.now
    }
    if isOver { return }
    for await _ in stream { return }
    throw CancellationError()
  }

  func advance(by span: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: span)
      defer { state.sleepers.removeAll { $0.until <= state.now } }
      return state.sleepers.filter { $0.until <= state.now }.map(\.continuation)
    }
    for continuation in due { continuation.yield() }
  }

  func waitForSleeper(of span: Duration) async {
    let sleeps = await eventually {
      self.state.withLock { state in state.sleepers.contains { $0.until == state.now.advanced(by: span) } }
    }
    #expect(sleeps, "nobody waits for \(span)")
  }
}
