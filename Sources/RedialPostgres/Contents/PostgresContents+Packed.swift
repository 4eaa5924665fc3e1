internal import RedialModel
internal import RedialStore

/// The packed attempts of calls, as rows like the others: stores need not pack alike.
extension PostgresContents {
  /// The number of packed attempts.
  func packedCount() throws(StoreError) -> Int {
    Int(try run([PostgresStatement(PackedQueries.count)])[0].integer(0, 0))
  }

  /// The packed attempts with some keys.
  func packed(with keys: [ContentRow]) throws(StoreError) -> [ContentRow] {
    var find = PostgresStatement(PackedQueries.find)
    find.add(keys.compactMap { $0.first?.integer })
    let wanted = Set(keys)
    return try Self.attempts(in: run([find])[0]).filter { wanted.contains(Self.key(of: $0)) }
  }

  /// A page of attempts: those that are rows, and the packed ones between them.
  ///
  /// - Parameter rows: The page of those that are rows. Unless it is empty, there may be more.
  func merged(_ rows: [ContentRow], after key: ContentRow?, _ limit: PageLimit) throws(StoreError) -> [ContentRow] {
    var page = PostgresStatement(PackedQueries.page)
    // One more, because the first may be that of the key.
    page.add(Int64(limit.rows) + 1)
    page.add(key?.first?.integer ?? .min)
    // Without rows to be put between others, all calls are looked at, once.
    page.add(rows.last?.first?.integer ?? .max)
    let calls = try run([page])[0]
    var packed = try Self.attempts(in: calls)
    if let key { packed.removeAll { !Self.isBefore(key, $0) } }
    var all = (rows + packed).sorted(by: Self.isBefore)
    // Behind the last of the calls that were read there may be other packed attempts.
    if calls.count > limit.rows {
      let last = calls.integer(calls.count - 1, 0)
      let end = all.firstIndex { ($0.first?.integer ?? .max) > last } ?? all.endIndex
      all.removeSubrange(end...)
    }
    // And behind the last of the rows, other rows.
    if let last = rows.last {
      let end = all.firstIndex { Self.isBefore(last, $0) } ?? all.endIndex
      all.removeSubrange(end...)
    }
    return Array(all.prefix(limit.rows))
  }

  /// Whether the key of an attempt is before the key of another one.
  private static func isBefore(_ row: ContentRow, _ other: ContentRow) -> Bool {
    func key(_ row: ContentRow) -> (Int64, Int64) { (row[0].integer ?? .min, row[1].integer ?? .min) }
    return key(row) < key(other)
  }

  private static func key(of row: ContentRow) -> ContentRow { Array(row.prefix(ContentSection.attempts.keyCount)) }

  /// The attempts in rows of calls with their packed attempts.
  private static func attempts(in calls: PostgresRows) throws(StoreError) -> [ContentRow] {
    var all: [ContentRow] = []
    for row in 0..<calls.count {
      do throws(DamagedCall) {
        all += try PackedColumn.stored(calls, row, 1).map { Self.row($0, of: calls.integer(row, 0)) }
      } catch {
        throw error.error
      }
    }
    return all
  }

  /// An attempt as it would be in a row of its own.
  private static func row(_ attempt: StoredAttempt, of call: Int64) -> ContentRow {
    func integer(_ value: Int64?) -> ContentValue { value.map { .integer($0) } ?? .null }
    func text(_ value: String?) -> ContentValue { value.map { .text(Array($0.utf8)) } ?? .null }
    let response = attempt.response
    return ContentSection.attempts.columns.map { column in
      switch column.name {
      case "call_id": .integer(call)
      case "number": .integer(attempt.number)
      case "started_at": .integer(attempt.startedAt)
      case "duration": .integer(attempt.duration)
      case "outcome": .integer(attempt.outcome)
      case "status": integer(attempt.status)
      case "failure_code": text(attempt.failure?.code)
      case "failure_message": text(attempt.failure?.message)
      case "decision": .bytes(attempt.decision)
      case "truncated": integer(response.map { $0.isTruncated ? 1 : 0 })
      case "response_head": .bytes(response?.head ?? [])
      case "response_body": .bytes(response?.body ?? [])
      case "figures": .bytes(attempt.figures)
      case "response_body_size": integer(response?.inflatedSize)
      default: preconditionFailure("an attempt has no column \(column.name)")
      }
    }
  }
}

/// The statements that read packed attempts.
private enum PackedQueries {
  static let count = PostgresQuery(
    "packed_count", "count the attempts",
    "SELECT coalesce(sum(\(PackedColumn.count)), 0)::int8 FROM calls WHERE past IS NOT NULL")

  static let find = PostgresQuery(
    "packed_find", "read the attempts",
    "SELECT id, past FROM calls WHERE id = ANY($1::int8[]) AND past IS NOT NULL")

  /// Those of the calls from $2 to $3, of $1 of them at most.
  static let page = PostgresQuery(
    "packed_page", "read the attempts",
    """
    SELECT id, past FROM (\(part("live")) UNION ALL \(part("done"))) p ORDER BY id LIMIT $1::int8
    """)

  private static func part(_ table: String) -> String {
    """
    (SELECT id, past FROM \(table) WHERE past IS NOT NULL AND id >= $2::int8 AND id <= $3::int8 ORDER BY id LIMIT $1::int8)
    """
  }
}
