internal import RedialCore
internal import RedialModel

/// Stores attempts: first ones, which are most, in a table of their own, where they have their calls' identities. One that is
/// stored never changes, but for its response body, which is not kept for ever.
struct AttemptChanges {
  /// Bytes of a response's body up to which SQLite may make a copy of it.
  private static let mostCopied = 16 * 1024

  private let payloads: PayloadRule
  private let first: RowInsertion
  private let later: RowInsertion
  private let forgetFirstBody: SQLiteStatement
  private let forgetBody: SQLiteStatement
  /// Of the first attempt, and of the others.
  private let eraseResponses: [SQLiteStatement]
  /// Of the first attempt, and of the others.
  private let removeAll: [SQLiteStatement]

  /// Prepares the statements.
  ///
  /// - Parameter payloads: Of how many attempts the response bodies are kept, and from what size on compressed.
  init(on connection: SQLiteConnection, payloads: PayloadRule) throws(StoreError) {
    self.payloads = payloads
    let columns = [
      "started_at", "duration", "outcome", "status", "failure_code", "failure_message", "decision", "truncated",
      "response_head", "response_body", "figures", "response_body_size",
    ]
    first = try RowInsertion(on: connection, "store an attempt", into: "first_attempts", ["id"] + columns)
    later = try RowInsertion(on: connection, "store an attempt", into: "attempts", ["call_id"] + columns + ["number"])
    let forgotten = "response_body = NULL, response_body_size = NULL, truncated = 1"
    forgetFirstBody = try connection.prepare(
      "forget a response body",
      "UPDATE first_attempts SET \(forgotten) WHERE id = ?1 AND length(response_body) > 0")
    forgetBody = try connection.prepare(
      "forget a response body",
      "UPDATE attempts SET \(forgotten) WHERE call_id = ?1 AND number = ?2 AND length(response_body) > 0")
    let erased = "truncated = NULL, response_head = NULL, response_body = NULL, response_body_size = NULL"
    eraseResponses = [
      try connection.prepare("erase a call's responses", "UPDATE first_attempts SET \(erased) WHERE id = ?1"),
      try connection.prepare("erase a call's responses", "UPDATE attempts SET \(erased) WHERE call_id = ?1"),
    ]
    removeAll = [
      try connection.prepare("remove a call's attempts", "DELETE FROM first_attempts WHERE id = ?1"),
      try connection.prepare("remove a call's attempts", "DELETE FROM attempts WHERE call_id = ?1"),
    ]
  }

  /// Removes all attempts of a call.
  func remove(of id: CallID) throws(StoreError) {
    for statement in removeAll {
      statement.bind(1, id.rawValue)
      try statement.run()
    }
  }

  /// Erases what was kept of the responses to a call's attempts.
  func erase(of id: CallID) throws(StoreError) {
    for statement in eraseResponses {
      statement.bind(1, id.rawValue)
      try statement.run()
    }
  }

  /// Whether an earlier attempt's response body is forgotten when an attempt is stored.
  func forgets(_ attempt: AttemptRecord) -> Bool { attempt.number > payloads.keptResponses }

  /// Whether the storing of an attempt has nothing to do with other attempts, so that it may come later in a transaction.
  func isIndependent(_ attempt: AttemptRecord) -> Bool {
    attempt.number == 1 && !forgets(attempt)
      && (attempt.response?.body.count ?? 0) <= Self.mostCopied
  }

  /// Stores first attempts of calls, as ``insert(_:of:)`` does each: all of them independent ones.
  func insert(_ attempts: [(id: CallID, attempt: AttemptRecord)]) throws(StoreError) {
    try first.insert(attempts) { new, statement in
      let body = bind(new.attempt, of: new.id, to: statement)
      statement.bind(8, copying: new.attempt.decision)
      statement.bind(10, copying: new.attempt.response?.head.bytes ?? [])
      statement.bind(11, copying: body)
      statement.bind(12, copying: new.attempt.figures?.encoded ?? [])
    }
  }

  /// Stores an attempt of a call, and forgets the response body of one so long ago that it is not kept any more; it is
  /// an error when the call has one of that number.
  func insert(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) {
    if forgets(attempt) {
      try forgetBody(of: attempt.number - payloads.keptResponses, id)
    }
    let (head, figures) = (attempt.response?.head.bytes ?? [], attempt.figures?.encoded ?? [])
    try (attempt.number == 1 ? first : later).insert { statement, run throws(StoreError) in
      let body = bind(attempt, of: id, to: statement)
      if attempt.number != 1 { statement.bind(14, Int64(attempt.number)) }
      try attempt.decision.withUnsafeBufferPointer { decision throws(StoreError) in
        try head.withUnsafeBufferPointer { head throws(StoreError) in
          try body.withUnsafeBufferPointer { body throws(StoreError) in
            statement.bind(8, bytes: decision)
            statement.bind(10, bytes: head)
            try figures.withUnsafeBufferPointer { figures throws(StoreError) in
              statement.bind(11, bytes: body)
              statement.bind(12, bytes: figures)
              try run()
            }
          }
        }
      }
    }
  }

  /// Binds what is no bytes, and answers the response's body as it is to be stored.
  private func bind(_ attempt: AttemptRecord, of id: CallID, to statement: SQLiteStatement) -> [UInt8] {
    statement.bind(1, id.rawValue)
    statement.bind(2, attempt.startedAt.microseconds)
    statement.bind(3, attempt.duration.wholeMicroseconds)
    statement.bind(4, Int64(attempt.outcome.rawValue))
    statement.bind(5, attempt.status.map { Int64($0) })
    statement.bind(6, text: attempt.failure?.code)
    statement.bind(7, text: attempt.failure?.message)
    // Whether there was a response is told by this column alone, since both its parts may be empty.
    statement.bind(9, attempt.response.map { $0.truncated ? 1 : 0 })
    let given = attempt.response?.body ?? []
    let compressed = PayloadCoding.deflated(given, threshold: payloads.compressMinBytes)
    statement.bind(13, compressed.map { _ in Int64(given.count) })
    return compressed ?? given
  }

  /// Forgets the response body of an attempt; an older version stored a first one among the others.
  private func forgetBody(of number: Int, _ id: CallID) throws(StoreError) {
    if number == 1 {
      forgetFirstBody.bind(1, id.rawValue)
      try forgetFirstBody.run()
    }
    forgetBody.bind(1, id.rawValue)
    forgetBody.bind(2, Int64(number))
    try forgetBody.run()
  }
}
