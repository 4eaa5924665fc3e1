/// How many elements a page of a list has.
public struct PageSize: Sendable, Hashable {
  /// If the client does not say.
  public let usual: Int
  /// At most.
  public let most: Int

  /// Calls, and the webhooks of an endpoint.
  public static let calls = PageSize(usual: 50, most: 250)
  /// Targets.
  public static let targets = PageSize(usual: 100, most: 250)
  /// Issues of failed calls.
  public static let issues = PageSize(usual: 100, most: 1000)
  /// Attempts of a call.
  public static let attempts = PageSize(usual: 1000, most: 1000)
  /// Lists that are mostly short: policies, keys, endpoints, alerts, operations, instances.
  public static let documents = PageSize(usual: 250, most: 1000)
  /// Records of the audit log.
  public static let audit = PageSize(usual: 100, most: 1000)
}
