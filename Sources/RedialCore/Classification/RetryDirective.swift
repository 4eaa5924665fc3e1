/// A field in which a target says whether a call may be retried, whatever its status:
///
/// ```
/// Redial-Retry: stop
/// ```
///
/// `stop`, `no` and `false` end the call; `retry`, `yes` and `true` make any response except a success retried.
/// Services with their own field for it (`Stripe-Should-Retry: false`) use the same words.
public enum RetryDirective: UInt8, Sendable, Hashable, CaseIterable {
  /// Do not retry.
  case stop
  /// Retry.
  case retry

  /// The name of the field, in lower case.
  public static var fieldName: StaticString { "redial-retry" }

  /// Reads the value of the field; nil for any other word. Words are compared without regard to case or blanks around
  /// them.
  public static func parse(_ value: ArraySlice<UInt8>) -> RetryDirective? {
    let value = value.withoutBlanks
    if matches(value, "stop") || matches(value, "no") || matches(value, "false") { return .stop }
    if matches(value, "retry") || matches(value, "yes") || matches(value, "true") { return .retry }
    return nil
  }

  private static func matches(_ value: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
    word.withUTF8Buffer { word in
      value.count == word.count && zip(value, word).allSatisfy { $0 | 0x20 == $1 }
    }
  }
}
