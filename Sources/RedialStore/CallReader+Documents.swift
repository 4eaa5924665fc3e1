internal import RedialJSON
package import RedialModel

extension CallReader {
  /// All stored versions of all policies, by name, the newest last; one without a text is a removal.
  ///
  /// - Throws: `corrupt` if one cannot be read.
  package func policies() throws(StoreError) -> [StoredPolicy] {
    try documents(.policy) { content throws(JSONError) in try StoredPolicy(content) }
      .sorted { ($0.key, $0.version) < ($1.key, $1.version) }
  }

  /// All stored bulk operations, the oldest first.
  ///
  /// - Throws: `corrupt` if one cannot be read.
  package func operations() throws(StoreError) -> [BulkOperation] {
    try documents(.operation) { content throws(JSONError) in try BulkOperation(content) }.sorted { $0.id < $1.id }
  }

  /// What targets hide of their calls by their own settings. One that cannot be read hides everything.
  package func privacies() throws(StoreError) -> [TargetKey: TargetOverrides] {
    let all = try documents(.targetPrivacy).map { (TargetKey(qualified: $0.id), TargetOverrides(privacy: $0)) }
    return Dictionary(all) { first, _ in first }
  }

  /// The stored records of a kind. One that cannot be read hides no other.
  package func readable<Record: StoredRecord>(
    _ kind: StoredDocument.Kind, as type: Record.Type
  ) throws(StoreError) -> [Record] {
    try documents(kind).compactMap { Record(document: $0.content) }
  }

  private func documents<Value>(
    _ kind: StoredDocument.Kind, _ read: (UnsafeBufferPointer<UInt8>) throws(JSONError) -> Value
  ) throws(StoreError) -> [Value] {
    try documents(kind).map { document throws(StoreError) in
      do throws(JSONError) {
        return try document.content.withUnsafeBufferPointer(read)
      } catch {
        throw StoreError(
          kind: .corrupt,
          message:
            "The \(kind.rawValue) \(document.id) in the store cannot be read: "
            + "\(document.content.withUnsafeBufferPointer { error.clause(in: $0) }). Restore the store from a backup.")
      }
    }
  }
}
