internal import CSQLite
internal import RedialStore
internal import RedialModel

/// The column `sum` of `calls`: a checksum of all others. An update leaves a wrong one wrong, so that damage that was there before
/// stays known.
enum CallSum {
  /// The columns, in the order in which they are added.
  static let columns = [
    "state", "due", "waiting", "attempts", "interruptions", "attempts_before", "round_started_at", "finished_at",
    "failure", "previous_wait", "total_wait", "id", "kind", "target_id", "created_at", "priority", "namespace",
  ]
  /// SQL's name of the function.
  private static let function = "redial_call_sum"

  /// The checksum of the columns' values.
  static func sum(of values: [Int64?]) -> Checksum {
    var sum = Checksum()
    for value in values { sum.add(value) }
    return sum
  }

  /// The statement that sets columns of calls, and with them the checksum.
  ///
  /// - Parameters:
  ///   - values: The new values.
  ///   - condition: Which calls.
  static func update(_ values: KeyValuePairs<String, String>, where condition: String) -> String {
    let new = Dictionary(uniqueKeysWithValues: values.map { ($0.key, $0.value) })
    let old = "\(function)(\(columns.joined(separator: ", ")))"
    let sum = "iif(sum IS \(old), \(function)(\(columns.map { new[$0] ?? $0 }.joined(separator: ", "))), sum)"
    let set = values.map { "\($0.key) = \($0.value)" } + ["sum = \(sum)"]
    return "UPDATE calls SET \(set.joined(separator: ", ")) WHERE \(condition)"
  }

  /// Makes the function known to a connection.
  static func register(on connection: OpaquePointer?) -> Int32 {
    sqlite3_create_function_v2(
      connection, function, Int32(columns.count), SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil,
      { context, count, values in
        guard let values else { return }
        var sum = Checksum()
        for place in 0..<Int(count) {
          sum.add(
            sqlite3_value_type(values[place]) == SQLITE_NULL ? nil : sqlite3_value_int64(values[place]) as Int64?)
        }
        sqlite3_result_int64(context, sum.column)
      }, nil, nil, nil)
  }
}
