internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Reads attempts.
struct AttemptRows {
  /// Which responses are read.
  enum Responses: Int64, Sendable {
    /// None.
    case none = 0
    /// The last attempt's.
    case last = 1
    /// Every attempt's.
    case all = 2
    /// Every attempt's, without the body.
    case heads = 3
  }

  private let select: SQLiteStatement

  /// Prepares the query. A response that is not requested is not read from disk: CASE evaluates only the chosen branch.
  init(on connection: SQLiteConnection) throws(StoreError) {
    let shown = "?2 >= 2 OR (?2 = 1 AND number = (SELECT max(number) FROM attempts WHERE call_id = ?1))"
    let wanted = "?2 <> 3 AND (\(shown))"
    select = try connection.prepare(
      "read a call's attempts",
      """
      SELECT number, started_at, duration, outcome, status, failure_code, failure_message, decision,
        CASE WHEN \(shown) THEN truncated END, CASE WHEN \(shown) THEN response_head END,
        CASE WHEN \(wanted) THEN response_body END, figures, CASE WHEN \(wanted) THEN response_body_size END
      FROM attempts WHERE call_id = ?1 ORDER BY number
      """)
  }

  /// The attempts of a call, the newest last, or the reason why they cannot be read.
  func attempts(
    of id: CallID, responses: Responses
  ) throws(StoreError) -> Result<[AttemptRecord], DamagedCall> {
    select.bind(1, id.rawValue)
    select.bind(2, responses.rawValue)
    var damage: DamagedCall?
    let attempts = try select.rows { row throws(StoreError) -> AttemptRecord? in
      switch Self.read(row) {
      case .success(let attempt): return attempt
      case .failure(let damaged):
        if damage == nil { damage = DamagedCall(id: id, reason: damaged.reason) }
        return nil
      }
    }
    if let damage { return .failure(damage) }
    return .success(attempts.compactMap { $0 })
  }

  /// Why an attempt cannot be read, as a clause.
  private struct Damage: Error {
    let reason: String
  }

  /// The attempt in a row.
  private static func read(_ row: SQLiteStatement) -> Result<AttemptRecord, Damage> {
    guard let outcome = row.code(3, as: OutcomeClass.self) else {
      return .failure(Damage(reason: "the outcome of attempt \(row.integer(0)) is \(row.integer(3))"))
    }
    var record = AttemptRecord(
      number: Int(row.integer(0)), startedAt: Timestamp(microseconds: row.integer(1)),
      duration: .microseconds(row.integer(2)), outcome: outcome, status: row.integerIfPresent(4).map { Int($0) },
      decision: row.bytes(7), figures: ExchangeFigures(encoded: row.bytes(11)))
    if !row.isNull(5) { record.failure = AttemptFailure(code: row.text(5), message: row.text(6)) }
    if let truncated = row.integerIfPresent(8) {
      let size = row.integerIfPresent(12)
      guard let body = row.withBytes(10, { PayloadCoding.payload($0, size: size) }) else {
        return .failure(Damage(reason: "the response body of attempt \(row.integer(0)) cannot be decompressed"))
      }
      record.response = CapturedResponse(
        head: HeaderBlock(bytes: row.bytes(9)), body: body, truncated: truncated != 0)
    }
    return .success(record)
  }
}
