internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// Which issues are wanted.
struct IssueQuery: Sendable {
  var namespace: Namespace
  /// The only one; nil for all.
  var id: IssueID?
  /// Those in one of these states; all of them when it is empty.
  var states: Set<CallIssue.State> = []
  var target: TargetKey?
  /// The maximum number of issues on a page.
  var limit = PageSize.issues.usual
  /// How many issues the pages before it have. Their numbers of calls change, so an issue may be on two pages, or on none.
  var first = 0

  func selects(_ issue: CallIssue, at now: Timestamp) -> Bool {
    (id == nil || issue.id == id) && (target == nil || issue.target == target) && issue.target.namespace == namespace
      && (states.isEmpty || states.contains(issue.state(at: now)))
  }
}

/// Issues that were found, and whether these are all.
struct FoundIssues: Sendable {
  var issues: [CallIssue] = []
  var isComplete = true
}

/// What is wrong, as people see it. Failed calls are counted in the store; all else each instance knows of its targets.
struct IssueAnswers: Sendable {
  /// The statements about the issues of a namespace, by the text of their ids.
  typealias Marks = [String: IssueMark]

  let engine: EngineLane
  let queries: Queries
  let clock: Clock
  let standings: TargetStandings
  /// What a check of the store finds.
  let watch: StoreWatch
  /// From when on a due call is late.
  let lateAfter: Duration

  /// The most targets that are looked at.
  private static let mostTargets = 1000
  /// How many calls of a group are looked at for one that says its error.
  private static let mostExamples = 20

  private var reader: any CallReader { queries.reader }

  /// Gets the issues that this instance knows: all but those of failed calls.
  ///
  /// - Parameter then: Called on the engine's lane.
  func find(_ wanted: IssueQuery, then: @escaping @Sendable (FoundIssues) -> Void) {
    if wanted.id?.failure != nil { return then(FoundIssues()) }
    engine.ask { engine in
      if let target = wanted.target { return engine.describe(target).map { [$0] } ?? [] }
      // One more says that there are more. A single issue may be of any of them.
      return engine.troubled(in: [wanted.namespace], limit: wanted.id == nil ? Self.mostTargets + 1 : .max)
    } then: { [self] targets in
      let now = clock.now
      let shown = targets.prefix(wanted.id == nil ? Self.mostTargets : .max)
      // What a message names is found as long as that is not over.
      var issues = shown.flatMap { CallIssue.of($0, lateAfter: lateAfter, at: now) }
        .filter { issue in wanted.id.map { $0 == issue.id } ?? !issue.isEnding }
      if wanted.namespace.isDefault, wanted.target == nil { issues += stuck() ?? [] }
      then(FoundIssues(issues: issues, isComplete: targets.count <= Self.mostTargets))
    }
  }

  /// The issues of calls that a check of the store finds; nil before the first check.
  func stuck() -> [CallIssue]? {
    watch.latestFindings.map { findings in
      findings.filter { $0.count > 0 }.map { CallIssue(check: $0.check.rawValue, calls: $0.count, at: clock.now) }
    }
  }

  /// The statements about the issues of a namespace.
  func marks(in namespace: Namespace) throws(StoreError) -> Marks { try marks()[namespace] ?? [:] }

  /// The statements about the issues of all namespaces.
  func marks() throws(StoreError) -> [Namespace: Marks] {
    var marks: [Namespace: Marks] = [:]
    for mark in try reader.readable(.issue, as: IssueMark.self) {
      marks[mark.targetKey.namespace, default: [:]][mark.id] = mark
    }
    return marks
  }

  /// Issues with the statements about them, those that are wanted; those of most calls first.
  func marked(_ issues: [CallIssue], _ wanted: IssueQuery, _ marks: Marks) -> [CallIssue] {
    let now = clock.now
    return issues.map { issue in
      var issue = issue
      issue.mark = marks[issue.id.description]
      return issue
    }.filter { wanted.selects($0, at: now) }.sorted { $0.calls > $1.calls }
  }

  /// The issues of failed calls that are wanted, and those with a statement that have no calls any more.
  ///
  /// - Parameter others: The other issues, whatever their state.
  func failed(_ wanted: IssueQuery, besides others: [CallIssue], _ marks: Marks) throws(StoreError) -> FoundIssues {
    let now = clock.now
    var (found, groups) = (FoundIssues(), [FailedCalls]())
    if wanted.id == nil || wanted.id?.failure != nil {
      // One more than the limit shows whether there are more.
      groups = try reader.failed(
        FailedQuery(in: wanted.namespace, issue: wanted.id, limit: PageSize.issues.most + 1, at: now))
      found.isComplete = groups.count <= PageSize.issues.most
    }
    for group in groups {
      let mark = marks[group.issue.description]
      let state = CallIssue.state(isThere: group.count > 0, lastAt: group.lastAt, mark, at: now)
      guard wanted.states.isEmpty || wanted.states.contains(state) else { continue }
      // One more than is shown says that there are more.
      guard found.issues.count <= wanted.first + wanted.limit else { break }
      guard var issue = try issue(group, in: wanted.namespace, mark) else { continue }
      issue.mark = mark
      if wanted.selects(issue, at: now) { found.issues.append(issue) }
    }
    let known = Set(groups.map(\.issue.description) + others.map(\.id.description))
    // One that was cut off has calls.
    let areAll = groups.count <= PageSize.issues.most
    for mark in marks.values.sorted(by: { $0.id < $1.id }) where areAll && !known.contains(mark.id) {
      if let issue = CallIssue(marked: mark), wanted.selects(issue, at: now) { found.issues.append(issue) }
    }
    return found
  }

