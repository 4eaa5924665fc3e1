internal import RedialStore
internal import RedialModel

/// Namespaces: each name is stored once and has a number. The default one is 0 and is never looked up, so that a
/// service with only that one pays nothing here.
final class NamespaceTable {
  static let defaultNumber: Int64 = 0

  private let connection: SQLiteConnection
  private let select: SQLiteStatement
  private let selectAll: SQLiteStatement
  private let insert: SQLiteStatement
  private let ofCall: SQLiteStatement
  /// Numbers that were looked up. There are no more than operators have made keys for.
  private var numbers = NumberCache<Namespace>()

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    select = try connection.prepare("find a namespace", "SELECT id FROM namespaces WHERE name = ?1")
    insert = try connection.prepare("store a namespace", "INSERT INTO namespaces (name) VALUES (?1)")
    ofCall = try connection.prepare(
      "find a call's namespace", "SELECT n.name FROM calls c JOIN namespaces n ON n.id = c.namespace WHERE c.id = ?1")
    selectAll = try connection.prepare(
      "count unfinished calls by namespace",
      """
      SELECT n.name, (SELECT count(*) FROM calls WHERE namespace = n.id
        AND kind IN (\(Conditions.kinds)) AND state <= \(StateColumns.lastUnfinished)) FROM namespaces n
      """)
  }

  /// The number of a namespace, or nil if it never had a call.
  func find(_ namespace: Namespace) throws(StoreError) -> Int64? {
    if namespace.isDefault { return Self.defaultNumber }
    if let number = numbers[namespace] { return number }
    select.bind(1, text: namespace.name)
    guard let number = try select.first({ row throws(StoreError) in row.integer(0) }) else { return nil }
    numbers.remember(namespace, number)
    return number
  }

  /// The number of a namespace, which gets one if it has none. Only within a transaction.
  func intern(_ namespace: Namespace) throws(StoreError) -> Int64 {
    if let number = try find(namespace) { return number }
    insert.bind(1, text: namespace.name)
    try insert.run()
    let number = connection.lastInsertedRow
    numbers.add(namespace, number)
    return number
  }

  /// The namespace of a call; the default one for a call that does not exist or has no valid namespace.
  func namespace(of id: CallID) throws(StoreError) -> Namespace {
    ofCall.bind(1, id.rawValue)
    return try ofCall.first { row throws(StoreError) in Namespace(row.text(0)) ?? .default } ?? .default
  }

  /// Every namespace that has had a call, with the number of its unfinished calls.
  func unfinished() throws(StoreError) -> [(namespace: Namespace, unfinished: Int)] {
    try selectAll.rows { row throws(StoreError) in try Self.counted(row) }
  }

  /// Reads a namespace, and the number of its calls.
  static func counted(_ row: SQLiteStatement) throws(StoreError) -> (namespace: Namespace, unfinished: Int) {
    guard let namespace = Namespace(row.text(0)) else {
      throw StoreError(
        kind: .corrupt,
        message: "\"\(row.text(0))\" in the store is not the name of a namespace. Restore the store from a backup.")
    }
    return (namespace, Int(row.integer(1)))
  }

  /// The transaction's namespaces are committed.
  func didCommit() {
    numbers.didCommit()
  }

  /// The transaction's namespaces are removed.
  func didRollBack() {
    numbers.didRollBack()
  }
}
