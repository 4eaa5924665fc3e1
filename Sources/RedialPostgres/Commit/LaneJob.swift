internal import RedialCore
internal import RedialModel
internal import RedialStore

/// A work on its way to the database, with its statements.
struct LaneJob: Sendable {
  /// The kind of work, with the arguments that its answer depends on.
  enum Kind: Sendable {
    /// A commit with these keys, and these calls that another instance may have stored.
    case commit(keys: [KeyRecord], given: [CallID])
    case claimDue(before: Timestamp)
    case claimQueued
    case claim(CallID, Namespace)
    /// A look-up of keys.
    case find([IdempotencyName])
    case lease(LeaseRequest, renewing: Int64?)
    case prove
    /// A commit without changes.
    case nothing
    /// Work whose statements could not be made.
    case refused(StoreError)
  }

  /// The kind of work.
  let kind: Kind
  /// The place of the work in the chain.
  let sequence: Int64
  /// The statements without the fence.
  var statements: [PostgresStatement] = []
  /// Brings calls back that have ended; made only after the other statements have found that some have.
  var revival: PostgresStatement?
  /// Whether the revival is made.
  var isThorough = false
  /// The earliest due time of the calls that it stores, as far as they can be claimed again.
  var firstDue: Timestamp?
  /// The changes of a commit, from which its statements are made again for another server.
  var writes: FoldedWrites?
  /// The server whose numbers of targets and namespaces are in the statements (``Greeting/server``).
  var server: Int64?

  /// Whether it changes something.
  var isChange: Bool {
    switch kind {
    case .find, .nothing: false
    default: true
    }
  }

  /// Whether nothing else may be in flight with it.
  var isAlone: Bool {
    switch kind {
    case .lease, .nothing, .refused: true
    default: false
    }
  }

  /// All statements, filled in.
  ///
  /// - Parameter start: From which due time on a claim looks for calls; nil for all.
  func statements(session: Int64, connection: Int64, start: Timestamp?) -> [PostgresStatement] {
    var all = statements
    if isThorough, let revival { all.insert(revival, at: 0) }
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

  // MARK: Claims

  /// A claim of due calls.
  static func claimDue(before time: Timestamp, limit: Int, largest: Int, as sequence: Int64) -> LaneJob {
    var claim = PostgresStatement(ClaimQueries.due)
    claim.addSession()
    claim.addSequence()
    claim.add(Int64(largest))
    claim.add(time.microseconds)
    claim.add(Int64(limit))
    claim.addStart()
    return LaneJob(kind: .claimDue(before: time), sequence: sequence, statements: [claim] + details + [next])
  }

  /// A claim of calls in a target's queue.
  static func claimQueued(target: TargetKey, limit: Int, largest: Int, as sequence: Int64) -> LaneJob {
    var claim = PostgresStatement(ClaimQueries.queued)
    claim.addSession()
    claim.addSequence()
    claim.add(Int64(largest))
    claim.add(text: target.text)
    claim.add(Int64(limit))
    return LaneJob(kind: .claimQueued, sequence: sequence, statements: [claim] + details)
  }

  /// A claim of one call.
  static func claim(_ id: CallID, in namespace: Namespace, largest: Int, as sequence: Int64) -> LaneJob {
    var claim = PostgresStatement(ClaimQueries.one)
    claim.addSession()
    claim.addSequence()
    claim.add(id.rawValue)
    claim.add(text: namespace.name)
    return LaneJob(
      kind: .claim(id, namespace), sequence: sequence,
      statements: [claim, find(id, in: namespace, largest: largest)] + details)
  }

  /// A look-up of keys.
  static func find(_ keys: [IdempotencyName], at time: Timestamp, as sequence: Int64) -> LaneJob {
    var find = PostgresStatement(ClaimQueries.keys)
    find.add(texts: keys.map(\.text))
    find.add(time.microseconds)
    return LaneJob(kind: .find(keys), sequence: sequence, statements: [find])
  }

  /// The statements that answer a claim again that was made.
  func repetition(largest: Int) -> [PostgresStatement] {
    var again = PostgresStatement(ClaimQueries.again)
    again.addSession()
    again.addSequence()
    again.add(Int64(largest))
    switch kind {
    case .claimDue: return [again] + Self.details + [Self.next]
    case .claimQueued: return [again] + Self.details
    case .claim: return Array(statements.dropFirst())
    default: return []
    }
  }

  private static func find(_ id: CallID, in namespace: Namespace, largest: Int) -> PostgresStatement {
    var find = PostgresStatement(ClaimQueries.find)
    find.add(Int64(largest))
    find.add(id.rawValue)
    find.add(text: namespace.name)
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
    switch kind {
    case .claimDue:
      let claimed = ClaimedCalls(rows[0], attempts: rows[1], retries: rows[2])
      let next = rows[3].integerIfPresent(0, 0).map { Timestamp(microseconds: $0) }
      return (.due(Claim(calls: claimed.calls, nextDue: next)), claimed.damaged)
    case .claimQueued:
      let claimed = ClaimedCalls(rows[0], attempts: rows[1], retries: rows[2])
      return (.calls(claimed.calls), claimed.damaged)
    case .claim(let id, _):
      let found = rows.suffix(3)
      let (call, attempts, retries) = (
        found[found.startIndex], found[found.startIndex + 1], found[found.startIndex + 2]
      )
      // It is held now if it was; otherwise it is returned as it is.
      let claimed = ClaimedCalls(call, attempts: attempts, retries: retries, holds: false)
      guard let damage = claimed.damaged.first else { return (.call(claimed.calls.first), []) }
      var error = damage.error
      let hasEnded = call.count > 0 && call.integer(0, 3) >= StoredPlace.firstEnded
      error.damaged = .init(id: id, hasEnded: hasEnded)
      return (.damaged(error), hasEnded ? [] : claimed.damaged)
    case .find(let names): return (.keys(KeyRows.records(of: names, rows[0])), [])
    case .commit, .prove, .lease, .nothing, .refused: return (.done, [])
    }
  }
}

/// Reads the records of keys.
enum KeyRows {
  /// The record of each key, or nil. A row has the place of its key, from 1 on, before the columns of the record.
  static func records(of names: [IdempotencyName], _ rows: PostgresRows) -> [KeyRecord?] {
    var found = [KeyRecord?](repeating: nil, count: names.count)
    for row in 0..<rows.count {
      let place = Int(rows.integer(row, 0)) - 1
      guard names.indices.contains(place) else { continue }
      found[place] = KeyRecord(
        key: IdempotencyKey(names[place], fingerprint: rows.bytes(row, 2)),
        call: CallID(rawValue: rows.integer(row, 1)), createdAt: Timestamp(microseconds: rows.integer(row, 3)),
        expiresAt: Timestamp(microseconds: rows.integer(row, 4)))
    }
    return found
  }
}
