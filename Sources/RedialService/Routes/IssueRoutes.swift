internal import HTTPServer
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// What is wrong.
struct IssueRoutes: RouteGroup {
  let issues: IssueAnswers
  let changes: Changes
  let messenger: AlertMessenger
  /// Nil if no others can share the store.
  let instances: OtherInstances?

  private static let one = "/v1/issues/{id}"
  /// The most statements that are kept of a namespace.
  private static let mostMarks = 1000

  private var queries: Queries { issues.queries }
  private var clock: Clock { issues.clock }

  var routes: [Route] {
    [
      Route(.get, "/v1/issues", .scope(.read), server: .all, serve: list),
      Route(.get, Self.one, .scope(.read), server: .all, serve: show),
      Route(.patch, Self.one, .scope(.operate), server: .leader, audit: .issueChanged, serve: change),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    find(try IssueQuery(parameters: request.query, in: exchange.caller.namespace), exchange)
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    find(IssueQuery(namespace: exchange.caller.namespace, id: try exchange.issueID()), exchange)
  }

  /// Answers with the issues that are wanted, of all instances.
  private func find(_ wanted: IssueQuery, _ exchange: Exchange) {
    // The store has all of failed calls.
    if wanted.id?.failure == nil, gather(exchange.forwardable, exchange, then: { answer(wanted, $0, exchange) }) {
      return
    }
    issues.find(wanted) { known in
      guard exchange.isForwarded else { return answer(wanted, known, exchange) }
      // The instance that asks counts the failed calls, and knows the statements.
      queries.respond(exchange.responder, Answer.issues(known, at: clock.now))
    }
  }

  private func answer(_ wanted: IssueQuery, _ known: FoundIssues, _ exchange: Exchange) {
    queries.answer(exchange.responder, as: .scan, for: exchange.caller) { _ in
      let marks = try issues.marks(in: wanted.namespace)
      var found = try issues.failed(wanted, besides: known.issues, marks)
      found.issues = issues.marked(known.issues, wanted, marks) + found.issues
      if !known.isComplete { found.isComplete = false }
      let now = clock.now
      guard let id = wanted.id else {
        return Answer.issues(found, from: wanted.first, limit: wanted.limit, at: now)
      }
      guard let issue = found.issues.first else { throw Answer.noSuchIssue(id) }
      let affected = try issues.affected(by: issue)
      return Answer.json(capacity: 2048) { issue.write(at: now, affected: affected, to: &$0) }
    }
  }

  /// Gathers the issues of all instances, but those of failed calls; false, and nothing is done, if there are no others.
  private func gather(
    _ request: ForwardableRequest?, _ exchange: Exchange, then: @escaping @Sendable (FoundIssues) -> Void
  ) -> Bool {
    instances?.owners.gatherIssues(request, exchange, then: then) ?? false
  }

  private func change(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    var wanted = try IssueMarkRequest.read(request.content, at: clock.now)
    exchange.caller.sign(&wanted.attribution)
    let id = try exchange.issueID()
    let query = IssueQuery(namespace: exchange.caller.namespace, id: id)
    guard id.failure == nil else { return change(query, [], to: wanted, exchange) }
    if wanted.state == .resolved {
      throw Problem(
        .issueNotResolved,
        detail:
          "\(id) is over when what it says is not so any more. Acknowledge it, or look at its target.")
    }
    let request = ForwardableRequest(.get, "/v1/issues/\(id)", json: [], of: exchange.caller)
    let then = { @Sendable [wanted] (known: FoundIssues) in change(query, known.issues, to: wanted, exchange) }
    if !gather(request, exchange, then: then) { issues.find(query, then: then) }
  }

  /// Keeps a statement about an issue, or removes it.
  private func change(_ query: IssueQuery, _ others: [CallIssue], to wanted: IssueMarkRequest, _ exchange: Exchange) {
    changes.makeDocuments(exchange) { store in
      let now = clock.now
      let marks = try issues.marks(in: query.namespace)
      let known =
        issues.marked(others, query, marks)
        + (try issues.failed(query, besides: others, marks).issues)
      guard var issue = known.first else { throw Answer.noSuchIssue(query.id) }
      issue.mark = wanted.state == .open ? nil : IssueMark(wanted, of: issue, at: now)
      let own = issue.id.description
      // The oldest make room.
      let others = marks.values.filter { $0.id != own }.sorted { $0.at < $1.at }
      let forgotten = issue.mark == nil ? [own] : others.prefix(max(0, others.count + 1 - Self.mostMarks)).map(\.id)
      try store.commit(
        forgotten.map { .remove(.issue, id: IssueMark.documentID(of: $0, in: query.namespace)) }
          + (issue.mark.map { [.put($0.document)] } ?? []))
      if let mark = issue.mark, !mark.isResolved {
        notify(of: issue, marks.merging([own: mark]) { $1 }, at: now)
      }
      return Answer.json(capacity: 512) { issue.write(at: now, to: &$0) }
    }
  }
}

extension IssueRoutes {
  /// Says to PagerDuty that somebody knows of an issue. If the process dies just now, it is not notified.
  private func notify(of issue: CallIssue, _ marks: IssueAnswers.Marks, at now: Timestamp) {
    let namespace = issue.target.namespace
    guard let alerts = try? queries.reader.readable(.alert, as: Alert.self),
      let notices = try? queries.reader.readable(.notice, as: AlertNotice.self)
    else { return }
    for notice in notices where notice.namespace == namespace && notice.isReported {
      guard
        let alert = alerts.first(where: { $0.name == notice.alert && $0.namespace == namespace }),
        alert.channel == .pagerDuty, notice.isAcknowledged(with: issue.id, marks, at: now)
      else { continue }
      messenger.send(
        AlertMessage(.acknowledged, notice, at: now), about: notice, with: [], to: alert,
        ofShard: PeerTable.leadersShard, then: { _ in })
    }
  }
}

extension IssueQuery {
  /// Reads which issues to list.
  ///
  /// - Throws: A problem that names the wrong parameter.
  init(parameters query: String?, in namespace: Namespace) throws(Problem) {
    self.init(namespace: namespace)
    var parameters = try QueryParameters(query)
    states = try parameters.takeWords("state", of: CallIssue.State.self)
    target = parameters.take("target").map { TargetKey($0, in: namespace) }
    let page = try ListPage(from: &parameters, .issues)
    limit = page.limit
    if let cursor = page.cursor {
      guard let first = Int(cursor), 0...1_000_000 ~= first else {
        throw QueryParameters.problem("cursor", "must be the nextCursor of an earlier page")
      }
      self.first = first
    }
    try parameters.finish()
  }
}
