internal import RedialModel

/// Who a request is from, and where it acts.
struct Caller: Sendable {
  /// Why a client is let in.
  enum Admission: Sendable, Hashable {
    /// Nothing: no key was asked for.
    case nobody
    /// The admin key of the settings.
    case adminKey
    /// The API key of that id.
    case key(String)
  }

  /// Why it is let in. Streams that it started continue only as long as this is sufficient.
  var admission = Admission.nobody
  /// The API key that it is admitted by; nil for the admin key, and where none is asked for.
  var keyID: String? { if case .key(let id) = admission { id } else { nil } }
  /// The namespace that it acts in.
  var namespace = Namespace.default
  /// Whether it manages the keys of all namespaces. That is who shows the admin key or a key of the default namespace with
  /// the scope admin, and everybody where no key is asked for.
  var isOperator = true

  /// Whether it may do what takes the scope ``APIScope/operate``.
  var mayOperate = true

  /// The header field by which who may act in any namespace names one.
  static let namespaceField: StaticString = "redial-namespace"

  /// The qualified key of what people call so.
  func qualified(_ key: String) -> String { QualifiedKey.make(key, in: namespace) }

  /// Has a caller who may act anywhere act where it says.
  ///
  /// - Parameters:
  ///   - field: The value of ``namespaceField``.
  ///   - access: What the request takes; what is open to all is of no namespace.
  func acting(in field: String, _ access: KeyRing.Access) throws(Problem) -> Caller {
    guard access != .open else { return self }
    guard let wanted = Namespace(field) else {
      throw Problem(
        status: 400, code: "invalidNamespace", title: "The namespace is not valid",
        detail: "The field Redial-Namespace \(Namespace.rule).")
    }
    guard wanted != namespace else { return self }
    guard keyID == nil else {
      throw Problem(
        status: 403, code: "otherNamespace", title: "The API key is of another namespace",
        detail: "A key acts in its own namespace only; this one's is \(namespace.name).")
    }
    var caller = self
    caller.namespace = wanted
    return caller
  }

  /// Refuses a key that is not of the default namespace: what is asked for is of all.
  func requireDefaultNamespace() throws(Problem) {
    guard keyID != nil, !namespace.isDefault else { return }
    throw Problem(
      status: 403, code: "operatorsOnly", title: "The API key does not allow this",
      detail:
        "This covers all namespaces: use the admin key, or a key of the namespace default.")
  }
}
