internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The results of calls and attempts, by namespace and step: at most 121 minutes and 193 hours per namespace, so that
/// the table stays small. New counts are added to the stored ones.
struct StatisticsTable {
  private let select: SQLiteStatement
  private let upsert: SQLiteStatement
  private let removeOld: SQLiteStatement
  private let list: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    select = try connection.prepare(
      "read statistics", "SELECT counts FROM statistics WHERE namespace = ?1 AND step = ?2 AND start = ?3")
    upsert = try connection.prepare(
      "store statistics",
      """
      INSERT INTO statistics (namespace, step, start, counts) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (namespace, step, start) DO UPDATE SET counts = excluded.counts
      """)
    removeOld = try connection.prepare(
      "remove old statistics", "DELETE FROM statistics WHERE step = ?1 AND start < ?2")
    list = try connection.prepare(
      "list statistics",
      "SELECT start, counts FROM statistics WHERE namespace = ?1 AND step = ?2 AND start >= ?3 ORDER BY start")
  }

  /// Adds the counts of a minute, and removes steps that are then too old.
  func add(_ tally: CallTally, at minute: Timestamp, namespace: Int64) throws(StoreError) {
    for step in StatisticsStep.allCases {
      let start = step.start(of: minute)
      var sum = tally
      select.bind(1, namespace)
      select.bind(2, step.rawValue)
      select.bind(3, start.microseconds)
      // Statistics that cannot be read start again from zero: nothing depends on them.
      if let known = try select.first({ row throws(StoreError) in Self.tally(row.text(0)) }) ?? nil { sum.add(known) }
      try put(sum.numbers, step, start, namespace: namespace)
      removeOld.bind(1, step.rawValue)
      removeOld.bind(2, start.microseconds - step.kept)
      try removeOld.run()
    }
  }

  /// Whether there are counts of a step.
  func has(_ step: StatisticsStep, _ start: Timestamp, namespace: Int64) throws(StoreError) -> Bool {
    select.bind(1, namespace)
    select.bind(2, step.rawValue)
    select.bind(3, start.microseconds)
    return try select.first { _ throws(StoreError) in true } ?? false
  }

  /// Stores the counts of a step.
  func put(_ numbers: [Int64], _ step: StatisticsStep, _ start: Timestamp, namespace: Int64) throws(StoreError) {
    upsert.bind(1, namespace)
    upsert.bind(2, step.rawValue)
    upsert.bind(3, start.microseconds)
    // A JSON array, which people and SQLite's JSON functions can read.
    upsert.bind(4, text: "[\(numbers.map(String.init).joined(separator: ","))]")
    try upsert.run()
  }

  /// The steps of a namespace from a time on.
  func steps(
    _ step: StatisticsStep, from time: Timestamp, namespace: Int64
  ) throws(StoreError) -> [(start: Timestamp, tally: CallTally)] {
    list.bind(1, namespace)
    list.bind(2, step.rawValue)
    list.bind(3, time.microseconds)
    return try list.rows { row throws(StoreError) in
      (Timestamp(microseconds: row.integer(0)), Self.tally(row.text(1)) ?? CallTally())
    }
  }

  private static func tally(_ text: String) -> CallTally? { numbers(text).flatMap(CallTally.init(numbers:)) }

  /// The numbers in a row.
  static func numbers(_ text: String) -> [Int64]? {
    let words = text.dropFirst().dropLast().split(separator: ",")
    let numbers = words.compactMap { Int64($0) }
    return numbers.count == words.count ? numbers : nil
  }
}
