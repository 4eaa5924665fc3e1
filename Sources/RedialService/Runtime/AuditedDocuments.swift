internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// The documents of a store, for one change that the audit log records: in the same transaction, if it is a commit.
final class AuditedDocuments: DocumentStore {
  private let base: any DocumentStore
  private let note: AuditNote
  private let log: AuditLog
  private let redaction: Redaction

  init(_ base: any DocumentStore, _ note: AuditNote, _ log: AuditLog, _ redaction: Redaction) {
    (self.base, self.note, self.log, self.redaction) = (base, note, log, redaction)
  }

  func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] { try base.documents(kind) }

  func document(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> [UInt8]? {
    try base.document(kind, id: id)
  }

  func removeDocuments(_ kind: StoredDocument.Kind, below id: String, keeping most: Int) throws(StoreError) -> Int {
    try base.removeDocuments(kind, below: id, keeping: most)
  }

  func commit(_ writes: [StoreWrite]) throws(StoreError) {
    guard let subject = Self.subject(of: writes) else { return try base.commit(writes) }
    let before = try predecessor(subject.kind, subject.id)
    // Nothing has changed, such as when a revoked key is revoked.
    if case .known(let before) = before, before == subject.content { return try base.commit(writes) }
    let record = record(subject.kind, before.content, subject.content)
    try base.commit(writes + (record.map { [.add($0.document)] } ?? []))
  }

  func addSecret(_ document: StoredDocument) throws(StoreError) {
    try recording(of: document.id) { () throws(StoreError) in
      try base.addSecret(document)
      return record(document.kind, nil, document.content)
    }
  }

  func replaceDocument(
    _ kind: StoredDocument.Kind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool {
    var isReplaced = false
    try recording(of: id) { () throws(StoreError) in
      isReplaced = try base.replaceDocument(kind, id: id, old, with: new)
      return isReplaced ? record(kind, old, new) : nil
    }
    return isReplaced
  }

  /// Makes a change between the two commits of its record: a process that dies meanwhile leaves the first.
  ///
  /// - Parameter id: What is new has no name in the request.
  private func recording(of id: String, _ change: () throws(StoreError) -> AuditRecord?) throws(StoreError) {
    let begun = note.begin { draft in
      var draft = draft
      if draft.object.isEmpty { draft.object = id }
      return log.completed(draft)
    }
    if let begun { try base.commit([.add(begun.document)]) }
    do throws(StoreError) {
      log.end(note, try change(), in: base)
    } catch {
      // In doubt it stays.
      if error.kind != .outcomeUnknown { log.end(note, nil, in: base) }
      throw error
    }
  }

  /// The document that a change is about: what is stored, or else what is removed. Others make room for it.
  private static func subject(
    of writes: [StoreWrite]
  ) -> (kind: StoredDocument.Kind, id: String, content: [UInt8]?)? {
    var removed: (kind: StoredDocument.Kind, id: String, content: [UInt8]?)?
    for write in writes {
      switch write {
      case .put(let document), .add(let document): return (document.kind, document.id, document.content)
      case .remove(let kind, let id): removed = removed ?? (kind, id, nil)
      default: break
      }
    }
    return removed
  }

  /// A document before its change.
  private enum Predecessor {
    /// Nil for none.
    case known([UInt8]?)
    /// It cannot be read, and is removed, or another one is put in its place.
    case unreadable

    var content: [UInt8]? { if case .known(let content) = self { content } else { nil } }
  }

  /// The document as it was; of a policy, its version before.
  private func predecessor(_ kind: StoredDocument.Kind, _ id: String) throws(StoreError) -> Predecessor {
    guard kind == .policy else { return try stored(kind, id: id) }
    guard let end = id.lastIndex(of: "@"), let version = Int(id[id.index(after: end)...]) else { return .known(nil) }
    return try stored(kind, id: "\(id[..<end])@\(version - 1)")
  }

  private func stored(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> Predecessor {
    do throws(StoreError) {
      return .known(try base.document(kind, id: id))
    } catch {
      guard error.kind == .corrupt else { throw error }
      return .unreadable
    }
  }

  private func record(_ kind: StoredDocument.Kind, _ before: [UInt8]?, _ after: [UInt8]?) -> AuditRecord? {
    let shown = { self.shown(kind, $0) }
    return note.take(before: before.flatMap(shown), after: after.flatMap(shown)).map(log.completed)
  }

  /// A document as people see it, without its secrets; nil for one that stands for a removal.
  private func shown(_ kind: StoredDocument.Kind, _ content: [UInt8]) -> [UInt8]? {
    var writer = JSONWriter(capacity: 512)
    switch kind {
    case .apiKey:
      guard let key = APIKey(document: content) else { return nil }
      key.show(on: &writer)
    case .webhookEndpoint:
      guard let endpoint = WebhookEndpoint(document: content) else { return nil }
      endpoint.write(redaction, to: &writer, now: .epoch)
    case .alert:
      guard let alert = Alert(document: content) else { return nil }
      alert.write(problem: nil, at: .epoch, to: &writer)
    case .policy:
      guard let policy = content.withUnsafeBufferPointer({ try? StoredPolicy($0) }), !policy.json.isEmpty else {
        return nil
      }
      writer.beginObject()
      writer.field("version", policy.version)
      writer.key("policy")
      writer.raw(policy.json)
      writer.endObject()
    case .operation:
      guard let operation = content.withUnsafeBufferPointer({ try? BulkOperation($0) }) else { return nil }
      operation.write(to: &writer)
    case .credential:
      guard let credential = Credential(document: content) else { return nil }
      writer.beginObject()
      credential.writeMembers(to: &writer)
      writer.endObject()
    // These have no secrets.
    case .issue, .notice: return content
    case .targetPrivacy, .audit, .accessToken, .dataKey: return nil
    }
    return writer.bytes
  }
}
