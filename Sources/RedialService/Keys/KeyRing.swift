internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The API keys of the store, and the permissions of their owners.
final class KeyRing: Sendable {
  /// The decision about a request.
  enum Verdict: Sendable {
    /// It is served for that caller; its answer has these fields.
    case admitted([HTTPHeader], Caller)
    case refused(Problem, [HTTPHeader])

    /// Why it is refused.
    var problem: Problem? {
      if case .refused(let problem, _) = self { problem } else { nil }
    }
  }

  private struct Keys: Sendable {
    var byID: [String: APIKey] = [:]
    /// Those that cannot be read: nobody can use them.
    var damaged: [String] = []
    /// By key, the start of its current minute and the requests since then.
    var used: [String: (since: Timestamp, count: Int)] = [:]
  }

  private let keys = Mutex(Keys())
  /// Whether a key is required: there is one, or there was one.
  private let isOn: Atomic<Bool>
  /// The number of instances among which each quota is divided.
  private let instances = Atomic(1)
  private let adminDigest: [UInt8]?

  private static let window = Duration.seconds(60)
  private static let windowSeconds = 60

  /// - Parameters:
  ///   - adminKey: A key with all permissions from the settings, which is not in the store.
  ///   - isRequired: Whether a key is required even if there is none: people sign in.
  init(adminKey: String?, isRequired: Bool = false) {
    adminDigest = adminKey.map(APIKey.digest)
    isOn = Atomic(adminKey != nil || isRequired)
  }

  /// Takes the keys from the store, in place of all others.
  func load(from store: any DocumentStore) throws(StoreError) {
    try load(store.documents(.apiKey))
  }

  /// The same, as they are stored.
  func load(_ documents: [StoredDocument]) {
    let stored = documents.read(as: APIKey.self)
    let known = Set(stored.records.map(\.id))
    for key in all where !known.contains(key.id) { forget(key.id) }
    for key in stored.records { set(key) }
    keys.withLock { $0.damaged = stored.damaged }
    // Also if none can be read: then nobody is admitted.
    if !stored.damaged.isEmpty { isOn.store(true, ordering: .releasing) }
  }

  /// The ids of the keys that cannot be read, for a caller. Whose they were is not known, so operators see them.
  func damaged(for caller: Caller) -> [String] {
    caller.isOperator && caller.namespace.isDefault ? keys.withLock { $0.damaged } : []
  }

  /// Whether a key is required.
  var isRequired: Bool { isOn.load(ordering: .acquiring) }
  /// Divides quotas evenly among instances.
  func divideQuotas(among count: Int) {
    instances.store(max(1, count), ordering: .relaxed)
  }

