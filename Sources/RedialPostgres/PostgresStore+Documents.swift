internal import RedialCore
package import RedialModel
internal import RedialStore
internal import Synchronization

extension PostgresStore: DocumentStore {
  private static let upsertSetting = PostgresQuery(
    "upsert_setting", "store a setting",
    """
    INSERT INTO settings (name, value) VALUES ($1::text, $2::text)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
    """)
  private static let findDocument = PostgresQuery(
    "find_document", "read a document of the service",
    "SELECT content, sum FROM documents WHERE kind = $1::text AND id = $2::text")
  private static let replaceDocument = PostgresQuery(
    "replace_document", "change a document of the service",
    """
    UPDATE documents SET content = $3::bytea, sum = $4::int8
    WHERE kind = $1::text AND id = $2::text AND content = $5::bytea RETURNING 1
    """)
  /// A value of the service, stored under a name.
  package func setting(_ name: String) throws(StoreError) -> String? {
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: name)
    let rows = try side.run([find])[0]
    return rows.count == 0 ? nil : try vault.opened(setting: name, rows.text(0, 0))
  }

  /// Stores a value of the service under a name.
  package func setSetting(_ name: String, to value: String) throws(StoreError) {
    try store(value, as: name, by: Self.upsertSetting)
  }

  private static let insertSetting = PostgresQuery(
    "insert_setting", "store a setting",
    "INSERT INTO settings (name, value) VALUES ($1::text, $2::text) ON CONFLICT (name) DO NOTHING")

  /// Seals the secrets that were stored before there was a key.
  func sealSecrets() throws(StoreError) {
    for name in Vault.secrets where vault.seals(setting: name) {
      var find = PostgresStatement(ReadQueries.setting)
      find.add(text: name)
      let rows = try side.run([find])[0]
      guard rows.count == 1, !rows.text(0, 0).hasPrefix(SealedForm.textPrefix) else { continue }
      try setSetting(name, to: rows.text(0, 0))
    }
    for kind in StoredDocument.Kind.allCases where kind.isSecret && !kind.isNeverPlain && vault.seals(kind) {
      for document in StoredDocument.all(kind, stored: try side.run([StoredDocument.findAll(kind)])[0]).intact
      where document.content.first != SealedForm.marker {
        // If another instance has changed it meanwhile, that one has sealed it.
        _ = try replaceDocument(kind, id: document.id, document.content, with: document.content)
      }
    }
  }

  private func store(_ value: String, as name: String, by query: PostgresQuery) throws(StoreError) {
    try vault.check(setting: name)
    try StoredDataKeys.using(vault.seals(setting: name) ? [Vault.service] : [], side) { proof throws(StoreError) in
      var store = PostgresStatement(query)
      store.add(text: name)
      store.add(text: vault.sealed(setting: name, value))
      _ = try side.run([store] + proof)
    }
  }

  /// Stores a value of the service under a name, unless there is one; the value that is stored then.
  package func keepSetting(_ name: String, orElse value: String) throws(StoreError) -> String {
    // Not in one transaction: the value may be another's, which was written after this one began.
    try store(value, as: name, by: Self.insertSetting)
    var find = PostgresStatement(ReadQueries.setting)
    find.add(text: name)
    let rows = try side.run([find])[0]
    return rows.count == 0 ? value : try vault.opened(setting: name, rows.text(0, 0))
  }

  /// All documents of a kind, by id.
  package func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try StoredDocument.all(kind, in: try side.run([StoredDocument.findAll(kind)])[0])
  }

  /// The document with an id; nil if there is none.
  package func document(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> [UInt8]? {
    guard let stored = try stored(kind, id: id) else { return nil }
    return try vault.opened(stored).content
  }

  private func stored(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> StoredDocument? {
    var find = PostgresStatement(Self.findDocument)
    find.add(text: kind.rawValue)
    find.add(text: id)
    let rows = try side.run([find])[0]
    guard rows.count > 0 else { return nil }
    let document = StoredDocument(kind, id: id, rows.bytes(0, 0))
    return try StoredDocument.Row(document, sum: rows.integerIfPresent(0, 1)).checked()
  }

  /// Stores a document in place of the one with that id, if that is still as it was read.
  package func replaceDocument(
    _ kind: StoredDocument.Kind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool {
    defer { tellAll() }
    return try StoredDataKeys.using(vault.seals(kind) ? [Vault.service] : [], side) { proof throws(StoreError) in
      // The sealed form of the same content differs each time.
      while let stored = try stored(kind, id: id), try vault.opened(stored).content == old {
        var replace = vault.sealed(StoredDocument(kind, id: id, new)).statement(Self.replaceDocument)
        replace.add(bytes: stored.content)
        guard let rows = try side.change([replace] + proof + [ServiceStatements.raise([kind])]) else {
          return try document(kind, id: id) == new
        }
        // Otherwise it has changed meanwhile, or was only sealed by another key.
        if rows[0].count == 1 { return true }
      }
      return false
    }
  }

  private static let removeBelow = PostgresQuery(
    "remove_documents", "remove old documents of the service",
    """
    DELETE FROM documents WHERE kind = $1::text AND id < $2::text RETURNING 1
    """)
  private static let findFloor = PostgresQuery(
    "find_floor", "find old documents of the service",
    "SELECT id FROM documents WHERE kind = $1::text ORDER BY id DESC LIMIT 1 OFFSET $2::int8")

  package func removeDocuments(
    _ kind: StoredDocument.Kind, below id: String, keeping most: Int
  ) throws(StoreError) -> Int {
    var (find, remove) = (PostgresStatement(Self.findFloor), PostgresStatement(Self.removeBelow))
    var end = id
    if most < .max {
      find.add(text: kind.rawValue)
      find.add(Int64(most - 1))
      let rows = try side.run([find])[0]
      if rows.count > 0 { end = max(end, rows.text(0, 0)) }
    }
    remove.add(text: kind.rawValue)
    remove.add(text: end)
    return try side.run([remove])[0].count
  }

  /// Stores a new document; in doubt it is removed as soon as the database answers.
  package func addSecret(_ document: StoredDocument) throws(StoreError) {
    try commit([.add(document)], isWithdrawn: true)
  }

  /// Makes changes of the service itself, outside of the chain and of any lease: documents and statistics.
  ///
  /// - Throws: `outcomeUnknown` if the connection is lost meanwhile, and the database cannot be asked.
  package func commit(_ writes: [StoreWrite]) throws(StoreError) {
    try commit(writes, isWithdrawn: false)
  }

  /// - Parameter isWithdrawn: Whether new documents are removed as soon as the database answers, if it is not known whether they
  ///   were stored.
  private func commit(_ writes: [StoreWrite], isWithdrawn: Bool) throws(StoreError) {
    if writes.isEmpty { return }
    let folded = FoldedWrites(writes)
    guard folded.changes.isEmpty, folded.discarded.isEmpty, folded.keys.isEmpty else {
      throw StoreError(
        kind: .unavailable, message: "Changes of calls belong to the chain of work, and were not made. Submit them.")
    }
    let session = lane.standing.withLock { $0.session?.id } ?? 0
    defer { if folded.others.contains(where: { ServiceStatements.kind(of: $0) != nil }) { tellAll() } }
    try StoredDataKeys.using(folded.sealed(by: vault), side) { proof throws(StoreError) in
      var (folded, remedy) = (folded, [PostgresStatement]())
      if isWithdrawn {
        var stored: [StoreWrite] = []
        for case .add(let document) in writes {
          // It is removed as it was stored.
          let sealed = vault.sealed(document)
          stored.append(.add(sealed))
          remedy += [ServiceStatements.withdrawal(of: sealed), ServiceStatements.raise([sealed.kind])]
        }
        folded = FoldedWrites(stored)
      }
      var statements = try statements(folded, proof)
      for index in statements.indices { statements[index].fill(session: session, connection: 0, sequence: 0) }
      _ = try side.change(statements, inDoubt: remedy)
    }
  }

  /// Documents may have changed.
  private func tellAll() {
    heartbeat.withLock { $0 }?.tellAll()
  }
}

extension StoredDocument {
  private static let findAll = PostgresQuery(
    "find_documents", "read the service's documents",
    "SELECT id, content, sum FROM documents WHERE kind = $1::text ORDER BY id")

  private static let findSome = PostgresQuery(
    "find_some_documents", "read some of the service's documents",
    """
    SELECT id, content, sum FROM documents WHERE kind = $1::text AND id >= $2::text AND id < $3::text
    ORDER BY id DESC LIMIT $4::int8
    """)

  static func findSome(_ kind: Kind, in ids: Range<String>, limit: Int) -> PostgresStatement {
    var find = PostgresStatement(findSome)
    find.add(text: kind.rawValue)
    find.add(text: ids.lowerBound)
    find.add(text: ids.upperBound)
    find.add(Int64(limit))
    return find
  }

  static func findAll(_ kind: Kind) -> PostgresStatement {
    var find = PostgresStatement(findAll)
    find.add(text: kind.rawValue)
    return find
  }

  /// The documents of a kind in the rows of that statement. One that cannot be read is empty.
  static func all(_ kind: Kind, in rows: PostgresRows) throws(StoreError) -> [StoredDocument] {
    try rows.vault.opened(all: all(kind, stored: rows))
  }

  /// The same as they are stored.
  static func all(_ kind: Kind, stored rows: PostgresRows) -> [Row] {
    rows.map { Row(StoredDocument(kind, id: rows.text($0, 0), rows.bytes($0, 1)), sum: rows.integerIfPresent($0, 2)) }
  }

  /// A statement with the kind, the id, the content and the checksum as its parameters.
  func statement(_ query: PostgresQuery) -> PostgresStatement {
    var statement = PostgresStatement(query)
    statement.add(text: kind.rawValue)
    statement.add(text: id)
    statement.add(bytes: content)
    statement.add(checksum.column)
    return statement
  }
}
