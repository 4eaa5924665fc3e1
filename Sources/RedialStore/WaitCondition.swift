package import RedialCore
package import RedialModel

/// The conditions of a filter on why calls wait and until when, in a form that needs only the row of a call and a rule
/// for its target. It agrees with what ``KnownStandings/wait(of:stored:)`` shows, except that it leaves deadlines out.
package struct WaitCondition: Sendable {
  /// The calls wait for this; nil for anything.
  package let reason: WaitReason?
  /// Their next attempt may begin earlier; nil for any time, and for none.
  package let before: Timestamp?
  package let known: KnownStandings

  /// The condition of a query; nil if it has none.
  ///
  /// - Throws: `unavailable` if the query does not say how targets stand.
  package init?(_ query: CallQuery) throws(StoreError) {
    guard query.filter.asksForWaits else { return nil }
    guard let known = query.standings else {
      throw StoreError(
        kind: .unavailable,
        message: "Could not list calls by their wait reason: the state of their targets is not known yet.")
    }
    reason = query.filter.waitingOn
    before = query.filter.nextAttemptBefore
    self.known = known
  }

  /// Which calls of a target match.
  package struct Rule: Sendable, Hashable {
    /// For the calls that are new in their round, or for retries.
    package struct Part: Sendable, Hashable {
      /// Whether those match that wait for their target.
      package var matches: Bool
      /// In microseconds: those whose own wait lasts until then, or longer, wait for that and not for their target.
      package var ownFrom: Int64
    }

    package var first: Part
    package var retry: Part
  }

  /// The rule for a target.
  ///
  /// - Parameter stored: What the store knows of it. This counts if another instance runs its calls.
  package func rule(of target: TargetKey, stored: TargetRecord?) -> Rule {
    let (standing, isWhole) = known.standing(of: target, stored: stored)
    func part(_ isRetry: Bool) -> Rule.Part {
      let wait = standing.wait(ofRetry: isRetry, at: known.now)
      let isShown = KnownStandings.isShown(wait.reason, isWhole: isWhole)
      return Rule.Part(
        matches: isShown && fits(wait.reason, until: wait.until), ownFrom: wait.ownFrom?.microseconds ?? .max)
    }
    return Rule(first: part(false), retry: part(true))
  }

  /// The rule for a target that takes calls.
  ///
  /// - Parameter isOwn: Whether the instance runs its calls.
  package func usualRule(isOwn: Bool) -> Rule {
    let wait = TargetStanding().wait(ofRetry: false, at: known.now)
    let part = Rule.Part(
      matches: isOwn && fits(wait.reason, until: wait.until), ownFrom: wait.ownFrom?.microseconds ?? .max)
    return Rule(first: part, retry: part)
  }

  /// Whether calls match that wait for the turn of their ordering key.
  package var matchesOrdering: Bool { fits(.ordering, until: nil) }

  /// Whether a waiting call matches.
  ///
  /// - Parameters:
  ///   - waiting: The number of the stored reason; nil or 0 for none.
  ///   - due: In microseconds.
  package func matches(_ rule: Rule, waiting: Int64?, due: Int64, isRetry: Bool) -> Bool {
    let own = waiting.flatMap { UInt8(exactly: $0) }.flatMap(WaitReason.init(rawValue:))
    if own == .ordering { return matchesOrdering }
    let part = isRetry ? rule.retry : rule.first
    guard let own, own.isOfCall, due >= part.ownFrom else { return part.matches }
    return fits(own, until: Timestamp(microseconds: due))
  }

  /// Whether a call matches.
  package func matches(_ call: CallRecord, stored: TargetRecord?) -> Bool {
    let progress = call.progress
    guard progress.state.visible == .scheduled else { return false }
    return matches(
      rule(of: call.spec.target, stored: stored), waiting: progress.waiting.map { Int64($0.rawValue) },
      due: progress.due.microseconds, isRetry: progress.isRetry)
  }

  private func fits(_ reason: WaitReason, until: Timestamp?) -> Bool {
    if let wanted = self.reason, wanted != reason { return false }
    guard let before else { return true }
    return until.map { $0 < before } ?? false
  }
}
