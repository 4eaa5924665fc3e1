/// What a code means, for its answers and for `docs/problems.md`.
public struct ProblemDeclaration: Sendable, Hashable {
  /// Codes that are explained together.
  public enum Group: String, CaseIterable, Sendable {
    case requests = "Every request"
    case keys = "API keys and namespaces"
    case calls = "Calls"
    case service = "The service"
    case targets = "Targets"
    case policies = "Policies"
    case operations = "Bulk operations"
    case webhooks = "Webhook endpoints and events"
    case issues = "Issues and alerts"
    case instances = "Between instances"
  }

  public var group: Group
  /// The possible statuses of an answer; the first is the usual one.
  public var statuses: [Int]
  /// A short summary.
  public var title: String
  /// Why such an answer is given, in one or two sentences.
  public var cause: String
  /// What to do.
  public var remedy: String

  init(_ group: Group, _ statuses: Int..., title: String, cause: String, remedy: String) {
    self.group = group
    self.statuses = statuses
    self.title = title
    self.cause = cause
    self.remedy = remedy
  }
}
