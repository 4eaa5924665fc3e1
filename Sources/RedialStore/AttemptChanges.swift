internal import RedialCore
internal import RedialModel

/// Stores attempts: first ones, which are most, in a table of their own, where they have their calls' identities. One that is
/// stored never changes, but for its response body, which is not kept for ever.
struct AttemptChanges {
  private let payloads: PayloadRule
  private let insertFirst: SQLiteStatement
  private let insertLater: SQLiteStatement
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
    let columns = """
      started_at, duration, outcome, status, failure_code, failure_message, decision, truncated, response_head,
        response_body, figures, response_body_size
      """
    let values = "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14"
    insertFirst = try connection.prepare(
      "store an attempt", "INSERT INTO first_attempts (id, \(columns)) VALUES (?1, \(values))")
    insertLater = try connection.prepare(
      "store an attempt", "INSERT INTO attempts (call_id, number, \(columns)) VALUES (?1, ?2, \(values))")
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

  /// Stores an attempt of a call, and forgets the response body of one so long ago that it is not kept any more; it is
  /// an error when the call has one of that number.
  func insert(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) {
    if attempt.number > payloads.keptResponses {
      try forgetBody(of: attempt.number - payloads.keptResponses, id)
    }
    let insert = attempt.number == 1 ? insertFirst : insertLater
    insert.bind(1, id.rawValue)
    if attempt.number != 1 { insert.bind(2, Int64(attempt.number)) }
    insert.bind(3, attempt.startedAt.microseconds)
    insert.bind(4, attempt.duration.wholeMicroseconds)
    insert.bind(5, Int64(attempt.outcome.rawValue))
    insert.bind(6, attempt.status.map { Int64($0) })
    insert.bind(7, text: attempt.failure?.code)
    insert.bind(8, text: attempt.failure?.message)
    // Whether there was a response is told by this column alone, since both its parts may be empty.
    insert.bind(10, attempt.response.map { $0.truncated ? 1 : 0 })
    let head = attempt.response?.head.bytes ?? []
    let given = attempt.response?.body ?? []
    let compressed = PayloadCoding.deflated(given, threshold: payloads.compressMinBytes)
    let body = compressed ?? given
    insert.bind(14, compressed.map { _ in Int64(given.count) })
    let figures = attempt.figures?.encoded ?? []
    try attempt.decision.withUnsafeBufferPointer { decision throws(StoreError) in
      try head.withUnsafeBufferPointer { head throws(StoreError) in
        try body.withUnsafeBufferPointer { body throws(StoreError) in
          insert.bind(9, bytes: decision)
          insert.bind(11, bytes: head)
          try figures.withUnsafeBufferPointer { figures throws(StoreError) in
            insert.bind(12, bytes: body)
            insert.bind(13, bytes: figures)
            try insert.run()
          }
        }
      }
    }
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
