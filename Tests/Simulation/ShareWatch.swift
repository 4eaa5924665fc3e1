internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// Checks that new calls and the backlog of a target share its starts, and that a new call is not sent behind the backlog
/// in the store as long as few new calls wait.
///
/// A start counts only if a call of the other kind waited before it and still waits: so nobody could have started both.
/// Only targets whose due calls all have one priority are looked at, because otherwise the priority decides, and of whose
/// calls none are passed over.
struct ShareWatch {
  /// The due calls of a target in memory before a step.
  private struct Waiting {
    var new: Set<CallID> = []
    var backlog: Set<CallID> = []
    var priorities: Set<Int> = []
    /// By call: it changes when the call leaves the queue.
    var stamps: [CallID: UInt32] = [:]
    var share = 0.0
  }

  /// Starts in a row of one kind while a call of the other waited.
  private struct Streak {
    var new = 0
    var backlog = 0
  }

  private var before: [TargetKey: Waiting] = [:]
  private var streaks: [TargetKey: Streak] = [:]
  /// Calls that went behind the backlog in the store in a row while almost no new call waited.
  private var sent: [TargetKey: Int] = [:]
  private var isOrdinary = true

  /// Before a step.
  mutating func willHear(_ events: [EngineEvent], _ engine: Engine) {
    before = [:]
    isOrdinary = true
    for event in events {
      switch event {
      case .storeFailed, .targetCommand, .leased, .recovered: isOrdinary = false
      default: break
      }
    }
    for place in engine.roster.places {
      let target = engine.roster.targets[place]
      guard target.breaker.state == .closed, target.limits.budget == nil, target.occupancy.ready > 0,
        target.due.passedOver == 0
      else { continue }
      var waiting = Waiting()
      waiting.share = target.due.share.newShare
      let new = Set(target.due.newEntries.map(\.id))
      for due in target.due.entries {
        guard engine.calls.table.stamp(of: due.id) == due.stamp else { continue }
        waiting.stamps[due.id] = due.stamp
        waiting.priorities.insert(due.priority)
        if new.contains(due.id) { waiting.new.insert(due.id) } else { waiting.backlog.insert(due.id) }
      }
      before[target.key] = waiting
    }
  }

  /// The result of a step; returns a violation.
  mutating func step(_ effects: Effects, _ engine: Engine) -> String? {
    // While the store fails, what is written was decided before (seeds 6618 and 8462).
    guard isOrdinary, engine.desk.trouble == nil else {
      streaks = [:]
      sent = [:]
      return nil
    }
    // What waited in memory at the beginning of the step, and may still have done so when the room was looked for.
    let begun = BreakerWatch.starts(effects.store).reduce(0) { $0 + $1.call.content.heldSize }
    for request in effects.store {
      guard case .commit(let writes, let then) = request.body else { continue }
      for case .start(let start) in then {
        if let fault = check(start.call, engine) { return fault }
      }
      for case .insert(let call) in writes {
        if let fault = checkSent(call, begun, engine) { return fault }
      }
    }
    return nil
  }

  private mutating func check(_ call: CallRecord, _ engine: Engine) -> String? {
    let key = call.spec.target
    guard engine.suspects.last != call.id, let waiting = before[key], waiting.priorities.count == 1, waiting.share > 0,
      let place = engine.roster.place(of: key), engine.roster.targets[place].due.passedOver == 0,
      !engine.roster.targets[place].beside.isShort, engine.roster.targets[place].limits.pause.until == nil
    else {
      streaks[key] = nil
      return nil
    }
    func stillWaits(_ ids: Set<CallID>) -> Bool {
      ids.contains { engine.calls.table.stamp(of: $0) == waiting.stamps[$0] }
    }
    var streak = streaks[key] ?? Streak()
    if waiting.new.contains(call.id) {
      streak.new = stillWaits(waiting.backlog) ? streak.new + 1 : 0
      streak.backlog = 0
    } else if waiting.backlog.contains(call.id) {
      streak.backlog = stillWaits(waiting.new) ? streak.backlog + 1 : 0
      streak.new = 0
    } else {
      streak = Streak()
    }
    streaks[key] = streak
    let mostNew = Int((waiting.share / (1 - waiting.share)).rounded(.up)) + 1
    let mostBacklog = Int(((1 - waiting.share) / waiting.share).rounded(.up)) + 1
    if streak.new > mostNew { return "\(streak.new) new calls to \(key) went before its backlog, \(mostNew) allowed" }
    if streak.backlog > mostBacklog {
      return "\(streak.backlog) calls of the backlog of \(key) went before its new ones, \(mostBacklog) allowed"
    }
    return nil
  }

  /// A new call may wait in memory beside a backlog in the store if there is room for both.
  private mutating func checkSent(_ call: CallRecord, _ begun: Int, _ engine: Engine) -> String? {
    let key = call.spec.target
    guard let place = engine.roster.place(of: key), call.spec.orderingKey == nil else { return nil }
    let target = engine.roster.targets[place]
    let isSent = call.progress.state == .queued
    // More room than it takes, so that it does not matter when in the step it was looked for.
    let hasRoom =
      target.breaker.state == .closed && before[key] != nil && !target.due.share.isOff && target.due.waitingNew < 4
      && engine.roster.refillRoom(place, expecting: engine.desk.claims.expected) - target.stored.expected > 3
      && engine.roster.room(expecting: engine.desk.claims.expected) > engine.settings.maxHeld / 2
      && target.occupancy.ready > 0
      && engine.roster.hasShare(
        place, bytes: begun + 2 * call.content.heldSize, expecting: engine.desk.claims.expected, at: engine.now)
    sent[key] = isSent && hasRoom ? (sent[key] ?? 0) + 1 : 0
    return sent[key] ?? 0 < 2
      ? nil : "\(call.id) went behind the backlog of \(key) in the store, with room for new calls"
  }
}
