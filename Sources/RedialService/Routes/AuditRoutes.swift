internal import HTTPServer
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialText

/// Who did what.
struct AuditRoutes: RouteGroup {
  let queries: Queries
  let clock: Clock
  /// Maximum records that are examined for one page.
  let maxScan: Int

  var routes: [Route] { [Route(.get, "/v1/audit", .scope(.admin), serve: list)] }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (wanted, caller) = (
      try AuditQuery(parameters: request.query, of: exchange.caller, at: clock.now), exchange.caller
    )
    queries.answer(exchange.responder, as: .scan, for: caller) { departure in
      let (records, next) = try find(wanted, unless: departure)
      return Answer.list(records, next: next) { $0.write(to: &$1) }
    }
  }

  /// A page of records, and the cursor of the next one. One that cannot be read hides no other.
  private func find(
    _ wanted: AuditQuery, unless departure: QueryLanes.Departure
  ) throws(StoreError) -> (records: [AuditRecord], next: String?) {
    var (records, end, examined) = ([AuditRecord](), wanted.ids.upperBound, 0)
    while examined < maxScan, !departure.isKnown {
      let part = try queries.reader.documents(
        .audit, in: min(wanted.ids.lowerBound, end)..<end, limit: min(500, wanted.limit + 1))
      for document in part {
        if records.count == wanted.limit { return (records, end) }
        end = document.id
        guard let record = AuditRecord(document: document.content), wanted.matches(record) else { continue }
        records.append(record)
      }
      if part.count < min(500, wanted.limit + 1) { return (records, nil) }
      examined += part.count
    }
    return (records, end)
  }
}

/// Which records of the audit log to list.
struct AuditQuery: Sendable {
  /// Nil for all.
  private var namespace: Namespace?
  private var actor: String?
  private var actions: Set<AuditAction>
  private var object: String?
  private(set) var ids: Range<String>
  let limit: Int

  /// Reads which records to list.
  ///
  /// - Parameter now: From when durations count, back.
  /// - Throws: A problem that names the wrong parameter.
  init(parameters query: String?, of caller: Caller, at now: Timestamp) throws(Problem) {
    var parameters = try QueryParameters(query)
    namespace = caller.isOperator && caller.namespace.isDefault ? nil : caller.namespace
    if let name = parameters.take("namespace") {
      guard let wanted = Namespace(name), namespace == nil || namespace == wanted else {
        throw QueryParameters.problem("namespace", "must be the name of a namespace whose records the key may see")
      }
      namespace = wanted
    }
    (actor, object) = (parameters.take("actor"), parameters.take("object"))
    actions = try parameters.takeWords("action", of: AuditAction.self)
    let first = try Self.time("since", from: &parameters, now).map(AuditRecord.firstID(at:)) ?? AuditRecord.prefix
    // An underscore comes before each digit; a tilde is behind all.
    var end = try Self.time("until", from: &parameters, now).map(AuditRecord.firstID(at:)) ?? AuditRecord.prefix + "~"
    let page = try ListPage(from: &parameters, .audit)
    limit = page.limit
    if let cursor = page.cursor {
      guard AuditRecord.isID(cursor) else {
        throw QueryParameters.problem("cursor", "must be the nextCursor of an earlier page")
      }
      end = min(end, cursor)
    }
    try parameters.finish()
    ids = min(first, end)..<end
  }

  /// Whether a record is one of those wanted.
  func matches(_ record: AuditRecord) -> Bool {
    (namespace == nil || record.namespace == namespace)
      && (actor == nil || record.actor == actor || record.actorName == actor || record.actorKind.rawValue == actor)
      && (object == nil || record.object == object)
      && (actions.isEmpty || AuditAction(rawValue: record.action).map(actions.contains) == true)
  }

  private static func time(
    _ name: String, from parameters: inout QueryParameters, _ now: Timestamp
  ) throws(Problem) -> Timestamp? {
    guard let text = parameters.take(name) else { return nil }
    if let time = TimestampText.parse(text) { return time }
    guard let age = DurationText.parse(text) else {
      throw QueryParameters.problem(name, "must be a time such as 2026-12-01T09:00:00Z, or a duration such as 24h")
    }
    return Timestamp(microseconds: now.microseconds &- age.wholeMicroseconds)
  }
}
