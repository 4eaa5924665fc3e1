public import RedialStore

/// The documents.
struct DocumentTable {
  private let connection: SQLiteConnection
  private let select: SQLiteStatement
  private let find: SQLiteStatement
  private let replace: SQLiteStatement
  private let upsert: SQLiteStatement
  private let delete: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    find = try connection.prepare(
      "read a document of the service", "SELECT content FROM documents WHERE kind = ?1 AND id = ?2")
    replace = try connection.prepare(
      "change a document of the service",
      "UPDATE documents SET content = ?4 WHERE kind = ?1 AND id = ?2 AND content = ?3")
    select = try connection.prepare(
      "read the service's documents", "SELECT id, content FROM documents WHERE kind = ?1 ORDER BY id")
    upsert = try connection.prepare(
      "store a document of the service",
      """
      INSERT INTO documents (kind, id, content) VALUES (?1, ?2, ?3)
      ON CONFLICT (kind, id) DO UPDATE SET content = excluded.content
      """)
    delete = try connection.prepare(
      "remove a document of the service", "DELETE FROM documents WHERE kind = ?1 AND id = ?2")
  }

  func all(_ kind: DocumentKind) throws(StoreError) -> [(id: String, content: [UInt8])] {
    select.bind(1, text: kind.rawValue)
    return try select.rows { row throws(StoreError) in (row.text(0), row.bytes(1)) }
  }

  func one(_ kind: DocumentKind, _ id: String) throws(StoreError) -> [UInt8]? {
    find.bind(1, text: kind.rawValue)
    find.bind(2, text: id)
    return try find.rows { row throws(StoreError) in row.bytes(0) }.first
  }

  func replace(_ kind: DocumentKind, _ id: String, _ old: [UInt8], with new: [UInt8]) throws(StoreError) -> Bool {
    replace.bind(1, text: kind.rawValue)
    replace.bind(2, text: id)
    try old.withUnsafeBufferPointer { old throws(StoreError) in
      try new.withUnsafeBufferPointer { new throws(StoreError) in
        replace.bind(3, bytes: old)
        replace.bind(4, bytes: new)
        try replace.run()
      }
    }
    return connection.changes == 1
  }

  func put(_ kind: DocumentKind, _ id: String, _ content: [UInt8]) throws(StoreError) {
    upsert.bind(1, text: kind.rawValue)
    upsert.bind(2, text: id)
    try content.withUnsafeBufferPointer { bytes throws(StoreError) in
      upsert.bind(3, bytes: bytes)
      try upsert.run()
    }
  }

  func remove(_ kind: DocumentKind, _ id: String) throws(StoreError) {
    delete.bind(1, text: kind.rawValue)
    delete.bind(2, text: id)
    try delete.run()
  }
}

extension SQLiteStore: DocumentStore {
  /// All documents of a kind, by id.
  public func documents(_ kind: DocumentKind) throws(StoreError) -> [(id: String, content: [UInt8])] {
    try service.documents(kind)
  }

  /// The document with an id; nil if there is none.
  public func document(_ kind: DocumentKind, id: String) throws(StoreError) -> [UInt8]? {
    try service.document(kind, id)
  }

  /// Stores a document in place of the one with that id, if that is still as it was read.
  public func replaceDocument(
    _ kind: DocumentKind, id: String, _ old: [UInt8], with new: [UInt8]
  ) throws(StoreError) -> Bool {
    var isReplaced = false
    try transaction { () throws(StoreError) in isReplaced = try service.replace(kind, id, old, with: new) }
    return isReplaced
  }

  /// Stores a document in place of the one with that id.
  public func putDocument(_ kind: DocumentKind, id: String, _ content: [UInt8]) throws(StoreError) {
    try transaction { () throws(StoreError) in try service.put(kind, id, content) }
  }

  /// Removes a document, if it exists.
  public func removeDocument(_ kind: DocumentKind, id: String) throws(StoreError) {
    try transaction { () throws(StoreError) in try service.remove(kind, id) }
  }
}
