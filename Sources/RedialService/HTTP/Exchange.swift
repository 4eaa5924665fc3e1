internal import HTTPServer
internal import RedialModel
internal import RedialText

/// A request that was admitted: its client, the open parts of its path, and the way to answer it.
struct Exchange: Sendable {
  var responder: HTTPResponder
  let caller: Caller
  /// The parts of the path that its route leaves open, in their order, as they were sent.
  var parts: [Substring] = []
  /// The request, if another instance may have to serve it; nil if there is no other, or one has sent it.
  var forwardable: ForwardableRequest?
  /// Whether another instance has sent it.
  var isForwarded = false
  /// What the audit log says of it; nil if it changes nothing.
  var audit: AuditNote?

  /// The open part of the path.
  var part: Substring { parts.first ?? "" }

  /// The call that the path names.
  func callID() throws(Problem) -> CallID { try Self.call(in: part) }
  /// The bulk operation that the path names.
  func operationID() throws(Problem) -> BulkOperationID { try Self.operation(in: part) }
  /// The issue that the path names.
  func issueID() throws(Problem) -> IssueID {
    guard let id = IssueID(String(part)) else {
      throw Self.notFound(NamedID.issue.refusal(of: part))
    }
    return id
  }
  /// The target that the path names, without its namespace.
  func targetKey() throws(Problem) -> String { try Self.target(in: part) }
  /// The policy that the path names.
  func policyName() throws(Problem) -> String { try Self.policy(in: part) }
  /// The credential that the path names: names of credentials are like those of policies.
  func credentialName() throws(Problem) -> String { try Self.name(in: part, of: "A credential") }
  /// The alert that the path names: names of alerts are like those of policies.
  func alertName() throws(Problem) -> String { try Self.name(in: part, of: "An alert") }

  /// - Throws: A problem of status 404 if the part is not the id of a call.
  static func call(in part: Substring) throws(Problem) -> CallID {
    guard let id = CallID(part) else {
      throw notFound(NamedID.call.refusal(of: part))
    }
    return id
  }

  /// - Throws: A problem of status 404 if the part is not the id of a bulk operation.
  static func operation(in part: Substring) throws(Problem) -> BulkOperationID {
    guard let id = BulkOperationID(part) else {
      throw notFound(NamedID.operation.refusal(of: part))
    }
    return id
  }

  /// - Throws: A problem of status 404 if the part is empty or not percent-encoded.
  static func target(in part: Substring) throws(Problem) -> String {
    guard let key = PercentCoding.decode(part), !key.isEmpty else {
      throw notFound(encodedKey)
    }
    return key
  }

  /// - Throws: A problem of status 404 if the part cannot be the name of a policy.
  static func policy(in part: Substring) throws(Problem) -> String { try name(in: part, of: "A policy") }

  /// - Throws: A problem of status 404 if the part cannot be such a name.
  private static func name(in part: Substring, of owner: String) throws(Problem) -> String {
    guard let name = PercentCoding.decode(part), StoredPolicy.isName(name) else {
      if part == CallSpec.defaultPolicyName || part == "preview" {
        throw notFound("\(owner) cannot have the name \"\(part)\", which is reserved. Choose another one.")
      }
      throw notFound(
        "\(owner)'s name has 1 to \(StoredPolicy.longestName) letters, digits, dots, underscores and hyphens, and is "
          + "not only one or two dots.")
    }
    return name
  }

  /// How the key of a target is written in a path.
  static let encodedKey =
    "In a path the key of a target is percent-encoded, such as /v1/targets/https%3A%2F%2Fapi.example.com."

  /// The problem of a path that names nothing.
  static func notFound(_ detail: String) -> Problem {
    Problem(.notFound, detail: detail)
  }
}
