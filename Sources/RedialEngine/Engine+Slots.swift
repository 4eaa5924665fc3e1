internal import RedialCore
internal import RedialModel

/// How the attempts under way are shared between targets, so that those that hang keep no slot from those that answer.
///
/// An attempt to a target that hangs holds its slot until its timeout, and cannot be taken back. So a target must prove
/// that it answers before it may have many. Three rules decide, each time that an attempt begins, with C for
/// ``EngineSettings/maxInFlight``:
///
/// 1. *What is free is shared anew at each start.* A target may have `targetShare / (1 - targetShare)` times as many under
///    way as are free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). With 0.75
///    a target alone gets three quarters of C.
/// 2. *Proof is earned.* ``TargetState/proven`` is how many attempts a target may have since it answers. It begins at 0. An
///    answer adds one if the target used all that it had, which doubles it each round trip (slow start and congestion
///    window validation: RFC 5681, section 3.1, RFC 7661); an attempt that ends in silence halves it; a silence that is
///    long for the target (see ``ResponseTime``) takes it all; a pause that is as long leaves one (RFC 5681, section 4.1).
/// 3. *What goes beyond is borrowed* from a pool of B = C · `unprovenShare`: a target may borrow its first as long as there is
///    any, and T = B/16 · r^8 in all, where r is the part of the pool that is left (or free at all). The rest of C is for
///    targets that have proven to answer.
///
/// The threshold falls so steeply since attempts cannot be taken back: targets that come one after the other and hang keep
/// what they got while the pool was full. By T = (B - U) / 8, say, 220 targets with ten calls each would have all of it. By
/// default C is 4096 and B is 2048. One new target alone may have 64 and more. When so many targets that each want all they
/// can get hang that U are borrowed, the next has 128 · (1 - U/B)^8: 64 for the first, 9 at a quarter of the pool, 1 from
/// 0.455 · B = 932 on, which the first 155 or so have together (the integral of dU/T). A thousand have 932 + 845, so that
/// 271 are left in the pool for new targets, and 2,048 outside of it for those that answer. When the pool is empty, with
/// some 1,270 such targets, a new target waits for one of their attempts to end; a proven one does not.
///
/// Where there are several namespaces the pool is shared by ``EngineSettings/namespaceShare`` as all slots are.
/// Targets of webhooks are targets like others.
extension Engine {
  /// Whether the shares let a target begin another attempt.
  mutating func hasSlot(_ index: Int) -> Bool {
    let free = settings.maxInFlight - inFlight
    let own = targets[index].inFlight
    guard free > 0, Double(own) * (1 - settings.targetShare) < Double(free) * settings.targetShare else { return false }
    if settings.unprovenShare >= 1 { return true }
    doubt(index)
    let beyond = own - targets[index].proven
    if beyond < 0 { return true }
    guard mayBorrow(targets[index].namespace) else { return false }
    return beyond == 0 || Double(beyond) < mostBorrowed(free)
  }

  /// The most that one target may borrow, as a number that is never negative.
  private func mostBorrowed(_ free: Int) -> Double {
    let pool = Double(settings.mostUnproven)
    let left = Double(max(0, min(settings.mostUnproven - borrowed, free))) / pool
    let squared = left * left
    let fourth = squared * squared
    return pool / 16 * (fourth * fourth)
  }

  /// Whether the pool has a slot for a target of a namespace.
  func mayBorrow(_ place: Int) -> Bool {
    let left = settings.mostUnproven - borrowed
    guard left > 0 else { return false }
    guard isShared, settings.namespaceShare < 1 else { return true }
    return Double(namespaces[place].borrowed) * (1 - settings.namespaceShare) < Double(left) * settings.namespaceShare
  }

  /// Takes back what a target has proven, if it has been silent or idle for long.
  private mutating func doubt(_ index: Int) {
    guard targets[index].proven > 0 else { return }
    let long = targets[index].responseTime.longSilence(atLeastMicroseconds: leastSilence)
    if now.microseconds - long > targets[index].silentSince.microseconds {
      prove(index, 0)
    } else if targets[index].inFlight == 0, now.microseconds - long > targets[index].lastEnd.microseconds {
      prove(index, 1)
    }
  }

  /// Takes over what the end of an attempt, which still counts as under way, says about its target.
  mutating func hear(_ sign: TargetSign, of index: Int) {
    switch sign {
    case .answer:
      targets[index].silentSince = .distantFuture
      let proven = targets[index].proven
      if targets[index].inFlight >= proven, proven < targets[index].maxInFlight { prove(index, proven + 1) }
    case .silence: prove(index, targets[index].proven / 2)
    case .nothing: break
    }
  }

  private mutating func prove(_ index: Int, _ proven: Int) {
    let before = targets[index].borrowed
    targets[index].proven = proven
    countBorrowed(targets[index].borrowed - before, of: index)
  }

  /// Counts an attempt that begins or has ended.
  mutating func countInFlight(_ change: Int, of index: Int) {
    let before = targets[index].borrowed
    inFlight += change
    targets[index].inFlight += change
    namespaces[targets[index].namespace].inFlight += change
    if change < 0 {
      freed -= change
    } else if targets[index].silentSince == .distantFuture {
      targets[index].silentSince = now
    }
    countBorrowed(targets[index].borrowed - before, of: index)
  }

  private mutating func countBorrowed(_ change: Int, of index: Int) {
    borrowed += change
    namespaces[targets[index].namespace].borrowed += change
  }

  // MARK: Waiting

  /// Has a target that the shares keep from beginning looked at again when slots get free. Its own attempts bring it back
  /// when they end; one that has none waits in its namespace for the pool.
  mutating func waitForSlot(_ index: Int) {
    let place = targets[index].namespace
    if targets[index].inFlight > 0 {
      guard !targets[index].isCrowded else { return }
      targets[index].isCrowded = true
      crowded.append(index)
    } else if !targets[index].isNewcomer {
      targets[index].isNewcomer = true
      namespaces[place].newcomers.append(index)
      takeTurn(place)
    }
  }

  /// Has targets that want more than they have looked at again: two for each attempt that has ended, so that what this
  /// costs is bounded by what happens.
  mutating func lookAtCrowded() {
    var count = 2 * freed
    freed = 0
    while count > 0, let index = crowded.popFirst() {
      count -= 1
      targets[index].isCrowded = false
      enterRotation(index)
    }
  }

  /// Has the next target that waits for the pool take its turn, if the pool has a slot for its namespace.
  mutating func admitNewcomer(at place: Int) {
    guard !namespaces[place].newcomers.isEmpty, mayBorrow(place) else { return }
    while let index = namespaces[place].newcomers.popFirst() {
      targets[index].isNewcomer = false
      guard !targets[index].inRotation, targets[index].ready + targets[index].stored > 0 else { continue }
      targets[index].inRotation = true
      targets[index].isAdmitted = true
      namespaces[place].admitted += 1
      namespaces[place].rotation.append(index)
      return
    }
  }

  /// Whether it is a target's turn as far as those go that wait for the pool: one that would begin its only attempt on
  /// borrowed slots goes behind them, so that a target whose attempt has just ended does not take that slot at once again.
  mutating func takeAdmission(_ index: Int) -> Bool {
    let place = targets[index].namespace
    if targets[index].isAdmitted {
      targets[index].isAdmitted = false
      namespaces[place].admitted -= 1
      return true
    }
    return targets[index].inFlight > 0 || targets[index].proven > 0
      || namespaces[place].newcomers.isEmpty && namespaces[place].admitted == 0
  }
}
