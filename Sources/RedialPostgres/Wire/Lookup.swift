/// Conditions by which a statement looks up single rows of a table, one for each row of an array or of another table.
///
/// With `id = u.id` the server is free to read the whole table instead, and to compare all of its rows with the array. It
/// does so if it believes that the table is nearly empty. It believes that of every table of a new database, and of the
/// unfinished calls once they were vacuumed while there were none: until the next vacuum, however many there are by then.
enum Lookup {
  /// True for the row of an indexed column that has this value. The server can do nothing but look it up: an array of one
  /// element can neither be hashed nor sorted by.
  static func row(_ column: String, _ value: String) -> String { "\(column) = ANY(ARRAY[\(value)])" }

  /// True if a table has no row with this value in an indexed column. The offset keeps the query from becoming a join.
  static func none(_ table: String, _ column: String, _ value: String) -> String {
    "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(table).\(column) = \(value) OFFSET 0)"
  }
}
