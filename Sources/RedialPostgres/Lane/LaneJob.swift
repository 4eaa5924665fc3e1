internal import RedialCore
internal import RedialModel
internal import RedialStore

/// A work on its way to the database, with its statements.
struct LaneJob: Sendable {
  let work: StoreWork
  /// Its place in the chain.
  let sequence: Int64
  /// Whether it was sent before.
  let trial: StoreTrial
  /// The statements without the fence.
  var statements: [PostgresStatement] = []
  /// Brings calls back that have ended; made only if it is sent again, because the other statements have found some.
  var revival: PostgresStatement?
  /// The earliest due time of the calls that it stores, as far as they can be claimed again.
  var firstDue: Timestamp?
  /// The changes of a commit.
  var writes: FoldedWrites?
  /// The server whose numbers of targets and namespaces are in the statements (``Greeting/server``).
  var server: Int64?
  /// Why its statements could not be made.
  var refusal: StoreError?

  /// Whether it changes something.
  var isChange: Bool { work.isChange }

  /// Whether it cannot be sent to a server, because its statements have the numbers of another one.
  func isStale(on server: Int64) -> Bool { self.server.map { $0 != server } ?? false }

  /// All statements, filled in.
  ///
  /// - Parameter start: From which due time on a claim looks for calls; nil for all.
  func statements(session: Int64, connection: Int64, start: Timestamp?) -> [PostgresStatement] {
    var all = statements
    if trial.kind == .again, let revival { all.insert(revival, at: 0) }
    if trims {
      var trim = PostgresStatement(CommitQueries.trim)
      trim.addSession()
      trim.addSequence()
      all.insert(trim, at: 0)
    }
    if isChange { all.insert(CommitStatements.fence, at: 0) }
    for index in all.indices {
      all[index].fill(session: session, connection: connection, sequence: sequence)
      all[index].fill(start: start)
    }
    return all
  }

  /// After so many works the ledger is shortened.
  private static let trimming: Int64 = 1000

  private var trims: Bool { isChange && sequence % Self.trimming == 0 }

  /// How many statements come before those that the answer is read from.
  var leading: Int { (isChange ? 1 : 0) + (trims ? 1 : 0) }

  // MARK: Statements

  /// The statements of a work that is no commit; none for what is exchanged with the server step by step.
  ///
  /// - Parameter largest: The maximum size of a body that is read with its call.
  static func statements(_ work: StoreWork, largest: Int) -> [PostgresStatement] {
    switch work {
    case .claimDue(let time, let limit):
      var claim = Self.claim(ClaimQueries.due, largest)
      claim.add(time.microseconds)
      claim.add(Int64(limit))
      claim.addStart()
      return [claim] + details + [next]
    case .claimQueued(let target, let limit):
      var claim = Self.claim(ClaimQueries.queued, largest)
      claim.add(text: target.text)
      claim.add(Int64(limit))
      return [claim] + details
    case .fetch(let calls):
      var claim = PostgresStatement(ClaimQueries.named)
      claim.addSession()
      claim.addSequence()
      claim.add(calls.map(\.id.rawValue))
      claim.add(texts: calls.map(\.namespace.name))
      return [claim, find(calls, largest: largest)] + details
    case .find(let keys, let time):
      var find = PostgresStatement(ClaimQueries.keys)
      find.add(texts: keys.map(\.text))
      find.add(time.microseconds)
      return [find]
    case .commit, .lease, .prove: return []
    }
  }

  private static func claim(_ query: PostgresQuery, _ largest: Int) -> PostgresStatement {
    var claim = PostgresStatement(query)
    claim.addSession()
    claim.addSequence()
    claim.add(Int64(largest))
    return claim
  }

  /// The statements that answer a claim again that was made.
  func repetition(largest: Int) -> [PostgresStatement] {
    let again = Self.claim(ClaimQueries.again, largest)
    switch work {
    case .claimDue: return [again] + Self.details + [Self.next]
    case .claimQueued: return [again] + Self.details
    case .fetch: return Array(statements.dropFirst())
    case .commit, .find, .lease, .prove: return []
    }
  }

