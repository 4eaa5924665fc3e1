internal import Glibc
internal import RedialModel
internal import RedialStore

/// A connection that reads and writes the rows of a store in the form that all stores have in common.
///
/// It is not made again when it is lost: what it has locked would not be locked any more.
final class PostgresContents: ContentReader {
  /// How long an answer may take. Large tables are counted as a whole.
  static let patience = Duration.seconds(3600)

  let connection: PostgresConnection

  /// Connects.
  init(_ settings: PostgresSettings) throws(StoreError) {
    do throws(PostgresFailure) {
      connection = try PostgresConnection(settings)
    } catch {
      throw error.error(at: settings.place)
    }
  }

  /// The store, for messages.
  var place: String { connection.place }

  /// Makes statements in one transaction, or as part of the one that was begun, and returns the rows of each.
  func run(_ statements: [PostgresStatement]) throws(StoreError) -> [PostgresRows] {
    do throws(PostgresFailure) {
      return try connection.run(statements, within: Self.patience)
    } catch {
      throw error.error(at: place)
    }
  }

  /// Makes statements without arguments in one transaction.
  func execute(_ statements: [String], purpose: String) throws(StoreError) {
    do throws(PostgresFailure) {
      try connection.execute(statements, purpose: purpose, within: Self.patience)
    } catch {
      throw error.error(at: place)
    }
  }

  // MARK: Rows

  /// The number of rows of a section.
  func count(of section: ContentSection) throws(StoreError) -> Int {
    let rows = Int(try run([PostgresStatement(ContentQueries.count(section))])[0].integer(0, 0))
    return section == .attempts ? try rows + packedCount() : rows
  }

  /// The first rows of a section by their key, after a key.
  func page(
    of section: ContentSection, after key: ContentRow?, _ limit: PageLimit
  ) throws(StoreError) -> [ContentRow] {
    let rows = try storedPage(of: section, after: key, limit)
    return section == .attempts ? try merged(rows, after: key, limit) : rows
  }

  private func storedPage(
    of section: ContentSection, after key: ContentRow?, _ limit: PageLimit
  ) throws(StoreError) -> [ContentRow] {
    var statement = PostgresStatement(ContentQueries.page(section, isFirst: key == nil))
    statement.add(Int64(limit.rows))
    statement.add(Int64(limit.bytes))
    for (column, value) in zip(section.key, key ?? []) {
      switch column.kind {
      case .integer: statement.add(value.integer)
      case .text: statement.add(utf8: value.content)
      case .bytes: statement.add(bytes: value.content)
      }
    }
    return Self.rows(try run([statement])[0], of: section)
  }

  /// The rows with some keys.
  func rows(of section: ContentSection, with keys: [ContentRow]) throws(StoreError) -> [ContentRow] {
    var statement = PostgresStatement(ContentQueries.lookup(section))
    Self.add(keys, section.key, to: &statement)
    let rows = Self.rows(try run([statement])[0], of: section)
    return section == .attempts ? try rows + packed(with: keys) : rows
  }

  /// The statement that adds rows.
  func insertion(of rows: [ContentRow], to section: ContentSection) throws(StoreError) -> PostgresStatement {
    var statement = PostgresStatement(ContentQueries.insertion(section))
    Self.add(rows, section.columns[...], to: &statement)
    switch section {
    case .targets:
      let place = section.place(of: "key")
      statement.add(
        rows.map { row in
          let key = String(decoding: row[place].content ?? [], as: UTF8.self)
          return Int64(ShardSet.shard(of: TargetKey(qualified: key)))
        })
    case .calls:
      let callbacks = try callbacks(among: rows.compactMap { $0[0].integer })
      statement.add(rows.map { $0[0].integer.map { callbacks.contains($0) ? 1 : 0 } ?? 0 as Int64 })
    default: break
    }
    return statement
  }

  /// The calls whose webhooks need their attempts.
  private func callbacks(among ids: [Int64]) throws(StoreError) -> Set<Int64> {
    var find = PostgresStatement(ContentQueries.callbacks)
    find.add(ids)
    let rows = try run([find])[0]
    var found: Set<Int64> = []
    for row in 0..<rows.count {
      let spec = rows.withBytes(row, 1) { try? CallSpec.read(canonicalJSON: $0) }
      if spec?.callback != nil { found.insert(rows.integer(row, 0)) }
    }
    return found
  }

  /// Adds each column as an array.
  private static func add(
    _ rows: [ContentRow], _ columns: ArraySlice<ContentSection.Column>, to statement: inout PostgresStatement
  ) {
    for (place, column) in columns.enumerated() {
      switch column.kind {
      case .integer: statement.add(rows.map { $0[place].integer })
      case .text: statement.add(utf8: rows.map { $0[place].content })
      case .bytes: statement.add(byteStrings: rows.map { $0[place].content })
      }
    }
  }

  private static func rows(_ rows: PostgresRows, of section: ContentSection) -> [ContentRow] {
    let kinds = section.columns.map(\.kind)
    return rows.map { row in
      kinds.enumerated().map { place, kind -> ContentValue in
        if rows.isNull(row, place) { return .null }
        switch kind {
        case .integer: return .integer(rows.integer(row, place))
        case .text: return .text(rows.withBytes(row, place, StoredText.decodedBytes))
        case .bytes: return .bytes(rows.bytes(row, place))
        }
      }
    }
  }

  // MARK: Use by instances

  /// Begins a transaction that changes nothing and may last as long as the other side of a copy takes.
  func beginToWait(_ purpose: String) throws(StoreError) {
    try execute(
      [
        "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY",
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL statement_timeout = 0",
      ], purpose: purpose)
  }

  /// Locks the sessions until the transaction ends, if no instance uses the store: none can join, and none can commit.
  func lockOut() throws(StoreError) {
    try waitForLeases()
    try execute(
      ["SET LOCAL lock_timeout = '5s'", "LOCK TABLE sessions IN EXCLUSIVE MODE", "SET LOCAL lock_timeout = 0"],
      purpose: "lock the store: an instance, a migration or an import has it")
    guard try lastSession() == nil else { throw inUse }
  }

  /// Throws if instances use the store. The lease of one that died is waited for.
  func waitForLeases() throws(StoreError) {
    guard let first = try lastSession() else { return }
    guard let left = first.left else { throw inUse }
    let deadline = ContinuousClock.now + left + .milliseconds(100)
    while ContinuousClock.now < deadline {
      guard let now = try lastSession() else { return }
      if now.end != first.end { throw inUse }
      usleep(100_000)
    }
    if try lastSession() != nil { throw inUse }
  }

  /// The session that ends last, if one has not ended: how long it has to live, and when it ends; nil for never.
  private func lastSession() throws(StoreError) -> (left: Duration?, end: Int64?)? {
    let rows = try run([PostgresStatement(ContentQueries.lastSession)])[0]
    guard rows.count == 1 else { return nil }
    guard let left = rows.integerIfPresent(0, 0) else { return (nil, nil) }
    return left <= 0 ? nil : (.microseconds(left), rows.integerIfPresent(0, 1))
  }

  private var inUse: StoreError {
    StoreError(
      kind: .inUse, message: "\(place) is in use by instances of Redial. Stop all of them first. Nothing was changed.")
  }
}
