internal import RedialStore
internal import RedialModel

/// Reads the rows of a store in the form that all stores have in common.
final class SQLiteContents: ContentReader {
  private let connection: SQLiteConnection
  private let packed: PackedContents
  private var firstPages: [ContentSection: SQLiteStatement] = [:]
  private var nextPages: [ContentSection: SQLiteStatement] = [:]
  private var lookups: [ContentSection: SQLiteStatement] = [:]

  /// Reads by a connection, which its owner closes.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    packed = try PackedContents(on: connection)
  }

  /// The number of rows of a section.
  func count(of section: ContentSection) throws(StoreError) -> Int {
    let sql = "SELECT count(*) FROM \(section.relation)"
    let rows = Int(try connection.value("count the rows", sql) { $0.integer(0) } ?? 0)
    return section == .attempts ? try rows + packed.count() : rows
  }

  /// The first rows of a section by their key, after a key.
  func page(
    of section: ContentSection, after key: ContentRow?, _ limit: PageLimit
  ) throws(StoreError) -> [ContentRow] {
    let statement = try page(of: section, isFirst: key == nil)
    for (index, value) in (key ?? []).enumerated() { statement.bind(Int32(index + 1), value) }
    statement.bind(Int32(section.keyCount + 1), Int64(limit.rows))
    var rows: [ContentRow] = []
    var bytes = 0
    try statement.each { row throws(StoreError) in
      let values = Self.row(row, of: section)
      bytes += values.reduce(0) { $0 + $1.size }
      rows.append(values)
      return bytes < limit.bytes
    }
    guard section == .attempts else { return rows }
    let page = PackedPage(of: rows, after: key, limit)
    return page.merged(with: try packed.calls(from: page.first, to: page.last, most: page.most))
  }

  /// The rows with some keys.
  func rows(of section: ContentSection, with keys: [ContentRow]) throws(StoreError) -> [ContentRow] {
    let statement = try lookup(section)
    var rows: [ContentRow] = []
    rows.reserveCapacity(keys.count)
    for key in keys {
      for (index, value) in key.enumerated() { statement.bind(Int32(index + 1), value) }
      if let row = try statement.first({ row throws(StoreError) in Self.row(row, of: section) }) { rows.append(row) }
    }
    guard section == .attempts else { return rows }
    var calls: [(id: Int64, attempts: [StoredAttempt])] = []
    for id in Set(keys.compactMap { $0.first?.integer }) { calls.append(try packed.call(id)) }
    return rows + PackedPage.rows(with: keys, of: calls)
  }

  // MARK: Statements

  private func page(of section: ContentSection, isFirst: Bool) throws(StoreError) -> SQLiteStatement {
    if let known = isFirst ? firstPages[section] : nextPages[section] { return known }
    let key = section.key.map(\.name).joined(separator: ", ")
    let places = (1...section.keyCount).map { "?\($0)" }.joined(separator: ", ")
    let statement = try connection.prepare(
      "read the store",
      """
      SELECT \(section.list) FROM \(section.relation) \(isFirst ? "" : "WHERE (\(key)) > (\(places))")
      ORDER BY \(key) LIMIT ?\(section.keyCount + 1)
      """)
    if isFirst { firstPages[section] = statement } else { nextPages[section] = statement }
    return statement
  }

  private func lookup(_ section: ContentSection) throws(StoreError) -> SQLiteStatement {
    if let known = lookups[section] { return known }
    let condition = section.key.enumerated().map { "\($1.name) = ?\($0 + 1)" }.joined(separator: " AND ")
    let statement = try connection.prepare(
      "read the store", "SELECT \(section.list) FROM \(section.relation) WHERE \(condition)")
    lookups[section] = statement
    return statement
  }

  private static func row(_ statement: SQLiteStatement, of section: ContentSection) -> ContentRow {
    section.columns.enumerated().map { index, column in
      let place = Int32(index)
      if statement.isNull(place) { return .null }
      switch column.kind {
      case .integer: return .integer(statement.integer(place))
      case .text: return .text(statement.bytes(place))
      case .bytes: return .bytes(statement.bytes(place))
      }
    }
  }
}

/// How SQLite's tables have the sections.
extension ContentSection {
  /// The table with the rows.
  var table: String {
    switch self {
    case .keys: "idempotency_keys"
    case .finished: "finished_counts"
    default: rawValue
    }
  }

  /// The table's name of a column.
  func stored(_ column: Column) -> String {
    switch (self, column.name) {
    case (.calls, "at"): "due"
    case (.finished, "n"): "count"
    default: column.name
    }
  }

  /// The rows, with the names of this section's columns.
  fileprivate var relation: String {
    switch self {
    case .calls, .finished:
      "(SELECT \(columns.map { "\(stored($0)) AS \($0.name)" }.joined(separator: ", ")) FROM \(table)"
        + "\(self == .finished ? " WHERE count <> 0" : ""))"
    case .settings:
      "(SELECT name, value FROM settings WHERE name NOT IN ("
        + Self.settingsOfPlace.map { "'\($0)'" }.joined(separator: ", ") + "))"
    default: table
    }
  }

  fileprivate var list: String { columns.map(\.name).joined(separator: ", ") }
}
