internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Targets as people see them: the engine's data about them, and their calls in the store.
struct TargetAnswers: Sendable {
  let engine: EngineLane
  let queries: Queries

  /// Maximum number of calls in the store that are counted for one answer, separately for those that wait for their
  /// time and for those that wait for their turn.
  private static let mostCounted = 10_000

  private var reader: any CallReader { queries.reader }

  /// Answers with a page of the targets of a namespace.
  func showPage(_ wanted: TargetQuery, _ responder: HTTPResponder) {
    engine.ask {
      $0.describe(wanted)
    } then: { page in
      queries.answer(responder) {
        let stored = try reader.backlog(of: nil, in: wanted.namespace, limit: Self.mostCounted)
        return Answer.targets(Self.targets(page.targets, with: stored), next: page.next?.bare)
      }
    }
  }

  func show(_ key: TargetKey, _ responder: HTTPResponder) {
    find(key, responder) { show($0, responder) }
  }

  func show(_ target: TargetSnapshot, _ responder: HTTPResponder) {
    queries.answer(responder) { () -> HTTPResponse? in
      Answer.target(try withStoredCalls(target))
    }
  }

  /// Finds a target, or answers that there is none. After a start the engine knows a target from its first call that is
  /// due; the store may have calls to it before.
  ///
  /// - Parameter then: Called with the target, on the engine's lane.
  func find(_ key: TargetKey, _ responder: HTTPResponder, then: @escaping @Sendable (TargetSnapshot) -> Void) {
    engine.ask {
      $0.describe(key)
    } then: { target in
      if let target { return then(target) }
      queries.answer(responder) { () -> HTTPResponse? in
        guard try !reader.backlog(of: key, in: key.namespace, limit: 1).counts.isEmpty else {
          return Answer.problem(.targetNotFound(key.bare))
        }
        engine.ask {
          $0.describe(key, hasCalls: true)
        } then: { target in
          if let target { return then(target) }
          queries.respond(responder, Answer.problem(.targetNotFound(key.bare)))
        }
        return nil
      }
    }
  }

  /// A target, with its waiting calls in the store added to its backlog.
  func withStoredCalls(_ target: TargetSnapshot) throws(StoreError) -> TargetSnapshot {
    let stored = try reader.backlog(of: target.key, in: target.key.namespace, limit: Self.mostCounted)
    return Self.targets([target], with: stored).first ?? target
  }

  /// Targets, with their waiting calls in the store added to their backlogs.
  private static func targets(_ targets: [TargetSnapshot], with stored: StoredBacklog) -> [TargetSnapshot] {
    let ofTarget = Dictionary(grouping: stored.counts) { $0.target }
    return targets.map { target in
      var target = target
      target.backlog.isComplete = stored.isComplete
      // The files in an operator's rule are on the operator's machine; tenants may not see their paths.
      if !target.key.namespace.isDefault, target.overrides.tls == nil {
        target.settings.tls?.caFile = nil
      }
      for (_, reason, count) in ofTarget[target.key] ?? [] { target.backlog.add(count, reason) }
      return target
    }
  }
}
