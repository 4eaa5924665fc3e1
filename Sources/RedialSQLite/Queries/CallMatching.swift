internal import RedialStore
internal import RedialCore
internal import RedialModel

/// Checks one call at a time against the conditions of a filter that no index covers.
struct CallMatching {
  private let redaction: Redaction
  private let matches: SQLiteStatement
  private let hasLabel: SQLiteStatement
  private let attempts: AttemptRows
  private let spec: SQLiteStatement

  /// Prepares the queries.
  ///
  /// - Parameters:
  ///   - redaction: Hides parts of URLs. Hidden parts are not found either: a client that may not see a secret must not
  ///     be able to guess it letter by letter.
  ///   - attempts: Reads attempts on this connection.
  init(on connection: SQLiteConnection, redaction: Redaction, attempts: AttemptRows) throws(StoreError) {
    self.redaction = redaction
    self.attempts = attempts
    spec = try connection.prepare("judge a call's URL", "SELECT spec FROM requests WHERE id = ?1")
    matches = try connection.prepare(
      "judge a call",
      """
      SELECT 1 FROM calls c WHERE c.id = ?1 AND c.kind = ?2 AND (?3 >> \(StateColumns.storedState("c"))) & 1
        AND (?4 IS NULL OR c.target_id = ?4) AND (?5 IS NULL OR c.finished_at <= ?5)
        AND (?6 IS NULL OR c.failure & \(FailureCode.reasonMask) = ?6) AND (?7 IS NULL OR c.failure = ?7)
      """)
    hasLabel = try connection.prepare(
      "judge a call's labels", "SELECT 1 FROM labels WHERE name = ?1 AND value = ?2 AND call_id = ?3")
  }

  /// Whether a call matches, and the work that it took to find out.
  struct Verdict {
    var fits: Bool
    /// In calls, as ``CallQuery/scanLimit`` counts them.
    var work = 1
  }

  /// Bytes of a URL that are searched at the cost of one call. Usual URLs are shorter.
  static let urlBytesPerCall = 256

  /// Checks a call against a filter, except for its time of acceptance.
  ///
  /// - Parameter search: The search for the filter's part of the URL; nil if it has none.
  func callAsFunction(
    _ id: CallID, _ filter: CallFilter, targetID: Int64?, search: TextSearch?
  ) throws(StoreError) -> Verdict {
    for label in filter.labels {
      hasLabel.bind(1, key: LabelName(label.name, in: filter.namespace))
      hasLabel.bind(2, text: label.value)
      hasLabel.bind(3, id.rawValue)
      guard try hasLabel.first({ row throws(StoreError) in row.integer(0) }) != nil else { return Verdict(fits: false) }
    }
    // One bit for each selected state.
    matches.bind(1, id.rawValue)
    matches.bind(2, Int64(filter.kind.rawValue))
    matches.bind(3, filter.storedStates.reduce(Int64(0)) { $0 | 1 << Int64($1.rawValue) })
    matches.bind(4, targetID)
    matches.bind(5, filter.endedBy?.microseconds)
    matches.bind(6, filter.failure.map { Int64($0.rawValue) })
    matches.bind(7, filter.issue?.rawValue)
    guard try matches.first({ row throws(StoreError) in row.integer(0) }) != nil, try fitsLastAttempt(id, filter) else {
      return Verdict(fits: false)
    }
    return try search.map { search throws(StoreError) in try judgeURL(of: id, by: search) } ?? Verdict(fits: true)
  }

  /// Checks how the last attempt went, if the filter asks for that.
  private func fitsLastAttempt(_ id: CallID, _ filter: CallFilter) throws(StoreError) -> Bool {
    guard filter.outcome != nil || filter.statuses != nil else { return true }
    guard let last = try attempts.last(of: id) else { return false }
    if let outcome = filter.outcome, last.outcome != Int64(outcome.rawValue) { return false }
    guard let statuses = filter.statuses else { return true }
    return last.status.map { (Int64(statuses.lowerBound)...Int64(statuses.upperBound)).contains($0) } ?? false
  }

  /// Searches the URL of a call, as it is shown.
  private func judgeURL(of id: CallID, by search: TextSearch) throws(StoreError) -> Verdict {
    spec.bind(1, id.rawValue)
    let url = try spec.first { row throws(StoreError) in row.withBytes(0) { CallSpec.shownURL(inCanonicalJSON: $0) } }
    guard let url = url ?? nil else { return Verdict(fits: false) }
    return Verdict(fits: search.occurs(in: redaction.url(url)), work: 1 + url.utf8.count / Self.urlBytesPerCall)
  }
}
