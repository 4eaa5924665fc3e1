/// Which targets of a namespace to list: by key, a page at a time.
public struct TargetQuery: Sendable, Hashable {
  public var namespace: Namespace
  /// Only those after this one; nil for the first page.
  public var after: TargetKey?
  /// The maximum number in a page, 1...250.
  public var limit: Int
  /// Only those with waiting or running calls, those that are paused or forced open, and those whose breaker is not
  /// closed.
  public var isActive: Bool

  /// The default size of a page.
  public static let defaultLimit = 100
  /// The largest page.
  public static let maximumLimit = 250

  /// Creates a query; by default for the first page of all.
  public init(
    namespace: Namespace, after: TargetKey? = nil, limit: Int = TargetQuery.defaultLimit, isActive: Bool = false
  ) {
    self.namespace = namespace
    self.after = after
    self.limit = limit
    self.isActive = isActive
  }
}
