internal import Glibc
internal import RedialModel
internal import RedialStore

/// The data keys in a database.
enum StoredDataKeys {
  private static let insert = PostgresQuery(
    "insert_data_key", "store a data key",
    """
    INSERT INTO documents (kind, id, content, sum) VALUES ($1::text, $2::text, $3::bytea, $4::int8)
    ON CONFLICT (kind, id) DO NOTHING
    """)

  /// How many seconds the database may be away meanwhile.
  private static let patience = 5

  /// Lets a vault open the database's values, on a connection of its own when a value names a key that is not known.
  static func prepare(_ settings: PostgresSettings) {
    if settings.vault === Vault.none { return }
    settings.vault.read { [plain = settings.without()] () throws(StoreError) in
      let side = SideConnection(plain)
      defer { side.close() }
      // Whoever asks has just read a value. Without its key it would have to leave the value where it is.
      for _ in 0..<patience {
        if let keys = try? all(side) { return keys }
        sleep(1)
      }
      return try all(side)
    }
  }

  /// The same, and throws if the database's keys cannot be unwrapped.
  static func load(_ settings: PostgresSettings, _ connection: PostgresConnection) throws(StoreError) {
    let rows: PostgresRows
    do throws(PostgresFailure) {
      rows = try connection.run([StoredDocument.findAll(.dataKey)], within: settings.answerTimeout)[0]
    } catch {
      throw error.error(at: settings.place)
    }
    try settings.vault.load(settings.vault.opened(all: StoredDocument.all(.dataKey, stored: rows)))
    prepare(settings)
  }

  /// All of them.
  static func all(_ side: SideConnection) throws(StoreError) -> [StoredDocument] {
    try StoredDocument.all(.dataKey, in: try side.run([StoredDocument.findAll(.dataKey)])[0])
  }

  private static let change = PostgresQuery(
    "replace_data_key", "change a data key",
    "UPDATE documents SET content = $3::bytea, sum = $4::int8 WHERE kind = $1::text AND id = $2::text")

  private static let wrap = PostgresQuery(
    "wrap_data_key", "wrap a data key again",
    """
    UPDATE documents SET content = $3::bytea, sum = $4::int8 WHERE kind = $1::text AND id = $2::text AND content = $5::bytea
    """)

  /// Stores data keys that another key wraps now, except for those that somebody has changed since they were read.
  static func rewrap(_ keys: [StoredDocument], in read: [StoredDocument], _ side: SideConnection) throws(StoreError) {
    for key in keys {
      guard let old = read.first(where: { $0.id == key.id }) else { continue }
      var statement = key.statement(wrap)
      statement.add(bytes: old.content)
      _ = try side.run([statement])
    }
  }

  /// The statements that change data keys, in the order in which the proofs of others lock them.
  static func changes(_ keys: [StoredDocument]) -> [PostgresStatement] {
    keys.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }.map { $0.statement(change) }
  }

  /// A transaction that has this can be made only while its data keys are in use. Whoever replaces or erases one waits for
  /// the end of such transactions; a later one finds the key as it is then.
  private static let proof = PostgresQuery(
    "prove_data_keys", "encrypt by the newest data keys", check: .dataKeys,
    """
    WITH k AS (SELECT 1 FROM documents WHERE kind = 'dataKey' AND id = ANY($1::text[])
        AND convert_from(content, 'UTF8') !~ '"(replaced|erased)At":' ORDER BY id COLLATE "C" FOR SHARE)
    SELECT 1 / (CASE WHEN count(*) = cardinality($1::text[]) THEN 1 ELSE 0 END) FROM k
    """)

  /// The proof for data keys, which must have been the newest before anything was sealed for the transaction; none for none.
  static func proof(_ keys: [String]) -> [PostgresStatement] {
    guard !keys.isEmpty else { return [] }
    var statement = PostgresStatement(proof)
    statement.add(texts: keys)
    return [statement]
  }

  /// How often something is sealed, if the keys are replaced each time.
  private static let mostTries = 5

  /// Stores what is sealed; once more if its data keys were replaced or erased meanwhile.
  ///
  /// - Parameters:
  ///   - names: Namespaces, or the service, in whose name something is sealed.
  ///   - body: Seals, and makes a transaction that has the given proof.
  static func using<Result>(
    _ names: Set<String>, _ side: SideConnection,
    _ body: (_ proof: [PostgresStatement]) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let vault = side.settings.vault
    var tries = 0
    while true {
      try ensure(names, side)
      let keys = vault.currentKeys(of: names)
      do throws(StoreError) {
        return try body(proof(keys))
      } catch {
        tries += 1
        guard error.kind == .unavailable, !keys.isEmpty, tries < mostTries else { throw error }
        try vault.readAgain()
        guard vault.currentKeys(of: names) != keys else { throw error }
      }
    }
  }

  /// Stores a data key for each namespace that has none, or takes the one that another instance has stored.
  static func ensure(_ names: Set<String>, _ side: SideConnection) throws(StoreError) {
    let vault = side.settings.vault
    for name in names {
      guard let key = try vault.newKey(of: name) else { continue }
      // Not in one transaction: the key may be another's, which was written after this one began.
      _ = try side.run([key.statement(insert), ServiceStatements.raise([.dataKey])])
      try vault.load(try all(side))
      // Throws if it is another's, which cannot be unwrapped here.
      _ = try vault.newKey(of: name)
    }
  }
}
