public import RedialModel

/// Small data of the service that it reads completely at its start: each a document with an id.
public protocol DocumentStore: AnyObject {
  /// All documents of a kind, by id.
  func documents(_ kind: DocumentKind) throws(StoreError) -> [(id: String, content: [UInt8])]

  /// Stores a document in place of the one with that id; it is on disk on return.
  func putDocument(_ kind: DocumentKind, id: String, _ content: [UInt8]) throws(StoreError)

  /// Removes a document, if it exists.
  func removeDocument(_ kind: DocumentKind, id: String) throws(StoreError)

  /// Makes changes of the service itself, such as policies and bulk operations; all of them are on disk on return, or
  /// none is made. They are not part of the sequence of ``CallStore/submit(_:as:)``.
  func commit(_ writes: [StoreWrite]) throws(StoreError)
}

/// The store of a service: calls, and the documents of the service itself.
public typealias ServiceStore = CallStore & DocumentStore

/// The kind of a document. The names are the store's.
public enum DocumentKind: String, Sendable, CaseIterable {
  /// Webhook endpoints.
  case webhookEndpoint
  /// API keys.
  case apiKey
}
