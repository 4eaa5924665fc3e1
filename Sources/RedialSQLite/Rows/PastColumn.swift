internal import RedialModel
internal import RedialStore

/// The column `past` of `requests`: the attempts that a call had when it came from the log, packed. Most calls have no
/// others, and so no rows in `attempts`, nor entries in its index.
struct PastColumn {
  /// The maximum size of packed attempts, in bytes. Longer ones become rows.
  static let largest = 4096

  private let select: SQLiteStatement

  /// Prepares the query.
  init(on connection: SQLiteConnection) throws(StoreError) {
    select = try connection.prepare("read a call's packed attempts", "SELECT past FROM requests WHERE id = ?1")
  }

  /// The attempts of a new call as the value of the column; nil if it has none, or they have to be rows.
  static func packed(_ attempts: [LoggedAttempt]) throws(AttemptDamage) -> [UInt8]? {
    guard let first = attempts.first else { return nil }
    if attempts.count == 1 { return first.packed.count <= largest ? first.packed : nil }
    guard attempts.reduce(0, { $0 + $1.packed.count }) <= 2 * largest else { return nil }
    var stored: [StoredAttempt] = []
    for attempt in attempts { stored.append(try attempt.stored()) }
    return PackedAttempts.packed(stored).flatMap { $0.count <= largest ? $0 : nil }
  }

  /// The packed attempts of a call, the newest last, or the reason why they cannot be read.
  func attempts(of id: CallID) throws(StoreError) -> Result<[StoredAttempt], DamagedCall> {
    select.bind(1, id.rawValue)
    let past = try select.first { row throws(StoreError) in row.isNull(0) ? nil : row.bytes(0) }
    guard let past = past ?? nil else { return .success([]) }
    do throws(AttemptDamage) {
      return .success(try PackedAttempts.attempts(in: past))
    } catch {
      return .failure(error.of(id))
    }
  }
}

/// Changes the column `past`.
struct PastChanges {
  private let column: PastColumn
  private let update: SQLiteStatement

  /// Prepares the statements.
  init(on connection: SQLiteConnection) throws(StoreError) {
    column = try PastColumn(on: connection)
    update = try connection.prepare("change a call's packed attempts", "UPDATE requests SET past = ?2 WHERE id = ?1")
  }

  /// Whether there is a packed attempt with a number. Damaged attempts are none.
  func contains(_ number: Int, of id: CallID) throws(StoreError) -> Bool {
    guard case .success(let attempts) = try column.attempts(of: id) else { return false }
    return attempts.contains { $0.number == Int64(number) }
  }

  /// Removes the response body of an attempt, if it is packed.
  func forgetBody(_ number: Int, of id: CallID) throws(StoreError) {
    guard case .success(var attempts) = try column.attempts(of: id),
      let index = attempts.firstIndex(where: { $0.number == Int64(number) }),
      attempts[index].response?.body.isEmpty == false
    else { return }
    attempts[index].forgetBody()
    try set(attempts, of: id)
  }

  /// Erases the responses. Damaged attempts are removed, because what they contain is unknown.
  func erase(of id: CallID) throws(StoreError) {
    switch try column.attempts(of: id) {
    case .success(var attempts):
      guard !attempts.isEmpty else { return }
      for index in attempts.indices { attempts[index].response = nil }
      try set(attempts, of: id)
    case .failure: try set([], of: id)
    }
  }

  private func set(_ attempts: [StoredAttempt], of id: CallID) throws(StoreError) {
    update.bind(1, id.rawValue)
    guard let packed = PackedAttempts.packed(attempts) else {
      update.bind(2, nil as Int64?)
      return try update.run()
    }
    try packed.withUnsafeBufferPointer { bytes throws(StoreError) in
      update.bind(2, bytes: bytes)
      try update.run()
    }
  }
}
