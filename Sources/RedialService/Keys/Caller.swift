internal import RedialModel

/// The client of a request, and its namespace.
struct Caller: Sendable {
  /// Why a client is admitted.
  enum Admission: Sendable, Hashable {
    /// No key is required.
    case nobody
    /// The admin key of the settings.
    case adminKey
    /// The API key with that id.
    case key(String)
    /// A person whom a trusted proxy has signed in, with the scopes of the person's groups.
    case person(String, Set<APIScope>)
  }

  /// Why it is admitted. Streams that it started continue only as long as this is sufficient.
  var admission = Admission.nobody
  /// The API key that admitted it; nil for the admin key, and if no key is required.
  var keyID: String? { if case .key(let id) = admission { id } else { nil } }
  /// The person whom a proxy has signed in.
  var person: String? { if case .person(let name, _) = admission { name } else { nil } }
  /// The namespace in which it acts.
  var namespace = Namespace.default
  /// Its address, or that which a trusted proxy says; nil over a Unix domain socket, and where nobody asks for it.
  var address: String?
  /// Whether it manages the keys of all namespaces: true for the admin key, for a key of the default namespace with the
  /// scope admin, and for everybody if no key is required.
  var isOperator = true

  /// Whether it has the scope ``APIScope/operate``.
  var mayOperate = true

  /// The header field with which a caller that may act in any namespace selects one.
  static let namespaceField: StaticString = "redial-namespace"

  /// Puts the person whom a proxy has signed in, in place of who it claims to be.
  func sign(_ attribution: inout Attribution) {
    if let person { attribution.by = person }
  }

  func target(_ name: String) -> TargetKey { TargetKey(name, in: namespace) }

  func idempotencyName(_ key: String) -> IdempotencyName { IdempotencyName(key, in: namespace) }

  /// Applies the namespace that a caller has selected.
  ///
  /// - Parameters:
  ///   - field: The value of ``namespaceField``.
  ///   - access: The permission that the request needs; a request that is open to everybody has no namespace.
  func acting(in field: String, _ access: Access) throws(Problem) -> Caller {
    guard access != .open else { return self }
    guard let wanted = Namespace(field) else {
      throw Problem(.invalidNamespace, at: .init(.header, "Redial-Namespace"), Namespace.rule)
    }
    guard wanted != namespace else { return self }
    guard person == nil || isOperator else {
      throw Problem(
        .otherNamespace,
        detail: "People act in the namespace default; only those with the scope admin may choose another.")
    }
    guard keyID == nil else {
      throw Problem(
        .otherNamespace,
        detail: "A key acts in its own namespace only; this one's is \(namespace.name). "
          + "Use a key of \(wanted.name), or the adminKey.")
    }
    var caller = self
    caller.namespace = wanted
    return caller
  }

  /// Refuses a key of another namespace than the default one, because the request concerns all namespaces.
  func requireDefaultNamespace() throws(Problem) {
    guard keyID != nil, !namespace.isDefault else { return }
    throw Problem(
      .operatorsOnly,
      detail:
        "This covers all namespaces: use the admin key, or a key of the namespace default.")
  }
}
