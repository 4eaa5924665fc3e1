/// Which targets of a namespace to list: by key, a page at a time.
package struct TargetQuery: Sendable, Hashable {
  package var namespace: Namespace
  /// Only those after this one; nil for the first page.
  package var after: TargetKey?
  /// The maximum number in a page, 1...250.
  package var limit: Int
  /// Only those with waiting or running calls, those that are paused or forced open, and those whose breaker is not
  /// closed.
  package var isActive: Bool

  /// The default size of a page.
  package static let defaultLimit = 100
  /// The largest page.
  package static let maximumLimit = 250

  /// Creates a query; by default for the first page of all.
  package init(
    namespace: Namespace, after: TargetKey? = nil, limit: Int = TargetQuery.defaultLimit, isActive: Bool = false
  ) {
    self.namespace = namespace
    self.after = after
    self.limit = limit
    self.isActive = isActive
  }
}
