/// Puts rows into a table, several with one statement: to begin and end a statement, and to open what it writes to, is half of
/// what a row costs (measured with the rows of a call: eight at a time take a third less).
struct RowInsertion {
  /// Rows of a statement. More of them gain little, and leave more over.
  private static let batch = 8

  private let one: SQLiteStatement
  private let several: SQLiteStatement
  private let width: Int

  /// Prepares the statements.
  ///
  /// - Parameter columns: Those of the table that are given, in the order of their parameters, from 1 on.
  init(
    on connection: SQLiteConnection, _ purpose: StaticString, into table: String, _ columns: [String]
  ) throws(StoreError) {
    width = columns.count
    func sql(_ rows: Int) -> String {
      let values = (0..<rows).map { row in
        "(\((1...columns.count).map { "?\(row * columns.count + $0)" }.joined(separator: ", ")))"
      }
      // Whoever commits undoes all of a transaction when one row fails; SQLite need not keep what would undo this alone.
      return
        "INSERT OR FAIL INTO \(table) (\(columns.joined(separator: ", "))) VALUES \(values.joined(separator: ", "))"
    }
    one = try connection.prepare(purpose, sql(1))
    several = try connection.prepare(purpose, sql(Self.batch))
  }

  /// Puts a row into the table.
  ///
  /// - Parameter bind: Binds it, and runs what it is given while all that it has bound is where it was.
  func insert(_ bind: (SQLiteStatement, _ run: () throws(StoreError) -> Void) throws(StoreError) -> Void)
    throws(StoreError)
  {
    try bind(one) { () throws(StoreError) in try one.run() }
  }

  /// Puts rows into the table, in order.
  ///
  /// - Parameter bind: Binds a row, with copies of all that is not a number.
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
