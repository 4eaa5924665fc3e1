internal import RedialCore
internal import RedialModel
internal import RedialStore

/// What an instance must know of shards that it has taken over, read in one transaction.
struct Takeover {
  /// The statements, in the order in which ``init(_:at:)`` reads their rows.
  ///
  /// - Parameter start: From which due time on the next due call is looked for; nil for all.
  static func statements(
    session: Int64, gained: ShardSet, at now: Timestamp?, from start: Timestamp? = nil, largest: Int
  ) -> [PostgresStatement] {
    let shards = gained.shards.map { Int64($0) }
    var all: [PostgresStatement] = []
    func add(_ query: PostgresQuery, _ fill: (inout PostgresStatement) -> Void) {
      var statement = PostgresStatement(query)
      fill(&statement)
      all.append(statement)
    }
    add(UnfinishedCounts.read) { $0.add(session) }
    add(ClaimQueries.next) {
      $0.add(session)
      $0.add(start?.microseconds ?? .min)
    }
    add(LeaseQueries.newest) { _ in }
    guard !gained.isEmpty else { return all }
    add(LeaseQueries.queues) { $0.add(shards) }
    add(LeaseQueries.records) {
      $0.add(shards)
      $0.add(now?.microseconds)
    }
    add(ClaimQueries.running) {
      $0.add(Int64(largest))
      $0.add(shards)
    }
    add(ClaimQueries.runningAttempts) { $0.add(shards) }
    add(ClaimQueries.runningRetries) { $0.add(shards) }
    return all
  }

  /// What was found.
  private(set) var state = RecoveredState()
  /// The number of unfinished calls in other shards, by namespace.
  private(set) var elsewhere: [(namespace: Namespace, unfinished: Int)] = []
  /// Running calls that cannot be read.
  private(set) var damaged: [DamagedCall] = []
  /// Targets whose records cannot be read.
  private(set) var damagedTargets: [(TargetKey, StoreError)] = []

  /// Reads the rows of the statements.
  init(_ rows: [PostgresRows], place: String) throws(StoreError) {
    for row in 0..<rows[0].count {
      guard let namespace = Namespace(rows[0].text(row, 0)) else {
        throw StoreError(
          kind: .corrupt,
          message: "\"\(rows[0].text(row, 0))\" in \(place) is not the name of a namespace. Restore it from a backup.")
      }
      state.namespaces.append((namespace, Int(rows[0].integer(row, 1))))
      elsewhere.append((namespace, Int(rows[0].integer(row, 2))))
    }
    state.unfinished = state.namespaces.reduce(0) { $0 + $1.unfinished }
    state.nextDue = rows[1].integerIfPresent(0, 0).map { Timestamp(microseconds: $0) }
    state.lastID = CallID(rawValue: rows[2].integer(0, 0))
    guard rows.count > 3 else { return }
    let (queues, targets) = (rows[3], rows[4])
    state.queued = queues.map { (queues.key($0, 0), Int(queues.integer($0, 1))) }
    for row in 0..<targets.count {
      let key: TargetKey = targets.key(row, 0)
      let read = targets.withBytes(row, 1) { bytes in
        Result { () throws(StoreError) in try TargetRecord(bytes, of: key, in: place, targets.vault) }
      }
      let current: TargetRecord
      do throws(StoreError) {
        current = try read.get().current(at: Timestamp(microseconds: targets.integer(row, 2)))
      } catch {
        guard error.kind == .corrupt else { throw error }
        current = .unreadable
        damagedTargets.append((key, error))
      }
      if current != TargetRecord() { state.targets.append((key, current)) }
    }
    let running = ClaimedCalls(rows[5], attempts: rows[6], retries: rows[7])
    state.running = running.calls
    damaged = running.damaged
  }
}
