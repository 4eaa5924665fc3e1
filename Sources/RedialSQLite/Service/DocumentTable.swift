package import RedialModel
internal import RedialStore

struct DocumentTable {
  private let connection: SQLiteConnection
  private let select: SQLiteStatement
  private let find: SQLiteStatement
  private let replace: SQLiteStatement
  private let upsert: SQLiteStatement
  private let insert: SQLiteStatement
  private let delete: SQLiteStatement
  private let page: SQLiteStatement
  private let floor: SQLiteStatement
  private let deleteBelow: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    find = try connection.prepare(
      "read a document of the service", "SELECT content, sum FROM documents WHERE kind = ?1 AND id = ?2")
    replace = try connection.prepare(
      "change a document of the service",
      "UPDATE documents SET content = ?4, sum = ?5 WHERE kind = ?1 AND id = ?2 AND content = ?3")
    select = try connection.prepare(
      "read the service's documents", "SELECT id, content, sum FROM documents WHERE kind = ?1 ORDER BY id")
    upsert = try connection.prepare(
      "store a document of the service",
      """
      INSERT INTO documents (kind, id, content, sum) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (kind, id) DO UPDATE SET content = excluded.content, sum = excluded.sum
      """)
    insert = try connection.prepare(
      "store a new document of the service", "INSERT INTO documents (kind, id, content, sum) VALUES (?1, ?2, ?3, ?4)")
    delete = try connection.prepare(
      "remove a document of the service", "DELETE FROM documents WHERE kind = ?1 AND id = ?2")
    page = try connection.prepare(
      "read some of the service's documents",
      "SELECT id, content, sum FROM documents WHERE kind = ?1 AND id >= ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4")
    floor = try connection.prepare(
      "find old documents of the service",
      "SELECT id FROM documents WHERE kind = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2")
    deleteBelow = try connection.prepare(
      "remove old documents of the service", "DELETE FROM documents WHERE kind = ?1 AND id < ?2")
  }

  /// All documents of a kind, by id. One that cannot be read is empty.
  func all(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try connection.vault.opened(all: stored(kind))
  }

  /// Those of a kind that can be opened.
  func readable(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try stored(kind).intact.compactMap { try? connection.vault.opened($0) }
  }

  /// Those of a kind that are not sealed.
  func exposed(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try stored(kind).intact.filter { $0.content.first != SealedForm.marker }
  }

  /// Those of a kind as they are stored.
  private func stored(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument.Row] {
    select.bind(1, text: kind.rawValue)
    return try select.rows { row throws(StoreError) in Self.row(kind, row) }
  }

  private static func row(_ kind: StoredDocument.Kind, _ row: SQLiteStatement) -> StoredDocument.Row {
    StoredDocument.Row(StoredDocument(kind, id: row.text(0), row.bytes(1)), sum: row.integerIfPresent(2))
  }

  /// Whether more than secrets is sealed.
  func hasSealedPayloads() throws(StoreError) -> Bool {
    let others = StoredDocument.Kind.allCases.filter { !$0.isSecret && $0 != .dataKey }.map { "'\($0.rawValue)'" }
    return try connection.value(
      "look for what is encrypted",
      """
      SELECT EXISTS (SELECT 1 FROM requests WHERE substr(spec, 1, 1) = x'F5')
        OR EXISTS (SELECT 1 FROM documents WHERE kind IN (\(others.joined(separator: ", "))) AND substr(content, 1, 1) = x'F5')
      """
    ) { $0.integer(0) != 0 } ?? false
  }

  /// Some of a kind, those with the highest ids first.
  func some(_ kind: StoredDocument.Kind, in ids: Range<String>, limit: Int) throws(StoreError) -> [StoredDocument] {
    page.bind(1, text: kind.rawValue)
    page.bind(2, text: ids.lowerBound)
    page.bind(3, text: ids.upperBound)
    page.bind(4, Int64(limit))
    return try connection.vault.opened(
      all: page.rows { row throws(StoreError) in Self.row(kind, row) })
  }

  /// Removes those of a kind with ids below one, and more until so many are left; returns how many were removed.
  func remove(_ kind: StoredDocument.Kind, below id: String, keeping most: Int) throws(StoreError) -> Int {
    var lowestKept: String?
    if most < .max {
      floor.bind(1, text: kind.rawValue)
      floor.bind(2, Int64(most - 1))
      lowestKept = try floor.rows { row throws(StoreError) in row.text(0) }.first
    }
    deleteBelow.bind(1, text: kind.rawValue)
    deleteBelow.bind(2, text: max(id, lowestKept ?? ""))
    try deleteBelow.run()
    return Int(connection.changes)
  }

  func one(_ kind: StoredDocument.Kind, _ id: String) throws(StoreError) -> [UInt8]? {
    guard let stored = try stored(kind, id) else { return nil }
    return try connection.vault.opened(stored).content
  }

  private func stored(_ kind: StoredDocument.Kind, _ id: String) throws(StoreError) -> StoredDocument? {
    find.bind(1, text: kind.rawValue)
    find.bind(2, text: id)
    let row = try find.first { row throws(StoreError) in
      StoredDocument.Row(StoredDocument(kind, id: id, row.bytes(0)), sum: row.integerIfPresent(1))
    }
    return try row?.checked()
  }

  func replace(_ kind: StoredDocument.Kind, _ id: String, _ old: [UInt8], with new: [UInt8]) throws(StoreError) -> Bool
  {
    // The sealed form of the same content differs each time.
    guard let known = try stored(kind, id), try connection.vault.opened(known).content == old else { return false }
    let document = try sealed(StoredDocument(kind, id: id, new))
    replace.bind(1, text: kind.rawValue)
    replace.bind(2, text: id)
    try known.content.withUnsafeBufferPointer { old throws(StoreError) in
      try document.content.withUnsafeBufferPointer { new throws(StoreError) in
        replace.bind(3, bytes: old)
        replace.bind(4, bytes: new)
        replace.bind(5, document.checksum.column)
        try replace.run()
      }
    }
    return connection.changes == 1
  }

  /// Stores a document.
  ///
  /// - Parameter isNew: Whether none may have its id.
  func put(_ document: StoredDocument, isNew: Bool) throws(StoreError) {
    let statement = isNew ? insert : upsert
    let document = try sealed(document)
    statement.bind(1, text: document.kind.rawValue)
    statement.bind(2, text: document.id)
    statement.bind(4, document.checksum.column)
    try document.content.withUnsafeBufferPointer { bytes throws(StoreError) in
      statement.bind(3, bytes: bytes)
      try statement.run()
    }
  }

  private func sealed(_ document: StoredDocument) throws(StoreError) -> StoredDocument {
    if document.kind.isNeverPlain { try connection.vault.check(document) }
    if connection.vault.seals(document.kind) { try ensureKey(of: Vault.service) }
    return connection.vault.sealed(document)
  }

  /// Stores a data key for a namespace, or for the service, if it has none. Within a transaction.
  func ensureKey(of namespace: String) throws(StoreError) {
    guard let key = try connection.vault.newKey(of: namespace) else { return }
    // Another process on the same file may have stored one.
    if try stored(.dataKey, key.id) != nil {
      try connection.vault.load(all(.dataKey))
      return
    }
    try put(key, isNew: true)
    try connection.vault.add(key)
  }

  func remove(_ kind: StoredDocument.Kind, _ id: String) throws(StoreError) {
    delete.bind(1, text: kind.rawValue)
    delete.bind(2, text: id)
    try delete.run()
  }
}

extension SQLiteStore: DocumentStore {
  /// All documents of a kind, by id.
  package func documents(_ kind: StoredDocument.Kind) throws(StoreError) -> [StoredDocument] {
    try service.documents.all(kind)
  }

  /// The document with an id; nil if there is none.
  package func document(_ kind: StoredDocument.Kind, id: String) throws(StoreError) -> [UInt8]? {
    try service.documents.one(kind, id)
  }

  package func removeDocuments(
    _ kind: StoredDocument.Kind, below id: String, keeping most: Int
  ) throws(StoreError) -> Int {
    try transaction { () throws(StoreError) in try service.documents.remove(kind, below: id, keeping: most) }
  }

  /// Stores a document in place of the one with that id, if that is still as it was read.
  package func replaceDocument(
    _ kind: StoredDocument.Kind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool {
    var isReplaced = false
    try transaction { () throws(StoreError) in isReplaced = try service.documents.replace(kind, id, old, with: new) }
    return isReplaced
  }
}
