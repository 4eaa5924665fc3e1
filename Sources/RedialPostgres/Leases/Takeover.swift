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
    add(LeaseQueries.breakers) { $0.add(shards) }
    add(LeaseQueries.paces) {
      $0.add(shards)
      $0.add(now?.microseconds)
    }
    add(LeaseQueries.asked) {
      $0.add(shards)
      $0.add(now?.microseconds)
    }
    add(LeaseQueries.controls) { $0.add(shards) }
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
    let (queues, breakers, paces, asked, controls) = (rows[3], rows[4], rows[5], rows[6], rows[7])
    state.queued = queues.map { (queues.key($0, 0), Int(queues.integer($0, 1))) }
    state.breakers = breakers.map { row in
      let until = Timestamp(microseconds: breakers.integer(row, 1))
      return (breakers.key(row, 0), OpenBreaker(until: until, trips: Int(breakers.integer(row, 2))))
    }
    state.paces = paces.map { row in
      let at = Timestamp(microseconds: paces.integer(row, 3))
      let pace = SavedPace(
        delivered: Double(paces.integer(row, 1)) / 1000, isLimited: paces.integer(row, 2) != 0, at: at)
      return (paces.key(row, 0), pace)
    }
    state.asked = asked.map { (asked.key($0, 0), Timestamp(microseconds: asked.integer($0, 1))) }
    for row in 0..<controls.count { state.controls.append(try Self.controls(controls, row, place)) }
    let running = ClaimedCalls(rows[8], attempts: rows[9], retries: rows[10])
    state.running = running.calls
    damaged = running.damaged
  }

  /// - Throws: `corrupt` if a target's settings cannot be read: without them it might get too many requests.
  private static func controls(
    _ rows: PostgresRows, _ row: Int, _ place: String
  ) throws(StoreError) -> (TargetKey, TargetControls) {
    let key: TargetKey = rows.key(row, 0)
    var controls = TargetControls(isPaused: rows.integer(row, 2) != 0, isTripped: rows.integer(row, 3) != 0)
    if !rows.isNull(row, 1) {
      switch rows.withBytes(row, 1, { bytes in Result { () throws(Problem) in try TargetOverrides.read(bytes) } }) {
      case .success(let overrides): controls.overrides = overrides
      case .failure(let problem):
        throw StoreError(
          kind: .corrupt, message: "The settings of the target \(key) in \(place) cannot be read: \(problem.detail)")
      }
    }
    return (key, controls)
  }
}
