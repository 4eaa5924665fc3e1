internal import RedialCore
internal import RedialModel
internal import RedialStore

/// Lists of calls that are in part in the log: those of the tables without the logged ones, and those that are logged.
struct LoggedListing {
  /// What the log has, at one moment before the tables are read: a call that is folded meanwhile is in both.
  let logged: LoggedCalls
  let rows: CallRows
  let attempts: AttemptRows
  let redaction: Redaction

  /// A call without its body, as it is now; nil if there is none.
  func record(_ id: CallID) throws(StoreError) -> CallRows.Found? {
    let found = try logged.find(id, in: rows)
    // The tables are read without bodies.
    guard logged.calls[id]?.new != nil, case .intact(let record)? = found else { return found }
    return .intact(record.withoutBody)
  }

  /// What the last attempt of a call came to.
  func lastAnswer(of call: CallRecord) throws(StoreError) -> LastAnswer {
    guard call.progress.attempts > 0 else { return .none }
    let logged = logged.calls[call.id]
    if let last = logged?.attempts.last {
      guard let attempt = try? last.stored() else { return .none }
      return LastAnswer(status: attempt.status.map { Int($0) }, error: attempt.failure?.code)
    }
    guard logged == nil || logged?.stored != nil, let last = try attempts.last(of: call.id) else { return .none }
    return LastAnswer(status: last.status.map { Int($0) }, error: last.failure)
  }

  /// Puts the logged calls into a page that was found in the tables.
  func page(_ query: CallQuery, _ found: CallPage<CallID>?) throws(StoreError) -> CallPage<CallID> {
    let before = min(query.before ?? query.filter.endID, query.filter.endID)
    // The tables were searched as far as this.
    let end = max(found?.next ?? query.filter.firstID, query.filter.firstID)
    let search = query.filter.urlPart.map { TextSearch($0) }
    let condition = try WaitCondition(query)
    let listed = Set(found?.calls ?? [])
    var calls = (found?.calls ?? []).filter { logged.calls[$0] == nil }
    for (id, call) in logged.calls where id < before && id >= end {
      // The tables have the keys of the calls that they have.
      if let key = query.filter.idempotencyKey, !listed.contains(id) {
        guard let own = call.key, own.key.name == IdempotencyName(key, in: query.filter.namespace) else { continue }
      }
      if try fits(id, call, query.filter, search, condition) { calls.append(id) }
    }
    calls.sort(by: >)
    guard calls.count > query.limit else { return CallPage(calls: calls, next: found?.next) }
    calls.removeLast(calls.count - query.limit)
    return CallPage(calls: calls, next: calls.last)
  }

  /// Whether a logged call matches a filter, except for its time of acceptance.
  private func fits(
    _ id: CallID, _ call: LoggedCalls.Call, _ filter: CallFilter, _ search: TextSearch?, _ condition: WaitCondition?
  ) throws(StoreError) -> Bool {
    let progress = call.progress
    guard filter.storedStates.contains(progress.state) else { return false }
    if let least = filter.attempts, progress.attempts < least { return false }
    if let failure = filter.failure, progress.failure != failure { return false }
    if let issue = filter.issue, progress.issue != issue { return false }
    if let time = filter.endedBy {
      guard let end = progress.finishedAt, end <= time else { return false }
    }
    guard case .intact(let record)? = try self.record(id) else { return false }
    if let condition, !condition.matches(record, stored: nil) { return false }
    let spec = record.spec
    guard record.kind == filter.kind, spec.namespace == filter.namespace else { return false }
    if let target = filter.target, spec.target != TargetKey(target, in: filter.namespace) { return false }
    // Nobody searches for webhooks by their labels.
    guard filter.labels.isEmpty || record.kind == .call && filter.labels.allSatisfy(spec.labels.contains) else {
      return false
    }
    if filter.outcome != nil || filter.statuses != nil {
      guard let last = try lastAttempt(id, call) else { return false }
      if let outcome = filter.outcome, last.outcome != outcome { return false }
      if let statuses = filter.statuses {
        guard let status = last.status, statuses.contains(status) else { return false }
      }
    }
    return search?.occurs(in: redaction.url(spec.shownURL)) ?? true
  }

  private func lastAttempt(_ id: CallID, _ call: LoggedCalls.Call) throws(StoreError) -> AttemptRecord? {
    if let last = call.attempts.last { return try? last.stored().record(of: id, rows.vault) }
    guard call.stored != nil, case .success(let stored) = try attempts.attempts(of: id, responses: .none) else {
      return nil
    }
    return stored.last
  }
}

extension LoggedCalls {
  /// Counts of ended calls, with those that the tables have as unfinished or lack.
  func finished(with counted: [FinishedCount]) -> [FinishedCount] {
    var counts = counted
    for (_, call) in calls where call.progress.state.isFinal {
      guard let kind = call.new?.call.kind ?? call.stored else { continue }
      let state = call.progress.state.visible
      if let index = counts.firstIndex(where: { $0.kind == kind && $0.state == state }) {
        counts[index].count += 1
      } else {
        counts.append(FinishedCount(kind: kind, state: state, count: 1))
      }
    }
    return counts
  }
}

extension CallRecord {
  fileprivate var withoutBody: CallRecord {
    CallRecord(id: id, kind: kind, spec: spec, body: [], createdAt: createdAt, progress: progress)
  }
}
