internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Stores attempts. A stored attempt never changes, except that its response body is removed after a time.
struct AttemptChanges {
  private let payloads: PayloadRule
  private let documents: DocumentTable
  private let vault: Vault
  /// Which attempts may be stored with others.
  let batching: WriteBatching
  private let rows: RowInsertion
  private let forgetBody: SQLiteStatement
  private let eraseResponses: SQLiteStatement
  private let removeAll: SQLiteStatement
  private let exists: SQLiteStatement
  private let past: PastChanges

  /// Prepares the statements.
  ///
  /// - Parameter payloads: For how many attempts the response bodies are kept, and from which size on they are
  ///   compressed.
  init(on connection: SQLiteConnection, payloads: PayloadRule, _ documents: DocumentTable) throws(StoreError) {
    self.documents = documents
    vault = connection.vault
    self.payloads = payloads
    batching = WriteBatching(keptResponses: payloads.keptResponses)
    past = try PastChanges(on: connection)
    rows = try RowInsertion(
      on: connection, "store an attempt", into: "attempts",
      [
        "call_id", "number", "started_at", "duration", "outcome", "status", "failure_code", "failure_message",
        "decision", "truncated", "response_head", "response_body", "figures", "response_body_size", "sum",
        "response_sum",
      ])
    forgetBody = try connection.prepare(
      "forget a response body",
      """
      UPDATE attempts SET response_body = NULL, response_body_size = NULL, truncated = truncated | 1,
        response_sum = \(AttemptSums.withoutBody("response_sum"))
      WHERE call_id = ?1 AND number = ?2 AND length(response_body) > 0
      """)
    eraseResponses = try connection.prepare(
      "erase a call's responses",
      """
      UPDATE attempts SET truncated = NULL, response_head = NULL, response_body = NULL, response_body_size = NULL,
        response_sum = NULL
      WHERE call_id = ?1
      """)
    exists = try connection.prepare(
      "find an attempt", "SELECT 1 FROM attempts WHERE call_id = ?1 AND number = ?2")
    removeAll = try connection.prepare("remove a call's attempts", "DELETE FROM attempts WHERE call_id = ?1")
  }

  /// Removes all attempts of a call that are rows; the packed ones are removed with its request.
  func remove(of id: CallID) throws(StoreError) {
    removeAll.bind(1, id.rawValue)
    try removeAll.run()
  }

  /// Erases the stored parts of the responses to a call's attempts.
  func erase(of id: CallID) throws(StoreError) {
    eraseResponses.bind(1, id.rawValue)
    try eraseResponses.run()
    try past.erase(of: id)
  }

  /// Whether there is an attempt with a number.
  func contains(_ number: Int, of id: CallID) throws(StoreError) -> Bool {
    exists.bind(1, id.rawValue)
    exists.bind(2, Int64(number))
    if try exists.first({ row throws(StoreError) in row.integer(0) }) != nil { return true }
    return try past.contains(number, of: id)
  }

  /// An attempt in the form in which it is stored.
  func stored(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) -> StoredAttempt {
    if vault.sealsAll { try documents.ensureKey(of: attempt.namespace.name) }
    return StoredAttempt(attempt, of: id, compressMinBytes: payloads.compressMinBytes, vault)
  }

  /// Stores attempts, as ``insert(_:of:)`` does each: all of them may wait.
  func insert(_ attempts: [(id: CallID, attempt: StoredAttempt)]) throws(StoreError) {
    try rows.insert(attempts) { new, statement in
      bind(new.attempt, of: new.id, to: statement)
      statement.bind(9, copying: new.attempt.decision)
      statement.bind(11, copying: new.attempt.response?.head ?? [])
      statement.bind(12, copying: new.attempt.response?.body ?? [])
      statement.bind(13, copying: new.attempt.figures)
    }
  }

  /// Stores an attempt of a call, and removes the response body of the attempt that is now too old for it. It is an
  /// error if the call has an attempt with that number.
  func insert(_ attempt: AttemptRecord, of id: CallID) throws(StoreError) {
    if batching.forgets(attempt) {
      forgetBody.bind(1, id.rawValue)
      forgetBody.bind(2, Int64(attempt.number - payloads.keptResponses))
      try forgetBody.run()
      try past.forgetBody(attempt.number - payloads.keptResponses, of: id)
    }
    if try past.contains(attempt.number, of: id) { throw alreadyThere(attempt.number, of: id) }
    let attempt = try stored(attempt, of: id)
    let (head, body) = (attempt.response?.head ?? [], attempt.response?.body ?? [])
    try rows.insert { statement, run throws(StoreError) in
      bind(attempt, of: id, to: statement)
      try attempt.decision.withUnsafeBufferPointer { decision throws(StoreError) in
        try head.withUnsafeBufferPointer { head throws(StoreError) in
          try body.withUnsafeBufferPointer { body throws(StoreError) in
            statement.bind(9, bytes: decision)
            statement.bind(11, bytes: head)
            try attempt.figures.withUnsafeBufferPointer { figures throws(StoreError) in
              statement.bind(12, bytes: body)
              statement.bind(13, bytes: figures)
              try run()
            }
          }
        }
      }
    }
  }

  private func alreadyThere(_ number: Int, of id: CallID) -> StoreError {
    StoreError(kind: .corrupt, message: "Could not store attempt \(number) of \(id): it is there already.")
  }

  /// Binds the columns that are not blobs.
  private func bind(_ attempt: StoredAttempt, of id: CallID, to statement: SQLiteStatement) {
    statement.bind(1, id.rawValue)
    statement.bind(2, attempt.number)
    statement.bind(3, attempt.startedAt)
    statement.bind(4, attempt.duration)
    statement.bind(5, attempt.outcome)
    statement.bind(6, attempt.status)
    statement.bind(7, text: attempt.failure?.code)
    statement.bind(8, text: attempt.failure?.message)
    // Only this column says whether there was a response, because both its parts may be empty.
    statement.bind(10, attempt.response?.flags)
    statement.bind(14, attempt.response?.inflatedSize)
    let sums = AttemptSums(attempt, of: id)
    statement.bind(15, sums.sum)
    statement.bind(16, sums.response)
  }
}
