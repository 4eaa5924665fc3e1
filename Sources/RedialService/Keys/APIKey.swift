internal import CCrypto
internal import RedialCore
internal import RedialModel
internal import RedialJSON

/// An API key. Only its owner knows the text; the store keeps its SHA-256, which is useless to anybody who cannot guess
/// 256 random bits.
struct APIKey: Sendable {
  let id: String
  let name: String
  let scopes: Set<APIScope>
  /// The namespace in which it acts.
  let namespace: Namespace
  /// Maximum requests per minute; nil for no limit.
  let requestsPerMinute: Int?
  let createdAt: Timestamp
  var revokedAt: Timestamp?
  private let digest: [UInt8]

  /// The prefix of the ids of keys.
  static let prefix = "key_"
  /// The prefix of keys, by which scanners for leaked secrets can find them.
  static let textPrefix = "rdl_"
  private static let idLength = 13

  /// Makes a key.
  ///
  /// - Returns: Nil if the system provides no random bytes.
  ///
  /// - Parameter namespace: The key's, unless the draft names one.
  static func make(
    _ draft: APIKeyDraft, in namespace: Namespace = .default, at now: Timestamp
  ) -> (key: APIKey, text: String)? {
    guard let bytes = RandomBytes.make(8), let secret = RandomBytes.make(32) else { return nil }
    let characters = CallID(rawValue: bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } & Int64.max).characters
    let random = Base64.encode(secret).map { $0 == "+" ? "-" : $0 == "/" ? "." : $0 }.filter { $0 != "=" }
    let text = "\(textPrefix)\(characters)_\(String(random))"
    let key = APIKey(
      id: prefix + characters, name: draft.name, scopes: draft.scopes, namespace: draft.namespace ?? namespace,
      requestsPerMinute: draft.requestsPerMinute, createdAt: now, digest: digest(of: text))
    return (key, text)
  }

  /// The id of the key with that text; nil for a text that is not a key.
  static func id(in text: String) -> String? {
    guard text.hasPrefix(textPrefix) else { return nil }
    let rest = text.utf8.dropFirst(textPrefix.utf8.count)
    guard rest.count > idLength + 1, rest.dropFirst(idLength).first == UInt8(ascii: "_") else { return nil }
    return prefix + String(decoding: rest.prefix(idLength), as: UTF8.self)
  }

  /// Whether a text is this key; the time does not depend on how much of it is right.
  func matches(_ text: String) -> Bool { Self.areEqual(digest, Self.digest(of: text)) }

  static func digest(of text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { SHA256Digest.of(UnsafeRawBufferPointer($0)) }
  }

  static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }

  /// Whether it has the scope.
  func grants(_ scope: APIScope) -> Bool { scopes.contains(scope) || scopes.contains(.admin) }
}

extension APIKey {
  private init(
    id: String, name: String, scopes: Set<APIScope>, namespace: Namespace, requestsPerMinute: Int?,
    createdAt: Timestamp, digest: [UInt8]
  ) {
    self.namespace = namespace
    self.id = id
    self.name = name
    self.scopes = scopes
    self.requestsPerMinute = requestsPerMinute
    self.createdAt = createdAt
    self.digest = digest
  }

  /// Writes it as people see it.
  ///
  /// - Parameter text: The text of the key, right after it was made; it is shown only this once.
  func write(to writer: inout JSONWriter, text: String? = nil) {
    writer.beginObject()
    writeCommon(to: &writer)
    writer.field("revokedAt", revokedAt)
    if let text { writer.field("key", text) }
    writer.endObject()
  }

  private func writeCommon(to writer: inout JSONWriter) {
    writer.field("id", id)
    writer.field("name", name)
    writer.field("namespace", namespace.name)
    writer.key("scopes")
    writer.beginArray()
    for scope in APIScope.allCases where scopes.contains(scope) { writer.string(scope.rawValue) }
    writer.endArray()
    writer.key("requestsPerMinute")
    if let requestsPerMinute { writer.integer(Int64(requestsPerMinute)) } else { writer.null() }
    writer.field("createdAt", createdAt)
  }

  /// Its form in the store.
  var document: StoredDocument {
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    writeCommon(to: &writer)
    if let revokedAt { writer.field("revokedAt", revokedAt) }
    writer.field("digest", Base64.encode(digest))
    writer.endObject()
    return StoredDocument(.apiKey, id: id, writer.bytes)
  }

  /// Reads the form in the store; nil if it is damaged.
  init?(document: [UInt8]) {
    guard let fields = try? DocumentFields(document), let id = fields.text("id"), let name = fields.text("name"),
      let createdAt = fields.time("createdAt"), let digest = fields.text("digest").flatMap(Base64.decode),
      digest.count == 32,
      // Keys from before there were namespaces have no namespace.
      let namespace = Namespace(fields.text("namespace") ?? Namespace.default.name)
    else { return nil }
    self.init(
      id: id, name: name, scopes: Set(fields.texts("scopes").compactMap(APIScope.init)), namespace: namespace,
      requestsPerMinute: fields.integer("requestsPerMinute"), createdAt: createdAt, digest: digest)
    revokedAt = fields.time("revokedAt")
  }
}
