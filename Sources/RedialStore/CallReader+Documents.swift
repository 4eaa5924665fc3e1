internal import RedialJSON
package import RedialModel

extension CallReader {
  /// All stored versions of all policies, by name, the newest last; one without a text is a removal, and one that cannot be
  /// read has a text that is none.
  package func policies() throws(StoreError) -> [StoredPolicy] {
    try documents(.policy)
      .compactMap { document in
        document.content.withUnsafeBufferPointer { try? StoredPolicy($0) } ?? StoredPolicy(unreadable: document.id)
      }
      .sorted { ($0.key, $0.version) < ($1.key, $1.version) }
  }

  /// All stored bulk operations, the oldest first. One that cannot be read hides no other.
  package func operations() throws(StoreError) -> [BulkOperation] {
    try documents(.operation)
      .compactMap { document in document.content.withUnsafeBufferPointer { try? BulkOperation($0) } }
      .sorted { $0.id < $1.id }
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
    try documents(kind).read(as: type).records
  }
}

extension [StoredDocument] {
  /// The records in documents, and the ids of those that cannot be read.
  package func read<Record: StoredRecord>(as type: Record.Type) -> (records: [Record], damaged: [String]) {
    var (records, damaged) = ([Record](), [String]())
    for document in self {
      if let record = Record(document: document.content) { records.append(record) } else { damaged.append(document.id) }
    }
    return (records, damaged)
  }
}
