internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialJSON

/// The named policies as resources of the API.
struct StoredPolicies: Sendable {
  /// The policies themselves; changed only on the store's lane, once the change is on disk.
  let policies = NamedPolicies()
  /// The maximum number of policies.
  let limit: Int
  /// The maximum number of kept versions of each.
  let maxVersions: Int

  /// Takes the policies from the store, in place of all others.
  func fill(from stored: [StoredPolicy]) { policies.replace(with: stored) }

  /// 200: the current version of each policy, without its text.
  func list(_ page: ListPage, of namespace: Namespace) throws(Problem) -> HTTPResponse {
    try Answer.list(
      policies.all(in: namespace), page, .byName, unreadable: policies.damaged(in: namespace), by: \.name
    ) { $0.writeSummary(to: &$1) }
  }

  /// 200: a policy in its current version, or in the requested one.
  func show(_ name: String, _ query: String?, _ namespace: Namespace) throws(Problem) -> HTTPResponse {
    var parameters = try QueryParameters(query)
    let text = parameters.take("version")
    try parameters.finish()
    let versions = policies.versions(of: name, in: namespace)
    guard let last = versions.last else { throw Self.noSuchPolicy(name) }
    guard let text else { return answer(200, last) }
    guard let number = Int(text), number > 0 else {
      throw QueryParameters.problem("version", "must be a whole number from 1")
    }
    guard let version = versions.first(where: { $0.version == number }) else {
      throw Problem(
        .policyNotFound,
        detail:
          "The policy \(name) has no version \(number)\(number < last.version ? " any more" : ""); "
          + (versions[0].version == last.version
            ? "only \(last.version) is kept." : "\(versions[0].version) to \(last.version) are kept."))
    }
    return answer(200, version)
  }

  /// Makes a new version of a policy, on the store's lane.
  func put(
    _ name: String, _ text: [UInt8], _ namespace: Namespace, under conditions: HTTPPreconditions,
    in store: any DocumentStore, at now: Timestamp
  ) throws -> HTTPResponse {
    let current = policies.versions(of: name, in: namespace).last
    try check(conditions, current)
    // A repeated PUT with the same content makes no new version.
    if let current, current.json == text { return answer(200, current) }
    if current == nil {
      guard policies.count(in: namespace) < limit else {
        throw Problem(
          .tooManyPolicies,
          detail: "The namespace \(namespace) has \(limit) policies, which is the maximum. Delete one first.")
      }
    }
    let policy = StoredPolicy(
      name: name, version: policies.nextVersion(of: name, in: namespace), createdAt: now, json: text, in: namespace)
    try store.commit(writes(of: policy))
    try policies.add(policy, keeping: maxVersions)
    return answer(current == nil ? 201 : 200, policy)
  }

  /// Removes a policy, on the store's lane. Calls that were accepted with it keep it.
  func remove(
    _ name: String, _ namespace: Namespace, under conditions: HTTPPreconditions, in store: any DocumentStore,
    at now: Timestamp
  ) throws -> HTTPResponse {
    let current = policies.versions(of: name, in: namespace).last
    guard current != nil || policies.damaged(in: namespace).contains(name) else { throw Self.noSuchPolicy(name) }
    try check(conditions, current)
    let removal = StoredPolicy(
      name: name, version: policies.nextVersion(of: name, in: namespace), createdAt: now, json: [], in: namespace)
    // Names that were used are remembered, so that no version number occurs twice, but only up to a limit.
    let forgotten = policies.longestRemoved(of: limit, in: namespace)
    try store.commit(writes(of: removal) + (forgotten.map { [.remove(.policy, id: $0.documentID)] } ?? []))
    try policies.add(removal, keeping: maxVersions)
    if let forgotten { policies.forget(forgotten) }
    return HTTPResponse(status: 204, headers: [], body: [])
  }

  /// Stores a version in place of those that are not kept any more. If another instance has made one with that number,
  /// nothing is changed.
  private func writes(of policy: StoredPolicy) -> [StoreWrite] {
    policies.displaced(by: policy, keeping: maxVersions).map { .remove(.policy, id: $0.documentID) }
      + [.add(policy.document)]
  }

  private func check(_ conditions: HTTPPreconditions, _ current: StoredPolicy?) throws(Problem) {
    let outcome = conditions.outcome(
      entityTag: current.map(Self.tag), lastModified: nil, isSafe: false, exists: current != nil)
    guard outcome == .proceed else {
      let field = conditions.failsIfMatch(entityTag: current.map(Self.tag)) ? "If-Match" : "If-None-Match"
      throw Problem(
        .preconditionFailed,
        detail: current.map {
          "The policy \($0.name) does not fit \(field): it is at version \($0.version) now. Get it, and apply the change to "
            + "that."
        } ?? "There is no policy with this name, so no version of it can match If-Match. Make it without the field.",
        errors: [.init(header: field, detail: current.map { "does not fit \(Self.tag($0))" } ?? "matches nothing")])
    }
  }

  private func answer(_ status: Int, _ policy: StoredPolicy) -> HTTPResponse {
    var writer = JSONWriter(capacity: 1024)
    policy.write(versions: policies.versions(of: policy.name, in: policy.namespace), to: &writer)
    var headers = [HTTPHeader("etag", Self.tag(policy))]
    if status == 201 { headers.append(HTTPHeader("location", "/v1/policies/\(policy.name)")) }
    return Answer.json(status, writer, headers)
  }

  /// The strong validator of a version: its warnings, which are shown with it, follow from it.
  private static func tag(_ policy: StoredPolicy) -> String { "\"\(policy.version)\"" }

  private static func noSuchPolicy(_ name: String) -> Problem {
    Problem(
      .policyNotFound,
      detail: "No policy is called \(name); GET /v1/policies lists them.")
  }
}
