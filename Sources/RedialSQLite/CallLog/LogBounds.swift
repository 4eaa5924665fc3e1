/// How much the log may have.
struct LogBounds {
  /// Calls that have ended are folded when there are so many.
  var foldAfter = 250
  /// The maximum size of all rows that are needed, in bytes. Beyond it the oldest calls are folded, ended or not.
  var mostBytes = 16 << 20
  /// The maximum number of rows that are needed.
  var mostRows = 8192
  /// The maximum size of a row, in bytes; what comes beyond it goes to the tables.
  var largestRow = 1 << 20
}