  /// All keys, including revoked ones, the oldest first.
  var all: [APIKey] { keys.withLock { $0.byID.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) } } }

  /// The namespaces that have valid keys.
  var namespaces: [Namespace] { Set(all.lazy.filter { $0.revokedAt == nil }.map(\.namespace)).sorted() }

  /// The keys that a caller manages: those of its namespace, or all for an operator in the default namespace.
  func all(of caller: Caller) -> [APIKey] { all.filter { Self.isManaged($0, by: caller) } }

  /// Whether a caller manages a key; if not, the key does not exist for it.
  static func isManaged(_ key: APIKey, by caller: Caller) -> Bool {
    key.namespace == caller.namespace || caller.isOperator && caller.namespace.isDefault
  }

  subscript(_ id: String) -> APIKey? { keys.withLock { $0.byID[id] } }

  func set(_ key: APIKey) {
    keys.withLock { $0.byID[key.id] = key }
    isOn.store(true, ordering: .releasing)
  }

  /// Removes a key as if it had never existed; whether a key is required does not change.
  func forget(_ id: String) {
    keys.withLock { keys in
      keys.byID[id] = nil
      keys.damaged.removeAll { $0 == id }
      keys.used[id] = nil
    }
  }

  /// Checks a request by its `Authorization` field.
  func judge(_ authorization: String?, for access: Access, at now: Timestamp) -> Verdict {
    guard isRequired, access != .open else { return .admitted([], Caller()) }
    guard let text = authorization.flatMap(Self.bearer) else {
      return .refused(authorization == nil ? Self.missingKey : Self.otherScheme, [])
    }
    if let adminDigest, APIKey.areEqual(adminDigest, APIKey.digest(of: text)) {
      return .admitted([], Caller(admission: .adminKey))
    }
    guard let id = APIKey.id(in: text), let key = self[id], key.matches(text), key.revokedAt == nil else {
      return .refused(Self.invalidKey, [])
    }
    if case .scope(let scope) = access, !key.grants(scope) { return Self.forbidden(scope) }
    return use(key, at: now)
  }

  /// Whether the value of an `Authorization` field is a key of this service, whoever else is named beside it.
  func isKey(_ authorization: String) -> Bool {
    guard let text = Self.bearer(authorization) else { return false }
    if text.hasPrefix(APIKey.textPrefix) { return true }
    return adminDigest.map { APIKey.areEqual($0, APIKey.digest(of: text)) } ?? false
  }

  /// Checks a request of somebody whom a trusted proxy has signed in.
  func judge(_ person: TrustedUsers.Person, for access: Access) -> Verdict {
    let caller = Caller(
      admission: .person(person.name, person.scopes), isOperator: person.scopes.contains(.admin),
      mayOperate: Self.grant(person.scopes, .operate))
    if case .scope(let scope) = access, !Self.grant(person.scopes, scope) { return Self.forbidden(scope, person.name) }
    return .admitted([HTTPHeader("redial-user", person.name)], caller)
  }

  private static func grant(_ scopes: Set<APIScope>, _ scope: APIScope) -> Bool {
    scopes.contains(scope) || scopes.contains(.admin)
  }

  /// Why a client lacks a scope now, without counting a request; nil if it has the scope.
  ///
  /// - Parameter authorization: The field of its request.
  func refusal(ofHolder authorization: String?, for scope: APIScope) -> Problem? {
    guard isRequired else { return nil }
    guard let text = authorization.flatMap(Self.bearer) else {
      return authorization == nil ? Self.missingKey : Self.otherScheme
    }
    if let adminDigest, APIKey.areEqual(adminDigest, APIKey.digest(of: text)) { return nil }
    guard let id = APIKey.id(in: text), let key = self[id], key.matches(text), key.revokedAt == nil else {
      return Self.invalidKey
    }
    return key.grants(scope) ? nil : Self.forbidden(scope).problem
  }

  /// Why a caller's stream may not continue: its key was revoked, or no key was required and one is now. Nil if it may.
  func refusal(of caller: Caller) -> Problem? {
    switch caller.admission {
    // The proxy decides who is signed in, when a request comes.
    case .adminKey, .person: return nil
    case .nobody: return isRequired ? Self.missingKey : nil
    case .key(let id):
      guard let key = self[id], key.revokedAt == nil else { return Self.invalidKey }
      return nil
    }
  }

  /// Why a client that another instance has admitted is refused: its key was revoked, and that instance has not heard of it.
  /// Nil for a key of which this one has not heard.
  func refusal(ofRevoked id: String) -> Problem? {
    self[id]?.revokedAt == nil ? nil : Self.invalidKey
  }

  /// Why an admitted caller lacks a further scope; nil if it has the scope.
  func refusal(of caller: Caller, lacking scope: APIScope) -> (Problem, [HTTPHeader])? {
    if case .person(let name, let scopes) = caller.admission {
      guard !Self.grant(scopes, scope), case .refused(let problem, let fields) = Self.forbidden(scope, name) else {
        return nil
      }
      return (problem, fields)
    }
    guard case .key(let id) = caller.admission, self[id]?.grants(scope) != true,
      case .refused(let problem, let fields) = Self.forbidden(scope)
    else { return nil }
    return (problem, fields)
  }

  /// Whether the value of an `Authorization` field is for Redial, so that no target may see it: any value if a key is
  /// required, and any value that looks like a key if not.
  func isCredential(_ authorization: String) -> Bool {
    isRequired || Self.bearer(authorization)?.hasPrefix(APIKey.textPrefix) == true
  }

  /// Counts one more request against the quota of a caller's key: a stream costs as many as it would take without one.
  ///
  /// - Returns: Why it may not continue now, and the quota fields, if the quota is used up.
  func charge(_ caller: Caller, at now: Timestamp) -> (problem: Problem, fields: [HTTPHeader])? {
    guard let key = caller.keyID.flatMap({ self[$0] }), case .refused(let problem, let fields) = use(key, at: now)
    else { return nil }
    return (problem, fields)
  }

  /// Counts a request against its key's quota.
  private func use(_ key: APIKey, at now: Timestamp) -> Verdict {
    let caller = Caller(
      admission: .key(key.id), namespace: key.namespace,
      isOperator: key.namespace.isDefault && key.scopes.contains(.admin), mayOperate: key.grants(.operate))
    guard let whole = key.quota else { return .admitted([], caller) }
    let count = instances.load(ordering: .relaxed)
    let quota = max(1, (whole + count - 1) / count)
    let (requests, left) = keys.withLock { keys in
      var used = keys.used[key.id] ?? (now, 0)
      if now - used.since >= Self.window { used = (now, 0) }
      used.count = min(used.count + 1, quota + 1)
      keys.used[key.id] = used
      return (used.count, Self.window - (now - used.since))
    }
    let seconds = Int(max(1, (left.wholeMicroseconds + 999_999) / 1_000_000))
    let fields = [
      HTTPHeader("ratelimit-policy", "\"key\";q=\(quota);w=\(Self.windowSeconds)"),
      HTTPHeader("ratelimit", "\"key\";r=\(max(0, quota - requests));t=\(seconds)"),
    ]
    guard requests > quota else { return .admitted(fields, caller) }
    return .refused(
      Problem(
        .quotaExceeded,
        detail:
          "This key allows \(quota) request\(quota == 1 ? "" : "s") per minute\(count > 1 ? " at each of \(count) instances" : ""). Try again in \(seconds) s.",
        retryAfter: seconds),
      fields)
  }

  /// The credentials of the scheme `Bearer` (RFC 6750 §2.1). Any white space may follow the scheme: a key behind a tab
  /// is still a key, and must not reach a target.
  private static func bearer(_ field: String) -> String? {
    func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
    let text = field.drop(while: isBlank)
    guard let end = text.firstIndex(where: isBlank), text[..<end].lowercased() == "bearer" else { return nil }
    return String(text[end...].drop(while: isBlank))
  }

  /// How to send a key (RFC 6750 §3), for each refusal with 401.
  static func challenge(of problem: Problem) -> HTTPHeader {
    let error = problem == invalidKey ? ", error=\"invalid_token\"" : ""
    return HTTPHeader("www-authenticate", "Bearer realm=\"redial\"\(error)")
  }

  private static let invalidKey = Problem(
    .invalidAPIKey,
    detail: "There is no such API key as that in the field Authorization, or it was revoked. Send another one.")
  // The field is not shown: it may have a password.
  private static let otherScheme = Problem(
    .missingAPIKey,
    detail: "The field Authorization has no API key: its scheme is not Bearer. Send Authorization: Bearer rdl_…",
    errors: [.init(header: "Authorization", detail: "must have the scheme Bearer")])
  private static let missingKey = Problem(
    .missingAPIKey,
    detail:
      "The request has no API key, and one is needed. Send one: Authorization: Bearer rdl_… For `redial`, set REDIAL_API_KEY."
  )

  private static func forbidden(_ scope: APIScope, _ person: String) -> Verdict {
    .refused(
      Problem(
        .insufficientScope,
        detail:
          "\(PlainText.escaped(person)) lacks the scope \(scope.rawValue): none of the groups has it in groupScopes."),
      [])
  }

  private static func forbidden(_ scope: APIScope) -> Verdict {
    .refused(
      Problem(
        .insufficientScope,
        detail: "The API key lacks the scope \(scope.rawValue). Use one that has it."),
      [
        HTTPHeader(
          "www-authenticate", "Bearer realm=\"redial\", error=\"insufficient_scope\", scope=\"\(scope.rawValue)\"")
      ])
  }
}
