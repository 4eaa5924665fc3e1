/// The attempts of a run, for code that gets a value, or the work's own error, and also needs the earlier attempts.
///
/// ```swift
/// let history = RetryHistory()
/// do {
///   let user = try await retry(maxAttempts: 3, history: history) { try await fetchUser() }
///   show(user, history.attempts)
/// } catch let error as URLError {
///   show(error, history.failures.map(\.decision))
/// }
/// ```
///
/// It contains the run that began last: earlier ones then change nothing. So give each of several parallel runs its
/// own. It may be read from any thread, also during the run.
public final class RetryHistory: Sendable {
  private struct State {
    /// Counts the runs.
    var run: UInt64 = 0
    var attempts = 0
    var failures: [RetryError.Attempt] = []
    var isOver = false
    var error: RetryError?
  }

  private let state = Guarded(State())

  /// An empty history.
  public init() {}

  /// How many attempts have begun.
  public var attempts: Int { state.withLock { $0.attempts } }

  /// The failed attempts, oldest first, each with its error and with the decision and its reason; the latest
  /// ``RetryError/historyLimit`` of them.
  public var failures: [RetryError.Attempt] { state.withLock { $0.failures } }

  /// Whether the run has ended; also true if none has begun.
  public var isOver: Bool { state.withLock { $0.isOver || $0.run == 0 } }

  /// Why the run has ended without success; nil if it has succeeded, or continues.
  public var error: RetryError? { state.withLock { $0.error } }

  /// Begins a run, and forgets the one before.
  func begin() -> Run {
    let number = state.withLock { state in
      state = State(run: state.run + 1)
      return state.run
    }
    return Run(history: self, number: number)
  }

  /// One run, while it writes its history.
  struct Run: Sendable {
    fileprivate let history: RetryHistory
    fileprivate let number: UInt64

    func began(attempt: Int) { change { $0.attempts = attempt } }

    func failed(_ attempt: RetryError.Attempt) {
      change { state in
        if state.failures.count == RetryError.historyLimit { state.failures.removeFirst() }
        state.failures.append(attempt)
      }
    }

    func ended(_ error: RetryError?) {
      change { state in
        state.isOver = true
        state.error = error
      }
    }

    private func change(_ body: (inout State) -> Void) {
      history.state.withLock { state in
        if state.run == number { body(&state) }
      }
    }
  }
}
