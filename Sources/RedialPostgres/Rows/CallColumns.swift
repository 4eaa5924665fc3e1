internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The columns from which a call is read, and the call in a row of them.
enum CallColumns {
  /// The columns of a call `c` and its request `r`.
  ///
  /// - Parameters:
  ///   - bodies: Whether the body is read.
  ///   - largest: The parameter with the maximum size of a client's body that is read with the call, in bytes. A larger
  ///     one stays in the store.
  ///   - past: The packed attempts, as far as they are read.
  static func list(bodies: Bool, largest: String = "NULL", past: String = "NULL::bytea") -> String {
    let size = "coalesce(r.body_size, length(r.body))"
    let isLarge = "c.kind = \(CallKind.call.rawValue) AND \(size) > \(largest)"
    let body =
      bodies
      ? "CASE WHEN \(isLarge) THEN NULL ELSE r.body END, r.body_size, CASE WHEN \(isLarge) THEN \(size)::int8 END"
      : "NULL::bytea, NULL::int8, NULL::int8"
    return """
      c.id, c.kind, c.created_at, c.state, c.at, c.waiting, c.attempts, c.interruptions, c.attempts_before,
      c.round_started_at, c.finished_at, c.failure, c.previous_wait, c.total_wait, r.spec, \(body), r.sums, \(past)
      """
  }

  /// The place of the packed attempts.
  static let past = 19

  /// The call in a row whose first columns are ``list(bodies:largest:)``.
  static func read(_ rows: PostgresRows, _ row: Int) -> Result<CallRecord, DamagedCall> {
    let id = CallID(rawValue: rows.integer(row, 0))
    func remains() -> CallRemains { rows.withBytes(row, 14) { rows.vault.remains(of: id, spec: $0) } }
    func damaged(_ reason: String) -> Result<CallRecord, DamagedCall> {
      .failure(DamagedCall(id: id, reason: reason, remains: remains()))
    }
    guard let kind = rows.code(row, 1, as: CallKind.self) else { return damaged("its kind is \(rows.integer(row, 1))") }
    let place = StoredPlace(state: rows.integer(row, 3), waiting: rows.integerIfPresent(row, 5))
    guard let (state, waiting) = place.progress else {
      return damaged("its state is \(place.state), and its reason to wait \(place.waiting.map { "\($0)" } ?? "none")")
    }
    let failure = rows.integerIfPresent(row, 11).flatMap { FailureCode(rawValue: $0) }
    if failure == nil, !rows.isNull(row, 11) { return damaged("its failure reason is \(rows.integer(row, 11))") }
    let progress = CallProgress(
      state: state, due: Timestamp(microseconds: rows.integer(row, 4)), waiting: waiting,
      attempts: Int(rows.integer(row, 6)), interruptions: Int(rows.integer(row, 7)),
      attemptsBefore: Int(rows.integer(row, 8)),
      waits: WaitHistory(
        previous: .microseconds(rows.integer(row, 12)), total: .microseconds(rows.integer(row, 13))),
      roundStartedAt: Timestamp(microseconds: rows.integer(row, 9)),
      finishedAt: rows.integerIfPresent(row, 10).map { Timestamp(microseconds: $0) }, failure: failure?.reason,
      issue: failure?.issue)
    let sums = rows.integerIfPresent(row, 18).map { StoredRequest.Sums(column: $0) }
    do throws(StoredRequest.Damage) {
      let (isSealed, spec) = try rows.withBytes(row, 14) { bytes in
        Result { () throws(StoredRequest.Damage) in
          (SealedForm.isSealed(bytes), try StoredRequest.spec(bytes, of: id, sums, rows.vault))
        }
      }.get()
      let size = rows.integerIfPresent(row, 16)
      var content = RequestBody.held([])
      if let left = rows.integerIfPresent(row, 17) {
        guard let plain = StoredRequest.size(stored: left, inflated: size, isSealed: isSealed) else {
          return damaged("its body is said to have \(left) bytes")
        }
        content = .stored(size: plain)
      } else {
        let body = rows.withBytes(row, 15) { bytes in
          Result { () throws(StoredRequest.Damage) in
            try StoredRequest.body(bytes, size: size, isSealed: isSealed, of: id, sums, rows.vault)
          }
        }
        content = .held(try body.get())
      }
      return .success(
        CallRecord(
          id: id, kind: kind, spec: spec, content: content, createdAt: Timestamp(microseconds: rows.integer(row, 2)),
          progress: progress))
    } catch {
      return .failure(error.of(id, remains: remains(), isSetAside: progress.isSetAside))
    }
  }
}

