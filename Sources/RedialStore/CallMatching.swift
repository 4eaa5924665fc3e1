internal import RedialCore
internal import RedialModel

/// Judges one call at a time by the conditions of a filter that no index tells.
struct CallMatching {
  private let matches: SQLiteStatement
  private let hasLabel: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    matches = try connection.prepare(
      "judge a call",
      """
      SELECT 1 FROM calls c LEFT JOIN attempts a ON a.call_id = c.id
        AND a.number = (SELECT max(number) FROM attempts WHERE call_id = ?1)
      WHERE c.id = ?1 AND c.kind = ?2 AND c.state BETWEEN ?3 AND ?4
        AND (?11 IS NULL OR (c.waiting IS \(StateColumns.underWay)) = ?11) AND (?5 IS NULL OR c.target_id = ?5)
        AND (?6 IS NULL OR c.failure = ?6) AND (?7 IS NULL OR a.outcome = ?7)
        AND (?8 IS NULL OR a.status BETWEEN ?8 AND ?9) AND (?10 IS NULL OR c.finished_at <= ?10)
      """)
    hasLabel = try connection.prepare(
      "judge a call's labels", "SELECT 1 FROM labels WHERE name = ?1 AND value = ?2 AND call_id = ?3")
  }

  /// Whether a call fits a filter, in all but when it was accepted.
  func callAsFunction(_ id: CallID, _ filter: CallFilter, targetID: Int64?) throws(StoreError) -> Bool {
    for label in filter.labels {
      hasLabel.bind(1, text: QualifiedKey.make(label.name, in: filter.namespace))
      hasLabel.bind(2, text: label.value)
      hasLabel.bind(3, id.rawValue)
      guard try hasLabel.first({ row throws(StoreError) in row.integer(0) }) != nil else { return false }
    }
    // The stored states of a visible one follow each other; what is under way is told from what is held by the reason.
    let states = StoredState.allCases.filter { filter.state == nil || $0.visible == filter.state }
    let numbers = states.map(StateColumns.state)
    matches.bind(1, id.rawValue)
    matches.bind(2, Int64(filter.kind.rawValue))
    matches.bind(3, numbers.min() ?? 0)
    matches.bind(4, numbers.max() ?? 0)
    matches.bind(5, targetID)
    matches.bind(6, filter.failure.map { Int64($0.rawValue) })
    matches.bind(7, filter.outcome.map { Int64($0.rawValue) })
    matches.bind(8, filter.statuses.map { Int64($0.lowerBound) })
    matches.bind(9, filter.statuses.map { Int64($0.upperBound) })
    matches.bind(10, filter.endedBy?.microseconds)
    matches.bind(11, filter.state == nil ? nil : states == [.running] ? 1 : 0)
    return try matches.first { row throws(StoreError) in row.integer(0) } != nil
  }
}
