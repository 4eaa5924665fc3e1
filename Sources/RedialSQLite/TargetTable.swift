internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Targets: each key is stored once and has a number; their breakers, and what their paces have learned.
final class TargetTable {
  /// The maximum number of keys in the cache; others are looked up again.
  static let maximumRemembered = 16_384

  private let connection: SQLiteConnection
  private let select: SQLiteStatement
  private let insert: SQLiteStatement
  private let setBreaker: SQLiteStatement
  private let selectBreakers: SQLiteStatement
  private let setPace: SQLiteStatement
  private let selectPaces: SQLiteStatement
  private let setAsked: SQLiteStatement
  private let selectAsked: SQLiteStatement
  private let setControls: SQLiteStatement
  private let selectControls: SQLiteStatement
  private var numbers = NumberCache<TargetKey>(limit: maximumRemembered)

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    self.connection = connection
    select = try connection.prepare("find a target", "SELECT id FROM targets WHERE key = ?1")
    insert = try connection.prepare("store a target", "INSERT INTO targets (key, shard) VALUES (?1, ?2)")
    setBreaker = try connection.prepare(
      "store a breaker", "UPDATE targets SET breaker_until = ?2, breaker_trips = ?3 WHERE id = ?1")
    selectBreakers = try connection.prepare(
      "read the breakers",
      "SELECT key, breaker_until, breaker_trips FROM targets WHERE breaker_until IS NOT NULL")
    setPace = try connection.prepare(
      "store a pace", "UPDATE targets SET pace_delivered = ?2, pace_limited = ?3, pace_at = ?4 WHERE id = ?1")
    selectPaces = try connection.prepare(
      "read the paces",
      """
      SELECT key, pace_delivered, pace_limited, pace_at FROM targets
      WHERE pace_at >= ?1 OR pace_at IS NOT NULL AND breaker_until IS NOT NULL
      """)
    setAsked = try connection.prepare(
      "store a target's Retry-After", "UPDATE targets SET asked_until = ?2 WHERE id = ?1")
    selectAsked = try connection.prepare(
      "read the targets' Retry-After", "SELECT key, asked_until FROM targets WHERE asked_until > ?1")
    setControls = try connection.prepare(
      "store a target's settings", "UPDATE targets SET overrides = ?2, paused = ?3, tripped = ?4 WHERE id = ?1")
    selectControls = try connection.prepare(
      "read the targets' settings",
      "SELECT key, overrides, paused, tripped FROM targets WHERE overrides IS NOT NULL OR paused <> 0 OR tripped <> 0")
  }

  /// Gives a shard to each target from before there were shards. Only within a transaction.
  func completeShards() throws(StoreError) {
    let lacking = try connection.prepare(
      "find targets without a shard", "SELECT id, key FROM targets WHERE shard IS NULL")
    let targets = try lacking.rows { row throws(StoreError) in (row.integer(0), row.key(1, as: TargetKey.self)) }
    let give = try connection.prepare("give a target its shard", "UPDATE targets SET shard = ?2 WHERE id = ?1")
    for (id, key) in targets {
      give.bind(1, id)
      give.bind(2, Int64(ShardSet.shard(of: key)))
      try give.run()
    }
  }

  /// The number of a target, or nil if it never had a call.
  func find(_ key: TargetKey) throws(StoreError) -> Int64? {
    if let id = numbers[key] { return id }
    select.bind(1, key: key)
    guard let id = try select.first({ row throws(StoreError) in row.integer(0) }) else { return nil }
    numbers.remember(key, id)
    return id
  }

  /// The number of a target, which gets one if it has none. Only within a transaction.
  func intern(_ key: TargetKey) throws(StoreError) -> Int64 {
    if let id = try find(key) { return id }
    insert.bind(1, key: key)
    insert.bind(2, Int64(ShardSet.shard(of: key)))
    try insert.run()
    let id = connection.lastInsertedRow
    numbers.add(key, id)
    return id
  }

  /// Stores a target's breaker; nil if it is closed.
  func set(_ breaker: OpenBreaker?, of key: TargetKey) throws(StoreError) {
    setBreaker.bind(1, try intern(key))
    setBreaker.bind(2, breaker?.until.microseconds)
    setBreaker.bind(3, breaker.map { Int64($0.trips) })
    try setBreaker.run()
  }

  /// The breakers that are not closed.
  func breakers() throws(StoreError) -> [(target: TargetKey, breaker: OpenBreaker)] {
    try selectBreakers.rows { row throws(StoreError) in
      let until = Timestamp(microseconds: row.integer(1))
      return (row.key(0), OpenBreaker(until: until, trips: Int(row.integer(2))))
    }
  }

  /// Stores what a target's pace has learned.
  func set(_ pace: SavedPace, of key: TargetKey) throws(StoreError) {
    setPace.bind(1, try intern(key))
    setPace.bind(2, Int64(min(max(0, pace.delivered * 1000), 1e15).rounded()))
    setPace.bind(3, pace.isLimited ? 1 : 0)
    setPace.bind(4, pace.at.microseconds)
    try setPace.run()
  }

  /// The paces that can be of use now.
  func paces(at now: Timestamp) throws(StoreError) -> [(target: TargetKey, pace: SavedPace)] {
    selectPaces.bind(1, now.microseconds - SavedPace.memory.wholeMicroseconds)
    return try selectPaces.rows { row throws(StoreError) in
      let at = Timestamp(microseconds: row.integer(3))
      return (
        row.key(0), SavedPace(delivered: Double(row.integer(1)) / 1000, isLimited: row.integer(2) != 0, at: at)
      )
    }
  }

  /// Stores until when a target asked to be left alone.
  func set(askedUntil until: Timestamp?, of key: TargetKey) throws(StoreError) {
    setAsked.bind(1, try intern(key))
    setAsked.bind(2, until?.microseconds)
    try setAsked.run()
  }

  /// The targets that ask to be left alone now.
  func asked(at now: Timestamp) throws(StoreError) -> [(target: TargetKey, until: Timestamp)] {
    selectAsked.bind(1, now.microseconds)
    return try selectAsked.rows { row throws(StoreError) in (row.key(0), Timestamp(microseconds: row.integer(1))) }
  }

  /// Moves back until when breakers are open and targets want to be left alone.
  func setBack(by shift: Duration, at now: Timestamp) throws(StoreError) {
    for column in ["breaker_until", "asked_until"] {
      let move = try connection.prepare(
        "set back a target's times", "UPDATE targets SET \(column) = \(column) - ?1 WHERE \(column) > ?2")
      move.bind(1, shift.wholeMicroseconds)
      move.bind(2, now.microseconds)
      try move.run()
    }
  }

  /// Stores the settings that operators have given a target.
  func set(_ controls: TargetControls, of key: TargetKey) throws(StoreError) {
    let overrides = controls.overrides == TargetOverrides() ? [] : controls.overrides.json
    setControls.bind(1, try intern(key))
    setControls.bind(3, controls.isPaused ? 1 : 0)
    setControls.bind(4, controls.isTripped ? 1 : 0)
    try overrides.withUnsafeBufferPointer { bytes throws(StoreError) in
      if bytes.isEmpty { setControls.bind(2, nil as Int64?) } else { setControls.bind(2, bytes: bytes) }
      try setControls.run()
    }
  }

  /// The targets with settings of operators.
  ///
  /// - Throws: `corrupt` if a target's settings cannot be read: without them it might get too many requests.
  func controls() throws(StoreError) -> [(target: TargetKey, controls: TargetControls)] {
    try selectControls.rows { row throws(StoreError) in
      let key: TargetKey = row.key(0)
      var controls = TargetControls(isPaused: row.integer(2) != 0, isTripped: row.integer(3) != 0)
      if !row.isNull(1) {
        switch row.withBytes(1, { bytes in Result { () throws(Problem) in try TargetOverrides.read(bytes) } }) {
        case .success(let overrides): controls.overrides = overrides
        case .failure(let problem):
          throw StoreError(
            kind: .corrupt,
            message: "The settings of the target \(key) in \(connection.path) cannot be read: \(problem.detail)")
        }
      }
      return (key, controls)
    }
  }

  /// The transaction's keys are committed.
  func didCommit() {
    numbers.didCommit()
  }

  /// The transaction's keys are removed.
  func didRollBack() {
    numbers.didRollBack()
  }
}
