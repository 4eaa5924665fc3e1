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

    /// An attempt with as much of its response as is read.
    func shown(of attempt: StoredAttempt, isLast: Bool) -> StoredAttempt {
      var shown = attempt
      switch self {
      case .all: break
      case .last where isLast: break
      case .none, .last: shown.response = nil
      case .heads:
        shown.response?.body = []
        shown.response?.inflatedSize = nil
      }
      return shown
    }
  }

  private let vault: Vault
  private let past: PastColumn
  private let select: SQLiteStatement
  private let selectLast: SQLiteStatement

  /// Prepares the query. A response that is not requested is not read from disk: CASE evaluates only the chosen branch.
  init(on connection: SQLiteConnection) throws(StoreError) {
    vault = connection.vault
    past = try PastColumn(on: connection)
    selectLast = try connection.prepare(
      "read a call's last attempt",
      "SELECT \(Self.columns(head: "0", body: "0")) FROM attempts WHERE call_id = ?1 ORDER BY number DESC LIMIT 1")
    let shown = "?2 >= 2 OR (?2 = 1 AND number = (SELECT max(number) FROM attempts WHERE call_id = ?1))"
    let wanted = "?2 <> 3 AND (\(shown))"
    select = try connection.prepare(
      "read a call's attempts",
      "SELECT \(Self.columns(head: shown, body: wanted)) FROM attempts WHERE call_id = ?1 ORDER BY number")
  }

  /// The columns from which ``read(_:)`` reads an attempt.
  ///
  /// - Parameters:
  ///   - head: A condition, whether the head of the response is read.
  ///   - body: The same for its body.
  static func columns(head: String, body: String) -> String {
    let halves = AttemptSums.halves(of: "response_sum")
    return """
      number, started_at, duration, outcome, status, failure_code, failure_message, decision,
        CASE WHEN \(head) THEN truncated END, CASE WHEN \(head) THEN response_head END,
        CASE WHEN \(body) THEN response_body END, figures, CASE WHEN \(body) THEN response_body_size END, sum,
        CASE WHEN \(head) THEN \(halves.head) END, CASE WHEN \(body) THEN \(halves.body) END
      """
  }

  /// The attempts of a call, the newest last, or the reason why they cannot be read.
  func attempts(
    of id: CallID, responses: Responses
  ) throws(StoreError) -> Result<[AttemptRecord], DamagedCall> {
    select.bind(1, id.rawValue)
    select.bind(2, responses.rawValue)
    var damage: DamagedCall?
    let attempts = try select.rows { row throws(StoreError) -> AttemptRecord? in
      switch record(row, of: id) {
      case .success(let attempt): return attempt
      case .failure(let damaged):
        if damage == nil { damage = damaged.of(id) }
        return nil
      }
    }
    if let damage { return .failure(damage) }
    let rows = attempts.compactMap { $0 }
    return try packed(of: id, responses, before: rows).map { $0 + rows }
  }

  /// The packed attempts of a call, which are before those that are rows.
  private func packed(
    of id: CallID, _ responses: Responses, before rows: [AttemptRecord]
  ) throws(StoreError) -> Result<[AttemptRecord], DamagedCall> {
    let found: [StoredAttempt]
    switch try past.attempts(of: id) {
    case .success(let attempts): found = attempts
    case .failure(let damage): return .failure(damage)
    }
    var attempts: [AttemptRecord] = []
    do throws(AttemptDamage) {
      for (index, attempt) in found.enumerated() {
        let isLast = rows.isEmpty && index == found.count - 1
        attempts.append(try responses.shown(of: attempt, isLast: isLast).record(of: id, vault))
      }
    } catch {
      return .failure(error.of(id))
    }
    return .success(attempts)
  }

  /// The numbers of the last attempt's outcome and status, and the code of its failure, as they are stored; nil if there
  /// is none, or if it cannot be read.
  func last(of id: CallID) throws(StoreError) -> (outcome: Int64, status: Int64?, failure: String?)? {
    selectLast.bind(1, id.rawValue)
    let row = try selectLast.first { row throws(StoreError) in Self.read(row) }
    let last: StoredAttempt
    if let row {
      guard (try? row.sums.check(row.attempt, of: id)) != nil else { return nil }
      last = row.attempt
    } else {
      guard case .success(let attempts) = try past.attempts(of: id), let packed = attempts.last else { return nil }
      last = packed
    }
    return (last.outcome, last.status, last.failure?.code)
  }

  private func record(_ row: SQLiteStatement, of id: CallID) -> Result<AttemptRecord, AttemptDamage> {
    let (attempt, sums) = Self.read(row)
    return Result { () throws(AttemptDamage) in
      // What is wrong with it says more than that something is.
      let record = try attempt.record(of: id, vault)
      try sums.check(attempt, of: id)
      return record
    }
  }

  /// The attempt in a row, and its checksums.
  static func read(_ row: SQLiteStatement) -> (attempt: StoredAttempt, sums: AttemptSums) {
    let response = row.integerIfPresent(8).map { flags in
      StoredAttempt.Response(
        flags: flags, head: row.bytes(9), body: row.bytes(10), inflatedSize: row.integerIfPresent(12))
    }
    let attempt = StoredAttempt(
      number: row.integer(0), startedAt: row.integer(1), duration: row.integer(2), outcome: row.integer(3),
      status: row.integerIfPresent(4),
      failure: row.isNull(5) ? nil : AttemptFailure(code: row.text(5), message: row.text(6)), decision: row.bytes(7),
      figures: row.bytes(11), response: response)
    let sums = AttemptSums(
      facts: row.integerIfPresent(13), head: row.integerIfPresent(14), body: row.integerIfPresent(15))
    return (attempt, sums)
  }
}
