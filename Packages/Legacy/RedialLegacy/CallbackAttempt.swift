internal import Redial

/// One attempt by code that reports with a callback.
///
/// Only the first report counts; one after the attempt's timeout or cancellation changes nothing.
public final class CallbackAttempt: Sendable {
  private let continuation: Guarded<CheckedContinuation<Void, any Error>?>

  private init(_ continuation: CheckedContinuation<Void, any Error>) {
    self.continuation = Guarded(continuation)
  }

  /// The attempt has succeeded.
  public func success() { finish(.success(())) }

  /// The attempt has failed.
  public func failure(_ error: any Error) { finish(.failure(error)) }

  private func finish(_ result: Result<Void, any Error>) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(with: result)
  }

  /// Begins an attempt and waits for its report; a cancelled wait ends at once.
  static func run(_ begin: @Sendable (CallbackAttempt) -> Void) async throws {
    let made = Guarded<CallbackAttempt?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let attempt = CallbackAttempt(continuation)
        made.withLock { $0 = attempt }
        // Either this or the handler finds the task cancelled, or both; the first report counts.
        if Task.isCancelled { attempt.finish(.failure(CancellationError())) } else { begin(attempt) }
      }
    } onCancel: {
      made.withLock { $0 }?.finish(.failure(CancellationError()))
    }
  }
}
