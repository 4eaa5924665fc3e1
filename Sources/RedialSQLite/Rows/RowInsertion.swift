internal import RedialStore
internal import RedialModel

/// Inserts rows into a table, several with one statement: beginning and ending a statement, and opening its tables, is
/// half of a row's cost (measured with the rows of a call: eight at a time take a third less).
struct RowInsertion {
  /// Rows per statement. More gain little, and leave a larger rest.
  private static let batch = 8

  private let one: SQLiteStatement
  private let several: SQLiteStatement
  private let width: Int

  /// Prepares the statements.
  ///
  /// - Parameter columns: The inserted columns of the table, in the order of their parameters, from 1 on.
  init(
    on connection: SQLiteConnection, _ purpose: StaticString, into table: String, _ columns: [String]
  ) throws(StoreError) {
    width = columns.count
    func sql(_ rows: Int) -> String {
      let values = (0..<rows).map { row in
        "(\((1...columns.count).map { "?\(row * columns.count + $0)" }.joined(separator: ", ")))"
      }
      // If one row fails, the caller undoes the whole transaction, so SQLite need not keep what would undo only this
      // statement.
      return
        "INSERT OR FAIL INTO \(table) (\(columns.joined(separator: ", "))) VALUES \(values.joined(separator: ", "))"
    }
    one = try connection.prepare(purpose, sql(1))
    several = try connection.prepare(purpose, sql(Self.batch))
  }

  /// Inserts a row.
  ///
  /// - Parameter bind: Binds it, and runs its argument while all bound memory is valid.
  func insert(_ bind: (SQLiteStatement, _ run: () throws(StoreError) -> Void) throws(StoreError) -> Void)
    throws(StoreError)
  {
    try bind(one) { () throws(StoreError) in try one.run() }
  }

  /// Inserts rows, in order.
  ///
  /// - Parameter bind: Binds a row, with copies of everything except numbers.
  func insert<Row>(_ rows: [Row], _ bind: (Row, SQLiteStatement) -> Void) throws(StoreError) {
    var next = 0
    while rows.count - next >= Self.batch {
      for place in 0..<Self.batch {
        several.firstParameter = Int32(place * width)
        bind(rows[next + place], several)
      }
      try several.run()
      next += Self.batch
    }
    for row in rows[next...] {
      bind(row, one)
      try one.run()
    }
  }
}
