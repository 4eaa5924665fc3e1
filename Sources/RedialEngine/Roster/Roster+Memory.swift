internal import RedialCore
internal import RedialModel

/// How memory is shared between waiting calls.
///
/// Attempts in flight are limited by their number. Waiting calls are limited by ``EngineSettings/maxHeld`` and
/// ``EngineSettings/maxHeldBytes``, which ``MemoryShares`` divides. A target that can run may always have one call in
/// memory, because it could never load its calls from the store otherwise. Calls without a place wait in the store.
///
/// `expected` is how many calls have been requested from the store. Their places are reserved.
extension Roster {
  private var calls: MemoryShares { MemoryShares(bound: settings.maxHeld) }
  private var bytes: MemoryShares { MemoryShares(bound: settings.maxHeldBytes) }

  /// How many more calls fit into memory.
  func room(expecting expected: Int) -> Int {
    occupancy.waitingBytes < bytes.bound ? max(0, calls.bound - occupancy.waiting - expected) : 0
  }

  /// How many calls may be claimed at once, so that calls of the usual size fit.
  func claimRoom(expecting expected: Int) -> Int {
    let room = room(expecting: expected)
    guard room > 0, usualBody > 0 else { return room }
    return min(room, max(1, (bytes.bound - occupancy.waitingBytes) / usualBody))
  }

  /// Whether a call may wait in memory that could also wait in the store.
  ///
  /// - Parameters:
  ///   - new: The size of the body if the call is not in memory yet; nil if it is, and counts as waiting.
  ///   - expected: Only a new call has to leave room for these.
  func mayWait(_ new: Int?, at namespace: Int, expecting expected: Int) -> Bool {
    let used = occupancy.waiting + (new == nil ? 0 : expected + 1)
    return calls.keepsReserve(used) && hasNamespaceRoom(namespace)
      && bytes.keepsReserve(occupancy.waitingBytes + (new ?? 0))
  }

  /// Whether all waiting calls together are more than may be.
  var isOverfull: Bool { occupancy.waiting > calls.bound }

  /// Whether the shares allow a due call of this target to wait in memory.
  func hasShare(_ place: Int, bytes: Int, expecting expected: Int, at now: Timestamp) -> Bool {
    shareLeft(place, expecting: expected) > 0 && byteShareLeft(place) >= bytes
      || targets[place].occupancy.ready == 0 && targets[place].canRun(at: now)
  }

  /// How many more due calls of a target may wait in memory; less than 1 for none.
  private func shareLeft(_ place: Int, expecting expected: Int) -> Int {
    let namespace = targets[place].namespace
    var common = calls.common - occupancy.ready - expected
    if isShared {
      common = min(common, namespaceShare(of: calls.common) - namespaces[namespace].occupancy.ready)
    }
    return max(common, own(calls, all: occupancy.ready, at: namespace) - targets[place].occupancy.ready)
  }

  private func byteShareLeft(_ place: Int) -> Int {
    let namespace = targets[place].namespace
    var common = bytes.common - occupancy.readyBytes
    if isShared {
      common = min(common, namespaceShare(of: bytes.common) - namespaces[namespace].occupancy.readyBytes)
    }
    return max(common, own(bytes, all: occupancy.readyBytes, at: namespace) - targets[place].occupancy.readyBytes)
  }

  /// The guaranteed part of each target, as long as earlier shares leave that much: an equal part for each namespace,
  /// divided equally among its targets.
  private func own(_ shares: MemoryShares, all: Int, at namespace: Int) -> Int {
    guard all < shares.due else { return 0 }
    guard isShared else { return shares.guaranteed / max(1, occupancy.busyTargets) }
    return shares.guaranteed / max(1, occupancy.busyNamespaces)
      / max(1, namespaces[namespace].occupancy.busyTargets)
  }

  /// How many due calls of a target may wait in memory: as many as there is room left for others. So a call seldom
  /// goes through the queue in the store, which would cost as much as the rest of its life there (dynamic thresholds:
  /// Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, with a factor of one).
  func readyBound(_ place: Int, expecting expected: Int) -> Int {
    let least = min(settings.maxReadyPerTarget, settings.maxParkedPerTarget)
    let canRun = targets[place].breaker.state == .closed && !targets[place].isPaused
    return canRun ? max(least, min(settings.maxReadyPerTarget, room(expecting: expected))) : least
  }

  /// How many due calls of a target to load, so that none has to go back.
  func refillRoom(_ place: Int, expecting expected: Int) -> Int {
    let target = targets[place].occupancy
    let fitting = min(readyBound(place, expecting: expected) - target.ready, claimRoom(expecting: expected))
    guard fitting > 0 else { return 0 }
    var share = shareLeft(place, expecting: expected)
    if targets[place].usualBody > 0 { share = min(share, byteShareLeft(place) / targets[place].usualBody) }
    return min(fitting, max(share, target.ready == 0 ? 1 : 0))
  }

  /// Whether the targets' shares are used up.
  var isCrowded: Bool { occupancy.ready > calls.due || occupancy.readyBytes > bytes.due }
}
