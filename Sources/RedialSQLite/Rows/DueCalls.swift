internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Finds the calls that are due, alternating between namespaces. If the earliest were always first, many calls of one
/// namespace that are due at one moment would delay those of all others until all of them were claimed.
///
/// For each namespace it searches an index that begins with the namespace, so that a claim costs one search for each
/// namespace that has ever had a call, plus the claimed calls.
struct DueCalls {
  private let earliest: SQLiteStatement
  private let due: SQLiteStatement

  /// Prepares the queries.
  init(on connection: SQLiteConnection) throws(StoreError) {
    earliest = try connection.prepare(
      "find the next due call",
      """
      SELECT n.id, (SELECT due FROM calls WHERE namespace = n.id AND \(Conditions.waiting) \
      ORDER BY due LIMIT 1) FROM namespaces n
      """)
    due = try connection.prepare(
      "find due calls",
      """
      SELECT id FROM calls WHERE namespace = ?3 AND \(Conditions.waiting) AND due <= ?1 \
      ORDER BY due, id LIMIT ?2
      """)
  }

  /// Due calls in no engine's memory: an equal number from each namespace, as far as it has so many, and the earliest
  /// first within it.
  ///
  /// - Returns: At most `limit`, and maybe fewer although there are more; none only if there are none.
  func due(by time: Timestamp, limit: Int) throws(StoreError) -> [CallID] {
    var waiting = try heads().filter { $0.due <= time }
    // If there are more than are taken, those that have waited longest are first.
    if waiting.count > 1 { waiting.sort { $0.due < $1.due } }
    let share = max(1, limit / max(1, waiting.count))
    var calls: [CallID] = []
    for (namespace, _) in waiting.prefix(max(0, limit)) {
      due.bind(1, time.microseconds)
      due.bind(2, Int64(share))
      due.bind(3, namespace)
      calls += try due.rows { row throws(StoreError) in CallID(rawValue: row.integer(0)) }
    }
    return calls
  }

  /// When the first call in no engine's memory is due.
  func next() throws(StoreError) -> Timestamp? {
    try heads().map(\.due).min()
  }

  /// When the first call of each namespace that has any is due.
  private func heads() throws(StoreError) -> [(namespace: Int64, due: Timestamp)] {
    let all = try earliest.rows { row throws(StoreError) in
      row.isNull(1) ? nil : (namespace: row.integer(0), due: Timestamp(microseconds: row.integer(1)))
    }
    return all.compactMap { $0 }
  }
}
