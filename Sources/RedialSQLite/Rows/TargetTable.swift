internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Targets: each key is stored once and has a number; what outlives the process of a target is a record of bytes.
final class TargetTable {
  /// The maximum number of keys in the cache; others are looked up again.
  static let maximumRemembered = 16_384

  private let connection: SQLiteConnection
  private let documents: DocumentTable
  private let select: SQLiteStatement
  private let insert: SQLiteStatement
  private let setRecord: SQLiteStatement
  private let selectRecord: SQLiteStatement
  private let selectRecords: SQLiteStatement
  private var numbers = NumberCache<TargetKey>(limit: maximumRemembered)

  /// Prepares the statements.
  init(on connection: SQLiteConnection, _ documents: DocumentTable) throws(StoreError) {
    self.documents = documents
    self.connection = connection
    select = try connection.prepare("find a target", "SELECT id FROM targets WHERE key = ?1")
    insert = try connection.prepare("store a target", "INSERT INTO targets (key, shard) VALUES (?1, ?2)")
    setRecord = try connection.prepare(
      "store the record of a target", "UPDATE targets SET record = ?2 WHERE id = ?1")
    selectRecord = try connection.prepare("read the record of a target", "SELECT record FROM targets WHERE key = ?1")
    selectRecords = try connection.prepare(
      "read the records of targets", "SELECT key, record FROM targets WHERE record IS NOT NULL")
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

  /// Whether a target has a record.
  func hasRecord(_ key: TargetKey) throws(StoreError) -> Bool {
    selectRecord.bind(1, key: key)
    return try selectRecord.first { row throws(StoreError) in !row.isNull(0) } ?? false
  }

  func set(_ record: TargetRecord, of key: TargetKey) throws(StoreError) {
    setRecord.bind(1, try intern(key))
    let vault = connection.vault
    if vault.seals(record) { try documents.ensureKey(of: key.namespace.name) }
    try vault.sealed(record, of: key).withUnsafeBufferPointer { bytes throws(StoreError) in
      if record == TargetRecord() { setRecord.bind(2, nil as Int64?) } else { setRecord.bind(2, bytes: bytes) }
      try setRecord.run()
    }
  }

  /// The records of targets, as far as they still matter.
  ///
  /// - Parameter damage: Gets the targets whose records cannot be read.
  func records(
    at now: Timestamp, damage: (TargetKey, StoreError) -> Void
  ) throws(StoreError) -> [(target: TargetKey, record: TargetRecord)] {
    var damaged: [(TargetKey, TargetRecord)] = []
    let intact = try all { key, error in
      damaged.append((key, .unreadable))
      damage(key, error)
    }
    return intact.compactMap { key, record in
      let current = record.current(at: now)
      return current == TargetRecord() ? nil : (key, current)
    } + damaged
  }

  /// Seals the records with secrets again, by the newest key.
  func reseal() throws(StoreError) {
    for (key, record) in try all() where connection.vault.seals(record) { try set(record, of: key) }
  }

  /// Corrects the times that are by an earlier clock.
  func correct(by setBack: ClockSetBack) throws(StoreError) {
    for (key, record) in try all() {
      if let corrected = setBack.corrected(record) { try set(corrected, of: key) }
    }
  }

  private func all(
    damage: (TargetKey, StoreError) -> Void = { _, _ in }
  ) throws(StoreError) -> [(TargetKey, TargetRecord)] {
    var intact: [(TargetKey, TargetRecord)] = []
    try selectRecords.each { row throws(StoreError) in
      let key: TargetKey = row.key(0)
      let record = row.withBytes(1) { bytes in
        Result { () throws(StoreError) in try TargetRecord(bytes, of: key, in: connection.path, connection.vault) }
      }
      switch record {
      case .success(let record): intact.append((key, record))
      case .failure(let error) where error.kind == .corrupt: damage(key, error)
      case .failure(let error): throw error
      }
      return true
    }
    return intact
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
