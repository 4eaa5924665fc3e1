internal import HTTPServer
internal import RedialCore
package import RedialModel
internal import RedialStore
internal import RedialJSON

/// API keys in the store of a service that is not running, for the first key before it listens for other machines.
extension Service {
  /// Makes a key.
  ///
  /// - Returns: The key as JSON, with its text, which is stored nowhere.
  /// - Throws: If the store cannot be opened, for example while a service uses it.
  package static func createKey(_ settings: ServiceSettings, _ draft: APIKeyDraft) throws(StartError) -> [UInt8] {
    try withDocuments(settings) { (store, now) throws(StoreError) in
      guard let (key, text) = APIKey.make(draft, at: now) else {
        throw StoreError(kind: .unavailable, message: "The system gave no random bytes for a key.")
      }
      try store.commit([.put(key.document), record(.keyCreated, of: key, at: now)])
      var writer = JSONWriter()
      key.show(text, on: &writer)
      return writer.bytes
    }
  }

  /// Lists the keys, as the API does.
  package static func listKeys(_ settings: ServiceSettings) throws(StartError) -> [UInt8] {
    try withDocuments(settings) { (store, _) throws(StoreError) in
      let stored = try store.documents(.apiKey).read(as: APIKey.self)
      return Answer.list(stored.records, next: nil) {
        $0.show(on: &$1)
      } more: {
        Answer.write(unreadable: stored.damaged, to: &$0)
      }.body
    }
  }

  /// Revokes a key; nil if no key has that id.
  package static func revokeKey(_ settings: ServiceSettings, _ id: String) throws(StartError) -> [UInt8]? {
    try withDocuments(settings) { (store, now) throws(StoreError) in
      let stored = try store.documents(.apiKey).read(as: APIKey.self).records
      guard var key = stored.first(where: { $0.id == id }) else { return nil }
      if key.revokedAt == nil {
        key.revokedAt = now
        try store.commit([.put(key.document), record(.keyRevoked, of: key, at: now)])
      }
      var writer = JSONWriter()
      key.show(on: &writer)
      return writer.bytes
    }
  }

  private static func record(_ action: AuditAction, of key: APIKey, at now: Timestamp) -> StoreWrite {
    var writer = JSONWriter(capacity: 256)
    key.show(on: &writer)
    var record = AuditRecord.ofCommand(action, key.id, in: key.namespace, at: now)
    record.after = RawJSON(writer.bytes)
    return .add(record.document)
  }

  private static func withDocuments<Result>(
    _ settings: ServiceSettings, _ body: (any DocumentStore, Timestamp) throws(StoreError) -> Result
  ) throws(StartError) -> Result {
    try settings.withDocuments { store throws(StoreError) in try body(store, Clock.wallTime()) }
  }
}
