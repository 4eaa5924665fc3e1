package import RedialModel

/// Small data of the service that it reads completely at its start: each a document with an id.
package protocol DocumentStore: AnyObject {
  /// All documents of a kind, by id.
  func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument]

  /// The document with an id; nil if there is none.
  func document(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> [UInt8]?

  /// Stores a document in place of the one with that id, if that is still as it was read; it is on disk on return.
  ///
  /// - Returns: False if it has changed or is gone; nothing is stored then.
  func replaceDocument(
    _ kind: StoredDocument.Kind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool

  /// Stores a new document of which nobody knows unless this returns, such as a key with a secret; it is on disk on return.
  ///
  /// - Throws: A `StoreError`. With `outcomeUnknown` the store removes the document again when it can be reached, if it is
  ///   there then.
  func addSecret(_ document: StoredDocument) throws(StoreError)

  /// Removes the documents of a kind with ids below one, and of the others those with the lowest ids, until so many are left.
  ///
  /// - Parameter most: `.max` for all. A number costs the more, the greater it is: they are counted.
  /// - Returns: How many were removed.
  func removeDocuments(_ kind: StoredDocument.Kind, below id: String, keeping most: Int) throws(StoreError) -> Int

  /// Makes changes of documents; all of them are on disk on return, or
  /// none is made. They are not part of the sequence of ``CallStore/submit(_:as:_:)``.
  ///
  /// - Throws: `outcomeUnknown` if the changes may have been made; with another kind they were not.
  func commit(_ writes: [StoreWrite]) throws(StoreError)
}

extension DocumentStore {
  /// Stores a new document. For stores that always know what they have stored.
  package func addSecret(_ document: StoredDocument) throws(StoreError) {
    try commit([.add(document)])
  }

  /// Changes a document as it is in the store, where another instance may have changed or removed it: neither's change is
  /// lost, and what was removed stays so.
  ///
  /// - Parameter change: Returns the new content, or nil to leave the document as it is. It is called again if the document
  ///   changes meanwhile, so it should have no effects of its own.
  /// - Returns: Whether there is such a document.
  /// - Throws: A `StoreError`, or what `change` throws.
  package func changeDocument(
    _ kind: StoredDocument.Kind, id: String, _ change: ([UInt8]) throws -> [UInt8]?
  ) throws -> Bool {
    while let old = try document(kind, id: id) {
      guard let new = try change(old) else { return true }
      // If it was not replaced, another's change was made, so all together get on.
      if try replaceDocument(kind, id: id, old, with: new) { return true }
    }
    return false
  }
}

/// The store of a service: calls, and the documents of the service itself.
package typealias ServiceStore = CallStore & DocumentStore