extension CallColumns {
  /// All attempts of the call in a row: the packed ones, and then the others.
  static func attempts(
    _ rows: PostgresRows, _ row: Int, then others: Result<[AttemptRecord], DamagedCall>
  ) -> Result<[AttemptRecord], DamagedCall> {
    do throws(DamagedCall) {
      let packed = try PackedColumn.records(rows, row, past, withResponses: true)
      return others.map { packed + $0 }
    } catch {
      return .failure(error)
    }
  }
}

extension Result where Failure == DamagedCall {
  /// Adds an attempt, or a retry. The first that cannot be read counts.
  mutating func add<Element>(_ element: Result<Element, DamagedCall>) where Success == [Element] {
    switch (self, element) {
    case (.success(let earlier), .success(let element)): self = .success(earlier + [element])
    case (.success, .failure(let damage)): self = .failure(damage)
    case (.failure, _): break
    }
  }
}

/// The columns from which an attempt is read, and the attempt in a row of them.
enum AttemptColumns {
  /// The columns of an attempt `a`.
  ///
  /// - Parameters:
  ///   - head: A condition, whether the response is read.
  ///   - body: A condition, whether its body is read.
  static func list(head: String, body: String) -> String {
    let halves = AttemptSums.halves(of: "a.response_sum")
    return """
      a.call_id, a.number, a.started_at, a.duration, a.outcome, a.status, a.failure_code, a.failure_message, a.decision,
      CASE WHEN \(head) THEN a.truncated END, CASE WHEN \(head) THEN a.response_head END,
      CASE WHEN \(body) THEN a.response_body END, CASE WHEN \(body) THEN a.response_body_size END, a.figures,
      a.sum, CASE WHEN \(head) THEN \(halves.head) END, CASE WHEN \(body) THEN \(halves.body) END
      """
  }

  /// The attempt in a row, or why it cannot be read.
  static func read(_ rows: PostgresRows, _ row: Int) -> Result<AttemptRecord, DamagedCall> {
    let id = CallID(rawValue: rows.integer(row, 0))
    let (attempt, sums) = stored(rows, row)
    do throws(AttemptDamage) {
      // What is wrong with it says more than that something is.
      let record = try attempt.record(of: id, rows.vault)
      try sums.check(attempt, of: id)
      return .success(record)
    } catch {
      return .failure(error.of(id))
    }
  }

  /// The attempt in a row as it is stored, and its checksums.
  static func stored(_ rows: PostgresRows, _ row: Int) -> (attempt: StoredAttempt, sums: AttemptSums) {
    var attempt = StoredAttempt(
      number: rows.integer(row, 1), startedAt: rows.integer(row, 2), duration: rows.integer(row, 3),
      outcome: rows.integer(row, 4),
      status: rows.integerIfPresent(row, 5), failure: nil, decision: rows.bytes(row, 8), figures: rows.bytes(row, 13),
      response: nil)
    if !rows.isNull(row, 6) { attempt.failure = AttemptFailure(code: rows.text(row, 6), message: rows.text(row, 7)) }
    if let flags = rows.integerIfPresent(row, 9) {
      attempt.response = StoredAttempt.Response(
        flags: flags, head: rows.bytes(row, 10), body: rows.bytes(row, 11),
        inflatedSize: rows.integerIfPresent(row, 12))
    }
    let sums = AttemptSums(
      facts: rows.integerIfPresent(row, 14), head: rows.integerIfPresent(row, 15), body: rows.integerIfPresent(row, 16))
    return (attempt, sums)
  }

  /// The columns of a retry `t`.
  static let retries = "t.call_id, t.at, t.after_attempt, t.actor, t.reason, t.sum"

  /// The call of a retry, and the retry in a row of ``retries``.
  static func readRetry(_ rows: PostgresRows, _ row: Int) -> (id: CallID, retry: Result<ManualRetry, DamagedCall>) {
    let id = CallID(rawValue: rows.integer(row, 0))
    let attribution = Attribution(
      by: rows.isNull(row, 3) ? nil : rows.text(row, 3), reason: rows.isNull(row, 4) ? nil : rows.text(row, 4))
    let retry = ManualRetry(
      at: Timestamp(microseconds: rows.integer(row, 1)), afterAttempt: Int(rows.integer(row, 2)),
      attribution: attribution)
    let isIntact = retry.checksum(of: id).fits(rows.integerIfPresent(row, 5))
    return (id, isIntact ? .success(retry) : .failure(ManualRetry.damage(of: id)))
  }
}
