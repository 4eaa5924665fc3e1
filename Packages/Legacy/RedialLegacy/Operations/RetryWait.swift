/// The reason why an operation waits for its next run.
public enum RetryWait: Sendable {
  /// A delay; 0 or less retries at once.
  case delay(Duration)
  /// The first of these to fire. An empty list waits for a call of ``RetryingOperation/retryNow()`` or a similar one.
  case helpers([any RetryHelper])
}
