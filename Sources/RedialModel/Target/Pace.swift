/// How fast attempts to a target start.
public enum Pace: String, Sendable, Hashable, CaseIterable {
  /// As fast as the limits allow that were set.
  case fixed
  /// Within these limits, as fast as the target can take them; see `AdaptivePace`.
  case adaptive
}
