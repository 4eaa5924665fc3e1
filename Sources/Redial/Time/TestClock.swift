/// A clock for tests, on which time passes only as the test decides.
///
/// By default waits between attempts pass at once and are recorded, so that a test of a policy with hours between its
/// attempts takes no time:
///
/// ```swift
/// let clock = TestClock()
/// var retrier = Retrier(.svix)
/// retrier.clock = clock
/// _ = try? await retrier.run { throw URLError(.cannotConnectToHost) }
/// print(clock.waits)   // some 5 s, 5 min, 30 min, 2 h, …
/// ```
///
/// With ``Mode/manual`` every wait lasts until ``advance(by:)`` has moved the clock past its end.
public final class TestClock: RetryClock {
  /// How waits pass.
  public enum Mode: Sendable {
    /// A wait moves the clock to its end, and has ended.
    case automatic
    /// A wait lasts until the test moves the clock past its end.
    case manual
  }

  /// The reason for a wait.
  public enum Kind: Sendable {
    /// The next attempt.
    case wait
    /// The timeout of an attempt.
    case timeout
  }

  private struct Sleeper {
    var kind: Kind
    var due: Timestamp
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct Watcher {
    var kind: Kind
    var count: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now: Timestamp
    var waits: [Duration] = []
    var sleepers: [UInt64: Sleeper] = [:]
    /// The number of sleepers of each kind; counting them one by one would take seconds for ten thousand sleepers.
    var counts: [Kind: Int] = [:]
    var cancelled: Set<UInt64> = []
    var next: UInt64 = 0
    var watchers: [Watcher] = []
  }

  private let mode: Mode
  private let state: Guarded<State>

  /// A clock that stands still, by default on a day of 2026.
  public init(_ mode: Mode = .automatic, now: Timestamp = Timestamp(microseconds: 1_790_000_000_000_000)) {
    self.mode = mode
    state = Guarded(State(now: now))
  }

  /// The current time of the test.
  public var now: Timestamp { state.withLock { $0.now } }
  /// The same.
  public var wallTime: Timestamp { now }
  /// The waits between attempts so far, in their order.
  public var waits: [Duration] { state.withLock { $0.waits } }

  /// Moves the clock, and ends the waits that have passed.
  public func advance(by span: Duration) {
    let due = state.withLock { state in
      state.now = state.now + span
      return Self.takeDue(&state)
    }
    for continuation in due { continuation.resume() }
  }

  /// Returns when there are at least that many waits of a kind.
  public func waitForSleepers(_ count: Int = 1, _ kind: Kind = .wait) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.counts[kind, default: 0] >= count { return true }
        state.watchers.append(Watcher(kind: kind, count: count, continuation: continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Waits between attempts.
  public func sleep(for wait: Duration) async throws {
    try Task.checkCancellation()
    let due: [CheckedContinuation<Void, any Error>] = state.withLock { state in
      state.waits.append(wait)
      guard mode == .automatic else { return [] }
      state.now = state.now + wait
      return Self.takeDue(&state)
    }
    for continuation in due { continuation.resume() }
    if mode == .manual { try await suspend(for: wait, .wait) }
  }

  /// Waits beside an attempt: until the clock is past the limit, whatever the mode.
  public func timeout(after limit: Duration) async throws { try await suspend(for: limit, .timeout) }

  private func suspend(for wait: Duration, _ kind: Kind) async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let (isCancelled, watchers) = state.withLock { state in
          if state.cancelled.remove(id) != nil { return (true, [CheckedContinuation<Void, Never>]()) }
          state.sleepers[id] = Sleeper(kind: kind, due: state.now + wait, continuation: continuation)
          let count = state.counts[kind, default: 0] + 1
          state.counts[kind] = count
          let ready = state.watchers.filter { $0.kind == kind && $0.count <= count }.map(\.continuation)
          state.watchers.removeAll { $0.kind == kind && $0.count <= count }
          return (false, ready)
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        // Cancelled before it began: it will notice that when it begins.
        if let sleeper { state.counts[sleeper.kind, default: 0] -= 1 } else { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(id) }
  }

  private static func takeDue(_ state: inout State) -> [CheckedContinuation<Void, any Error>] {
    let due = state.sleepers.filter { $0.value.due <= state.now }.sorted { $0.value.due < $1.value.due }
    for (id, sleeper) in due {
      state.sleepers[id] = nil
      state.counts[sleeper.kind, default: 0] -= 1
    }
    return due.map(\.value.continuation)
  }
}
