@testable import RedialSQLite

extension LogBounds {
  /// Nothing fits into the log: all goes to the tables at once.
  static let none = LogBounds(largestRow: 0)
}
