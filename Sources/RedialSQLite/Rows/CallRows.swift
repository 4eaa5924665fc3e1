internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Reads calls from `calls` and `requests`.
struct CallRows {
  /// The result of reading a call.
  enum Found {
    /// The call as it was stored.
    case intact(CallRecord)
    /// A part of it cannot be read.
    case damaged(DamagedCall)

    /// The same as the shared checks take it.
    var result: Result<CallRecord, DamagedCall> {
      switch self {
      case .intact(let call): .success(call)
      case .damaged(let call): .failure(call)
      }
    }
  }

  let vault: Vault
  private let select: SQLiteStatement
  private let exists: SQLiteStatement

  /// Prepares the query. Without bodies, their pages are not read; nor are those of a body of a client's call that is
  /// larger than this limit.
  init(on connection: SQLiteConnection, bodies: Bool, largest: Int = .max) throws(StoreError) {
    vault = connection.vault
    let isLarge = "c.kind = \(CallKind.call.rawValue) AND coalesce(r.body_size, length(r.body)) > \(largest)"
    // The query reads only the columns that it names, so without the body it reads nothing of it.
    let body = !bodies ? "NULL" : largest == .max ? "r.body" : "CASE WHEN \(isLarge) THEN NULL ELSE r.body END"
    let left =
      !bodies || largest == .max ? "NULL" : "CASE WHEN \(isLarge) THEN coalesce(r.body_size, length(r.body)) END"
    exists = try connection.prepare("find a call", "SELECT 1 FROM calls WHERE id = ?1")
    select = try connection.prepare(
      "read a call",
      """
      SELECT c.kind, c.created_at, c.state, c.due, c.waiting, c.attempts, c.interruptions, c.attempts_before,
        c.round_started_at, c.finished_at, c.failure, r.spec, \(body), c.previous_wait,
        c.total_wait, \(bodies ? "r.body_size" : "NULL"), \(left), r.sums, c.sum, c.target_id, c.priority, c.namespace
      FROM calls c LEFT JOIN requests r ON r.id = c.id WHERE c.id = ?1 AND (?2 IS NULL OR c.namespace = ?2)
      """)
  }

  /// Whether there is a call with that id.
  func contains(_ id: CallID) throws(StoreError) -> Bool {
    exists.bind(1, id.rawValue)
    return try exists.first { row throws(StoreError) in row.integer(0) } != nil
  }

  /// The call with that id, or nil.
  ///
  /// - Parameter namespace: The number of the namespace that it must belong to; nil for any.
  func call(_ id: CallID, namespace: Int64? = nil) throws(StoreError) -> Found? {
    select.bind(1, id.rawValue)
    select.bind(2, namespace)
    return try select.first { row throws(StoreError) in read(id, row) }
  }

  private func read(_ id: CallID, _ row: SQLiteStatement) -> Found {
    func remains() -> CallRemains { row.withBytes(11) { vault.remains(of: id, spec: $0) } }
    func damaged(_ reason: String) -> Found {
      .damaged(DamagedCall(id: id, reason: reason, remains: remains()))
    }
    guard let kind = row.code(0, as: CallKind.self) else {
      return damaged("its kind is \(row.integer(0))")
    }
    let place: (state: StoredState, waiting: WaitReason?)
    switch StateColumns(state: row.integer(2), waiting: row.integerIfPresent(4)).progress {
    case .success(let known): place = known
    case .failure(let unintelligible): return damaged(unintelligible.reason)
    }
    let failure = row.integerIfPresent(10).flatMap { FailureCode(rawValue: $0) }
    if failure == nil, !row.isNull(10) { return damaged("its failure reason is \(row.integer(10))") }
    let progress = CallProgress(
      state: place.state, due: Timestamp(microseconds: row.integer(3)), waiting: place.waiting,
      attempts: Int(row.integer(5)), interruptions: Int(row.integer(6)), attemptsBefore: Int(row.integer(7)),
      waits: WaitHistory(previous: .microseconds(row.integer(13)), total: .microseconds(row.integer(14))),
      roundStartedAt: Timestamp(microseconds: row.integer(8)),
      finishedAt: row.integerIfPresent(9).map { Timestamp(microseconds: $0) }, failure: failure?.reason,
      issue: failure?.issue)
    let sums = row.integerIfPresent(17).map { StoredRequest.Sums(column: $0) }
    do throws(StoredRequest.Damage) {
      let (isSealed, spec) = try row.withBytes(11) { bytes in
        Result { () throws(StoredRequest.Damage) in
          (SealedForm.isSealed(bytes), try StoredRequest.spec(bytes, of: id, sums, vault))
        }
      }.get()
      let size = row.integerIfPresent(15)
      var content = RequestBody.held([])
      if let left = row.integerIfPresent(16) {
        guard let plain = StoredRequest.size(stored: left, inflated: size, isSealed: isSealed) else {
          return damaged("its body is said to have \(left) bytes")
        }
        content = .stored(size: plain)
      } else {
        let body = row.withBytes(12) { bytes in
          Result { () throws(StoredRequest.Damage) in
            try StoredRequest.body(bytes, size: size, isSealed: isSealed, of: id, sums, vault)
          }
        }
        content = .held(try body.get())
      }
      let sum = CallSum.sum(
        of: [2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14].map { row.integerIfPresent($0) } + [id.rawValue]
          + [0, 19, 1, 20, 21].map { row.integerIfPresent($0) })
      guard sum.fits(row.integerIfPresent(18)) else {
        return .damaged(
          DamagedCall(id: id, reason: "its row has another checksum", remains: remains(), isBroken: true))
      }
      return .intact(
        CallRecord(
          id: id, kind: kind, spec: spec, content: content, createdAt: Timestamp(microseconds: row.integer(1)),
          progress: progress))
    } catch {
      return .damaged(error.of(id, remains: remains(), isSetAside: progress.isSetAside))
    }
  }
}
