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
  /// The maximum number of issues of failed calls.
  var limit = 100

  static let maximumLimit = 1000

  func selects(_ issue: CallIssue, at now: Timestamp) -> Bool {
    (id == nil || issue.id == id) && (target == nil || issue.target == target) && issue.target.namespace == namespace
      && (states.isEmpty || states.contains(issue.state(at: now)))
  }
}

/// Groups of failed and late calls as people see them. Failed calls are counted in the store; of the late ones, each
/// instance knows those of its targets.
struct IssueAnswers: Sendable {
  let engine: EngineLane
  let queries: Queries
  let clock: Clock
  /// From when on a due call is late.
  let lateAfter: Duration

  /// The most targets whose late calls are looked at.
  private static let mostTargets = 1000

  private var reader: any CallReader { queries.reader }

  /// Gets the issues of late calls to this instance's targets.
  ///
  /// - Parameter then: Called on the engine's lane.
  func findLate(_ wanted: IssueQuery, then: @escaping @Sendable ([CallIssue]) -> Void) {
    if let id = wanted.id, id.failure != nil { return then([]) }
    let query = TargetQuery(namespace: wanted.namespace, limit: Self.mostTargets, isActive: true)
    engine.ask {
      $0.describe(query)
    } then: { [clock, lateAfter] page in
      let now = clock.now
      then(page.targets.flatMap { CallIssue.late($0, after: lateAfter, at: now) })
    }
  }

  /// Issues with the statements about them, those that are wanted; those of most calls first.
  func marked(_ issues: [CallIssue], _ wanted: IssueQuery) throws(StoreError) -> [CallIssue] {
    let marks = try marks()
    let now = clock.now
    return issues.map { issue in
      var issue = issue
      issue.mark = marks[issue.id.description]
      return issue
    }.filter { wanted.selects($0, at: now) }.sorted { $0.calls > $1.calls }
  }

  /// The issues of failed calls that are wanted, and those with a statement that have no calls any more.
  ///
  /// - Parameter late: The ids of the issues of late calls.
  /// - Returns: The issues, and whether these are all.
  func failed(
    _ wanted: IssueQuery, besides late: [String]
  ) throws(StoreError) -> (issues: [CallIssue], isComplete: Bool) {
    let now = clock.now
    var (issues, isComplete) = ([CallIssue](), true)
    if wanted.id?.failure != nil || wanted.id == nil {
      // One more than the limit shows whether there are more.
      let found = try reader.failed(
        FailedQuery(in: wanted.namespace, issue: wanted.id, limit: wanted.limit + 1, at: now))
      isComplete = found.count <= wanted.limit
      for group in found.prefix(wanted.limit) {
        if let issue = try issue(group, in: wanted.namespace) { issues.append(issue) }
      }
    }
    let known = Set(issues.map(\.id.description) + late)
    for mark in try marks().values where !known.contains(mark.id) {
      if let issue = CallIssue(marked: mark) { issues.append(issue) }
    }
    return (try marked(issues, wanted), isComplete)
  }

  /// A group with what its newest call says; nil if that call is gone.
  private func issue(_ group: FailedCalls, in namespace: Namespace) throws(StoreError) -> CallIssue? {
    let found: StoredCall?
    do throws(StoreError) {
      found = try reader.call(group.example, in: namespace, allResponses: false)
    } catch {
      // It is damaged, and the others are not.
      guard error.callDamaged != nil else { throw error }
      return nil
    }
    guard let found, let cause = FailedGroup(of: found.record, last: found.attempts.last) else { return nil }
    return CallIssue(
      group.issue, cause, calls: group.count, firstAt: group.firstAt, lastAt: group.lastAt, hours: group.hours,
      example: group.example)
  }

  private func marks() throws(StoreError) -> [String: IssueMark] {
    var marks: [String: IssueMark] = [:]
    for document in try reader.documents(.issue) {
      // One that cannot be read hides no issue.
      if let mark = IssueMark(document: document.content) { marks[document.id] = mark }
    }
    return marks
  }
}

/// An issue as an instance shows it.
typealias ShownIssue = (id: String, json: [UInt8])

extension Answer {
  /// 200: the issues of late calls, and those of failed ones.
  static func issues(_ late: [ShownIssue], _ failed: [CallIssue], isComplete: Bool, at now: Timestamp) -> HTTPResponse {
    json(capacity: 4096) { writer in
      writer.beginObject()
      writer.key("data")
      writer.beginArray()
      for issue in late { writer.raw(issue.json) }
      for issue in failed { issue.write(at: now, to: &writer) }
      writer.endArray()
      writer.field("isComplete", isComplete)
      writer.endObject()
    }
  }

  static func noSuchIssue(_ id: IssueID?) -> Problem {
    Problem(
      status: 404, code: "issueNotFound", title: "There is no such issue",
      detail: "No failed or late call is in \(id?.description ?? "it"), and it has no statement.")
  }
}
