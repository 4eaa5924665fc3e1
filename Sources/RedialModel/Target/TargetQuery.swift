/// Which targets of a namespace to list: by key, a page at a time.
public struct TargetQuery: Sendable, Hashable {
  public var namespace: Namespace
  /// Only those after this one; nil for the first page.
  public var after: TargetKey?
  /// The maximum number in a page, see ``PageSize/targets``.
  public var limit: Int
  /// Only those with waiting or running calls, those that are paused or forced open, and those whose breaker is not
  /// closed.
  public var isActive: Bool

  /// Creates a query; by default for the first page of all.
  public init(
    namespace: Namespace, after: TargetKey? = nil, limit: Int = PageSize.targets.usual, isActive: Bool = false
  ) {
    self.namespace = namespace
    self.after = after
    self.limit = limit
    self.isActive = isActive
  }
}
