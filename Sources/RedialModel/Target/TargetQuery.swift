/// Which targets of a namespace are to be listed: by key, a page at a time.
public struct TargetQuery: Sendable, Hashable {
  /// Whose targets.
  public var namespace: Namespace
  /// Only those behind this qualified key; nil for the first page.
  public var after: String?
  /// The most that are answered, 1...250.
  public var limit: Int
  /// Only those with calls that wait or run, those that are paused or held open, and those whose breaker is not closed.
  public var isActive: Bool

  /// How many are answered when nobody says.
  public static let defaultLimit = 100
  /// The largest page.
  public static let maximumLimit = 250

  /// Creates a query, which asks for the first page of all.
  public init(
    namespace: Namespace, after: String? = nil, limit: Int = TargetQuery.defaultLimit, isActive: Bool = false
  ) {
    self.namespace = namespace
    self.after = after
    self.limit = limit
    self.isActive = isActive
  }
}
