/// What an operation waits for before its next run.
public enum RetryWait: Sendable {
  /// A delay; 0 or less retries at once.
  case delay(Duration)
  /// The first of these to fire. None at all means to wait until told, by ``RetryingOperation/retryNow()`` or its like.
  case helpers([any RetryHelper])
}
