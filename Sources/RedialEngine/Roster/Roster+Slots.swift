internal import RedialCore
internal import RedialModel

/// How the slots for attempts in flight are shared between targets, so that targets that hang do not use up the slots
/// of targets that answer.
///
/// An attempt to a target that hangs keeps its slot until its timeout, and cannot be taken back. So a target must
/// prove that it answers before it gets many slots. Three rules decide about each new attempt. C is
/// ``EngineSettings/maxInFlight``.
///
/// 1. *Free slots are shared at each start.* A target may have `targetShare / (1 - targetShare)` times as many
///    attempts in flight as slots are free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on
///    Networking 6(2), 1998). With 0.75 a target alone gets three quarters of C.
/// 2. *Slots are earned.* ``SlotCredit/proven`` is how many slots a target has earned by answering. It starts at 0.
///    A response adds one if the target used all of its slots, which doubles the number in each round trip (slow
///    start and congestion window validation: RFC 5681, section 3.1, RFC 7661). An attempt that ends in silence
///    halves it, if the target has not answered another since it started. A silence that is long for the target (see ``ResponseTime``) sets it to 0; an equally long pause
///    leaves one (RFC 5681, section 4.1).
/// 3. *More slots are borrowed* from a pool of B = C · `unprovenShare`. A target may borrow its first slot as long as
///    there is any, and T = B/16 · r^8 in all, where r is the part of the pool that is left (or free at all). The
///    rest of C is for targets that have earned their slots.
///
/// The threshold falls so steeply because attempts cannot be taken back: targets that arrive one after the other and
/// hang keep the slots that they got while the pool was full. With T = (B - U) / 8, for example, 220 targets with ten
/// calls each would take all of it. By default C is 4096 and B is 2048. One new target alone may have 64 and more. If
/// U slots are borrowed by targets that hang and want all they can get, the next one gets 128 · (1 - U/B)^8: 64 for
/// the first, 9 at a quarter of the pool, and 1 from 0.455 · B = 932 on, which the first 155 or so have together (the
/// integral of dU/T). A thousand have 932 + 845. So 271 are left in the pool for new targets, and 2,048 outside of it
/// for those that answer. When the pool is empty, with about 1,270 such targets, a new target waits for one of their
/// attempts to end; a target with earned slots does not.
///
/// One more may start beside these for a caller that has none in flight (``SlotBeside``), unless little of the pool is left.
///
/// If there are several namespaces, the pool is shared by ``EngineSettings/namespaceShare``, as all slots are.
/// Targets of webhooks are targets like others.
extension Roster {
  /// Whether a target may start another attempt, by these rules.
  mutating func hasSlot(_ place: Int, at now: Timestamp) -> Bool {
    let free = settings.maxInFlight - occupancy.inFlight
    let own = targets[place].occupancy.inFlight
    guard free > 0, Double(own) * (1 - settings.targetShare) < Double(free) * settings.targetShare else { return false }
    if settings.unprovenShare >= 1 { return true }
    doubt(place, at: now)
    let beyond = own - targets[place].credit.proven
    if beyond < 0 { return true }
    guard mayBorrow(targets[place].namespace) else { return false }
    return beyond == 0 || Double(beyond) < mostBorrowed(free)
  }

  /// Whether a target that has no slot by these rules may start an attempt beside those that hang.
  func mayStartBeside(_ place: Int) -> Bool {
    let free = settings.maxInFlight - occupancy.inFlight
    return targets[place].occupancy.inFlight > 0 && targets[place].breaker.state == .closed
      && mayBorrow(targets[place].namespace) && poolLeft(free) > SlotBeside.leastOfPool
  }

  /// An attempt of a target starts. Returns its callers if their slots are counted: at a target that has many, or all of them
  /// once the pool is in use.
  mutating func takeSlot(_ call: CallSpec, of place: Int, at now: Timestamp) -> SlotHolders? {
    let isScarce = settings.unprovenShare < 1 && poolLeft(settings.maxInFlight - occupancy.inFlight) < Self.ampleLeft
    return self[place].takeSlot(call, isScarce: isScarce, at: now)
  }

  /// What part of the pool is left while all that any target wants may be borrowed: half of what is with all of it.
  private static let ampleLeft = 0.917

  /// The part of the pool that is left, or free at all, 0...1.
  private func poolLeft(_ free: Int) -> Double {
    Double(max(0, min(settings.mostUnproven - occupancy.borrowed, free))) / Double(settings.mostUnproven)
  }

  /// The maximum that one target may borrow; never negative.
  private func mostBorrowed(_ free: Int) -> Double {
    let left = poolLeft(free)
    let squared = left * left
    let fourth = squared * squared
    return Double(settings.mostUnproven) / 16 * (fourth * fourth)
  }

  /// Whether the pool has a slot for a target of a namespace.
  func mayBorrow(_ place: Int) -> Bool {
    let left = settings.mostUnproven - occupancy.borrowed
    guard left > 0 else { return false }
    guard isShared, settings.namespaceShare < 1 else { return true }
    return Double(namespaces[place].occupancy.borrowed) * (1 - settings.namespaceShare)
      < Double(left) * settings.namespaceShare
  }
}