  /// The issues of calls that failed since a time and are not done with; if there are too many, those of most calls.
  func failed(since: Timestamp, in namespace: Namespace, _ marks: Marks) throws(StoreError) -> FoundIssues {
    let now = clock.now
    // One more than the limit shows whether there are more.
    var query = FailedQuery(in: namespace, limit: PageSize.issues.most + 1, at: now)
    query.since = since
    let groups = try reader.failed(query)
    var found = FoundIssues(isComplete: groups.count <= PageSize.issues.most)
    for group in groups.prefix(PageSize.issues.most) {
      let mark = marks[group.issue.description]
      guard CallIssue.state(isThere: group.count > 0, lastAt: group.lastAt, mark, at: now) != .resolved,
        var issue = try issue(group, in: namespace, mark)
      else { continue }
      issue.mark = mark
      found.issues.append(issue)
    }
    return found
  }

  /// Whom an issue concerns, by its newest calls.
  func affected(by issue: CallIssue) throws(StoreError) -> AffectedCalls {
    var affected = AffectedCalls()
    affected.isComplete = true
    guard issue.calls > 0, let filter = issue.filter else { return affected }
    var query = CallQuery(filter, limit: AffectedCalls.mostCounted)
    if query.filter.asksForWaits { query.standings = standings.known(at: clock.now) }
    let page = try reader.calls(query)
    for call in page.calls { affected.add(call.record.spec) }
    affected.isComplete = page.next == nil
    return affected
  }

  /// A group in the words of its newest call, or else of another; nil if all its calls are gone.
  private func issue(
    _ group: FailedCalls, in namespace: Namespace, _ mark: IssueMark?
  ) throws(StoreError) -> CallIssue? {
    var words = try words(of: group.example, group.issue)
    if words?.isWhole != true {
      for kind in CallKind.allCases where words?.isWhole != true {
        var filter = CallFilter(kind: kind)
        (filter.namespace, filter.issue) = (namespace, group.issue)
        for call in try reader.calls(CallQuery(filter, limit: Self.mostExamples)).calls where words?.isWhole != true {
          words = try self.words(of: call.record.id, group.issue) ?? words
        }
      }
    }
    guard let words else { return nil }
    var issue = CallIssue(
      group.issue, words.group, calls: group.count, firstAt: group.firstAt, lastAt: group.lastAt, hours: group.hours,
      example: words.example)
    if !words.isWhole, let mark { issue.error = mark.error }
    return issue
  }

  /// What a call of a group says of it, and whether its payloads were not erased; nil if it is damaged, or not of the group
  /// any more.
  private func words(
    of id: CallID, _ issue: IssueID
  ) throws(StoreError) -> (group: FailedGroup, example: CallID, isWhole: Bool)? {
    let found: StoredCall?
    do throws(StoreError) {
      found = try reader.call(id, in: nil, allResponses: false)
    } catch {
      guard error.callDamaged != nil else { throw error }
      return nil
    }
    guard let found, found.record.progress.issue == issue,
      var group = FailedGroup(of: found.record, last: found.attempts.last)
    else { return nil }
    if group.others.id == issue { group = group.others }
    return (group, id, found.record.spec.contentErasedAt == nil)
  }
}

extension Answer {
  /// 200: a page of issues.
  ///
  /// - Parameters:
  ///   - first: How many issues the pages before it have.
  ///   - limit: How many it has at most.
  static func issues(
    _ found: FoundIssues, from first: Int = 0, limit: Int = .max, at now: Timestamp
  ) -> HTTPResponse {
    let rest = found.issues.dropFirst(first)
    let next = rest.count > limit ? "\(first + limit)" : nil
    return list(rest.prefix(limit), next: next, { $0.write(at: now, to: &$1) }) {
      $0.field("isComplete", found.isComplete)
    }
  }

  static func noSuchIssue(_ id: IssueID?) -> Problem {
    Problem(
      .issueNotFound,
      detail:
        "\(id?.description ?? "It") is not there any more, and has no statement. GET /v1/issues lists those that are.")
  }
}
