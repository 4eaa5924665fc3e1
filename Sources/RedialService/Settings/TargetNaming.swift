/// The clients that may name a target other than the origin of the call's URL.
///
/// A target's name decides which breaker, pause, limits and ordering apply to a call. So a client that may choose the
/// name can avoid those of the URL's origin, or use up those of others. Operators can do so by other means too; a key
/// that only allows submitting calls must not. TLS settings do not depend on the name (see `OriginTLS`).
package enum TargetNaming: String, Sendable, Hashable, CaseIterable {
  /// Everybody who may submit calls.
  case anyone
  /// Callers with the scope `operate`; if no key is required, that is everybody.
  case operators
  /// No caller: every target is an origin.
  case nobody

  /// Whether a caller may name a target.
  ///
  /// - Parameter mayOperate: Whether it has the scope `operate`.
  func allows(mayOperate: Bool) -> Bool {
    switch self {
    case .anyone: true
    case .operators: mayOperate
    case .nobody: false
    }
  }
}