  private static func find(_ calls: [CallAddress], largest: Int) -> PostgresStatement {
    var find = PostgresStatement(ClaimQueries.find)
    find.add(Int64(largest))
    find.add(calls.map(\.id.rawValue))
    find.add(texts: calls.map(\.namespace.name))
    return find
  }

  private static var details: [PostgresStatement] {
    [ClaimQueries.attempts, ClaimQueries.retries].map { query in
      var statement = PostgresStatement(query)
      statement.addSession()
      statement.addSequence()
      return statement
    }
  }

  private static var next: PostgresStatement {
    var next = PostgresStatement(ClaimQueries.next)
    next.addSession()
    next.addStart()
    return next
  }
}

extension LaneJob {
  /// The answer in the rows of its statements, without those of the ``leading`` ones; and the calls that cannot be read.
  func answer(_ rows: [PostgresRows]) -> (answer: StoreAnswer, damaged: [DamagedCall]) {
    switch work {
    case .claimDue:
      let claimed = ClaimedCalls(rows[0], attempts: rows[1], retries: rows[2])
      let next = rows[3].integerIfPresent(0, 0).map { Timestamp(microseconds: $0) }
      return (.due(Claim(calls: claimed.calls, nextDue: next)), claimed.damaged)
    case .claimQueued:
      let claimed = ClaimedCalls(rows[0], attempts: rows[1], retries: rows[2])
      return (.calls(claimed.calls), claimed.damaged)
    case .fetch(let addresses):
      let found = rows.suffix(3)
      let (calls, attempts, retries) = (
        found[found.startIndex], found[found.startIndex + 1], found[found.startIndex + 2]
      )
      // Those that are held now were held; the others are returned as they are.
      let claimed = ClaimedCalls(calls, attempts: attempts, retries: retries, holds: false)
      let ended = Set(
        (0..<calls.count).filter { calls.integer($0, 3) >= StoredPlace.firstEnded }
          .map { CallID(rawValue: calls.integer($0, 0)) })
      var results: [CallID: Result<CallRecord?, StoreError>] = [:]
      for call in claimed.calls { results[call.id] = .success(call) }
      for damage in claimed.damaged {
        var error = damage.error
        // One that has not is set aside now.
        error.damaged = .init(id: damage.id, hasEnded: true)
        results[damage.id] = .failure(error)
      }
      // Whoever names a call of another namespace gets nothing.
      let known = Set(calls.map { addresses[Int(calls.integer($0, ClaimQueries.place)) - 1] })
      return (
        .fetched(addresses.map { known.contains($0) ? results[$0.id] ?? .success(nil) : .success(nil) }),
        claimed.damaged.filter { !ended.contains($0.id) }
      )
    case .find(let names, _): return (.keys(KeyRows.records(of: names, rows[0])), [])
    case .commit, .prove, .lease: return (.done, [])
    }
  }
}

/// Reads the records of keys.
enum KeyRows {
  /// The columns from which a key `k` is read.
  static let columns = "k.call_id, k.key, k.fingerprint, k.created_at, k.expires_at, k.sum"

  /// The key in a row of ``columns``.
  static func record(_ rows: PostgresRows, _ row: Int) -> KeyRecord {
    KeyRecord(
      key: IdempotencyKey(rows.key(row, 1), fingerprint: rows.bytes(row, 2)),
      call: CallID(rawValue: rows.integer(row, 0)),
      createdAt: Timestamp(microseconds: rows.integer(row, 3)),
      expiresAt: Timestamp(microseconds: rows.integer(row, 4)))
  }

  /// The record of each key, or nil. A row has the place of its key, from 1 on, before the columns of the record.
  static func records(of names: [IdempotencyName], _ rows: PostgresRows) -> [KeyRecord?] {
    var found = [KeyRecord?](repeating: nil, count: names.count)
    for row in 0..<rows.count {
      let place = Int(rows.integer(row, 0)) - 1
      guard names.indices.contains(place) else { continue }
      let key = KeyRecord(
        key: IdempotencyKey(names[place], fingerprint: rows.bytes(row, 2)),
        call: CallID(rawValue: rows.integer(row, 1)), createdAt: Timestamp(microseconds: rows.integer(row, 3)),
        expiresAt: Timestamp(microseconds: rows.integer(row, 4)))
      found[place] = key.checked(rows.integerIfPresent(row, 5))
    }
    return found
  }
}
