internal import CCrypto
internal import RedialCore
internal import RedialModel
internal import RedialJSON

/// An API key. Only its owner knows the text; the store keeps its SHA-256, which is useless to anybody who cannot guess
/// 256 random bits.
struct APIKey: Sendable, Equatable {
  private(set) var id = ""
  private(set) var name = ""
  private(set) var scopes: Set<APIScope> = []
  /// The namespace in which it acts.
  private(set) var namespace = Namespace.default
  /// Maximum requests per minute; nil for no limit.
  private(set) var quota: Int?
  private(set) var createdAt = Timestamp.epoch
  var revokedAt: Timestamp?
  fileprivate var digest = Digest()

  /// The SHA-256 of its text.
  fileprivate struct Digest: Sendable {
    var bytes: [UInt8] = []
  }

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
    var key = APIKey()
    (key.id, key.name, key.scopes) = (prefix + characters, draft.name, draft.scopes)
    (key.namespace, key.quota) = (draft.namespace ?? namespace, draft.quota)
    (key.createdAt, key.digest.bytes) = (now, digest(of: text))
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
  func matches(_ text: String) -> Bool { Self.areEqual(digest.bytes, Self.digest(of: text)) }

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
  /// Writes it as people see it.
  ///
  /// - Parameter text: The text of the key, right after it was made; it is shown only this once.
  func show(_ text: String? = nil, on writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id)
    writer.field("name", name)
    writer.field("namespace", namespace.name)
    writer.key("scopes")
    scopes.save(to: &writer)
    writer.key("quota")
    quota.save(to: &writer)
    writer.field("createdAt", createdAt)
    writer.field("revokedAt", revokedAt)
    if let text { writer.field("key", text) }
    writer.endObject()
  }

  /// It as the store has it.
  var document: StoredDocument { StoredDocument(.apiKey, id: id, bytes) }
}

extension APIKey: StoredRecord {
  var isComplete: Bool { !id.isEmpty && !digest.bytes.isEmpty }

  static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout APIKey
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("name", &record.name)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("scopes", &record.scopes)
    try visitor.visit("quota", formerly: "requestsPerMinute", &record.quota)
    try visitor.visit("createdAt", &record.createdAt)
    try visitor.visit("revokedAt", &record.revokedAt)
    try visitor.visit("digest", &record.digest)
  }
}

/// In base 64.
extension APIKey.Digest: FieldValue {
  static var unset: Self { Self() }
  func save(to writer: inout JSONWriter) { writer.string(Base64.encode(bytes)) }
  static func read(_ reader: inout JSONReader) throws(JSONError) -> Self {
    let start = reader.offset
    guard let bytes = Base64.decode(try reader.string()), bytes.count == 32 else {
      throw JSONError(offset: start, reason: "the digest of a key has 32 bytes")
    }
    return Self(bytes: bytes)
  }
}
