internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Finds the documents of the store that cannot be read, and tells each of them once. The service goes on without them.
final class DamagedDocuments: Sendable {
  private let known = Mutex<[StoredDocument.Kind: Set<String>]>([:])
  private let log: Log

  /// The kinds that are looked for. Records of the audit log are many, tokens are fetched again, and data keys are found with
  /// what they have encrypted.
  static let kinds = Set(StoredDocument.Kind.allCases).subtracting([.audit, .accessToken, .dataKey])

  /// - Parameter log: Gets a line for each.
  init(_ log: Log) { self.log = log }

  /// Looks for those of some kinds, which may have changed.
  func look(for kinds: Set<StoredDocument.Kind>, in store: any DocumentStore) throws(StoreError) {
    for kind in Self.kinds.intersection(kinds) {
      let damaged = Set(try store.documents(kind).filter { DocumentForms.ofService.fault($0) != nil }.map(\.id))
      let new = known.withLock { known in
        defer { known[kind] = damaged }
        return damaged.subtracting(known[kind] ?? [])
      }
      tell(new.sorted(), of: kind)
    }
  }

  /// Logs a line for each of these.
  func tell(_ ids: [String], of kind: StoredDocument.Kind) {
    for id in ids {
      log.write(
        .error, "documentDamaged",
        [
          ("kind", kind.rawValue), ("id", id),
          ("meaning", "it cannot be read, and is left out; redial doctor says why. Set it again, or restore a backup"),
        ])
    }
  }
}
