internal import Redial

/// Retries when an asynchronous sequence has its next element: regained reachability, a push message, a button.
///
/// ```swift
/// operation.baseOperationEnded(retryHelpers: [RetryOnElement { reachability.updates }, RetryTimer(.seconds(60))])
/// ```
public final class RetryOnElement: RetryHelper {
  private let begin: @Sendable (RetrySignal) -> Task<Void, Never>
  private let task = Guarded<Task<Void, Never>?>(nil)

  /// A helper that begins to iterate a new sequence for each wait. An end without an element, or an error, never retries.
  public init<Elements: AsyncSequence & SendableMetatype>(_ elements: @escaping @Sendable () -> Elements)
  where Elements.AsyncIterator: SendableMetatype {
    begin = { signal in
      Task {
        var iterator = elements().makeAsyncIterator()
        if (try? await iterator.next()) != nil { signal.retry() }
      }
    }
  }

  /// Begins to listen.
  public func setUp(_ signal: RetrySignal) {
    let new = begin(signal)
    task.withLock { $0 = new }
  }

  /// Ends the listening.
  public func tearDown() {
    let old = task.withLock { task in
      defer { task = nil }
      return task
    }
    old?.cancel()
  }
}
