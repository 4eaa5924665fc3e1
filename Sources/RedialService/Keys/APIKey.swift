internal import CCrypto
internal import RedialCore
internal import RedialModel

/// One who may use the API. What it shows is known to its holder alone: kept is the SHA-256 of it, which is as good as
/// the key only to somebody who can guess 256 random bits.
struct APIKey: Sendable {
  let id: String
  let name: String
  let scopes: Set<APIScope>
  /// The namespace that it acts in.
  let namespace: Namespace
  /// Requests a minute; nil for no bound.
  let requestsPerMinute: Int?
  let createdAt: Timestamp
  var revokedAt: Timestamp?
  private let digest: [UInt8]

  /// What the ids of keys begin with.
  static let prefix = "key_"
  /// What keys begin with, so that scanners for leaked secrets can find them.
  static let textPrefix = "rdl_"
  private static let idLength = 13

  /// Makes a key.
  ///
  /// - Returns: Nil when the system has no random bytes to give.
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

  /// The id of the key that a text would be; nil for a text that is none.
  static func id(in text: String) -> String? {
    guard text.hasPrefix(textPrefix) else { return nil }
    let rest = text.utf8.dropFirst(textPrefix.utf8.count)
    guard rest.count > idLength + 1, rest.dropFirst(idLength).first == UInt8(ascii: "_") else { return nil }
    return prefix + String(decoding: rest.prefix(idLength), as: UTF8.self)
  }

  /// Whether a text is this key; in a time that does not depend on how far it is right.
  func matches(_ text: String) -> Bool { Self.areEqual(digest, Self.digest(of: text)) }

  static func digest(of text: String) -> [UInt8] {
    var text = text
    return text.withUTF8 { SHA256Digest.of(UnsafeRawBufferPointer($0)) }
  }

  static func areEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }

  /// Whether it allows this.
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
  /// - Parameter text: The key itself, right after it was made; it is shown this once.
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

  /// What the store keeps.
  var document: [UInt8] {
    var writer = JSONWriter(capacity: 256)
    writer.beginObject()
    writeCommon(to: &writer)
    if let revokedAt { writer.field("revokedAt", revokedAt) }
    writer.field("digest", Base64.encode(digest))
    writer.endObject()
    return writer.bytes
  }

  /// Reads what the store keeps; nil when it is damaged.
  init?(document: [UInt8]) {
    guard let fields = try? DocumentFields(document), let id = fields.text("id"), let name = fields.text("name"),
      let createdAt = fields.time("createdAt"), let digest = fields.text("digest").flatMap(Base64.decode),
      digest.count == 32,
      // Keys that were made before there were namespaces do not say.
      let namespace = Namespace(fields.text("namespace") ?? Namespace.default.name)
    else { return nil }
    self.init(
      id: id, name: name, scopes: Set(fields.texts("scopes").compactMap(APIScope.init)), namespace: namespace,
      requestsPerMinute: fields.integer("requestsPerMinute"), createdAt: createdAt, digest: digest)
    revokedAt = fields.time("revokedAt")
  }
}
