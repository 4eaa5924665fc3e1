internal import RedialCore
internal import RedialModel

/// Stores attempts. One that is stored never changes, but for its response body, which is not kept for ever.
struct AttemptChanges {
  private let payloads: PayloadRule
  private let insert: SQLiteStatement
  private let removeAll: SQLiteStatement
  private let forgetBody: SQLiteStatement
  private let eraseResponses: SQLiteStatement

  /// Prepares the statement.
  ///
  /// - Parameter payloads: Of how many attempts the response bodies are kept, and from what size on compressed.
  init(on connection: SQLiteConnection, payloads: PayloadRule) throws(StoreError) {
    self.payloads = payloads
    insert = try connection.prepare(
      "store an attempt",
      """
      INSERT INTO attempts (call_id, number, started_at, duration, outcome, status, failure_code, failure_message,
        decision, truncated, response_head, response_body, figures, response_body_size)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
      """)
    forgetBody = try connection.prepare(
      "forget a response body",
      """
      UPDATE attempts SET response_body = NULL, response_body_size = NULL, truncated = 1
      WHERE call_id = ?1 AND number = ?2 AND length(response_body) > 0
      """)
    eraseResponses = try connection.prepare(
      "erase a call's responses",
      """
      UPDATE attempts SET truncated = NULL, response_head = NULL, response_body = NULL, response_body_size = NULL
      WHERE call_id = ?1
      """)
    removeAll = try connection.prepare("remove a call's attempts", "DELETE FROM attempts WHERE call_id = ?1")
  }

  /// Removes all attempts of a call.
  func remove(of id: CallID) throws(StoreError) {
    removeAll.bind(1, id.rawValue)
    try removeAll.run()
  }

  /// Erases what was kept of the responses to a call's attempts.
  func erase(of id: CallID) throws(StoreError) {
    eraseResponses.bind(1, id.rawValue)
    try eraseResponses.run()
  }

  /// Stores an attempt of a call, and forgets the response body of one so long ago that it is not kept any more; it is
  /// an error when the call has one of that number.
  func insert(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) {
    if attempt.number > payloads.keptResponses {
      forgetBody.bind(1, id.rawValue)
      forgetBody.bind(2, Int64(attempt.number - payloads.keptResponses))
      try forgetBody.run()
    }
    insert.bind(1, id.rawValue)
    insert.bind(2, Int64(attempt.number))
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
}
