internal import RedialCore
internal import RedialModel

/// What is in memory, and how memory is shared.
///
/// Attempts in flight are limited by their number. Waiting calls are limited by ``EngineSettings/maxHeld`` and
/// ``EngineSettings/maxHeldBytes``. No target may take so much that due calls of others could not be loaded from the
/// store: targets that are down, paused or slow, however many and however large their calls, share at most three
/// quarters. Half goes to the first that need it; a quarter is divided among all targets with waiting calls. A target
/// that can run may always have one call in memory, because it could never load its calls from the store otherwise.
/// Calls without a place wait in the store.
extension Engine {
  /// How many more calls fit into memory.
  var room: Int {
    heldBytes - runningBytes < settings.maxHeldBytes
      ? max(0, settings.maxHeld - (calls.count - inFlight) - expected) : 0
  }

  /// How many calls may be claimed at once, so that calls of the usual size fit.
  var claimRoom: Int {
    let room = room
    guard room > 0, usualBody > 0 else { return room }
    return min(room, max(1, (settings.maxHeldBytes - (heldBytes - runningBytes)) / usualBody))
  }

  /// Whether a call that need not be in memory may be there. An eighth of memory is kept free for due calls in the
  /// store.
  ///
  /// - Parameter place: The place of the call's namespace.
  func hasRoomForNew(_ record: CallRecord, at place: Int) -> Bool {
    room > settings.maxHeld / 8 && hasNamespaceRoom(place)
      && heldBytes - runningBytes + sizeHeld(of: record) <= settings.maxHeldBytes - settings.maxHeldBytes / 8
  }

  /// The bytes that a call's body would take in memory.
  func sizeHeld(of record: CallRecord) -> Int {
    let size = record.content.heldSize
    return size > settings.streamBodiesAbove && record.kind == .call ? 0 : size
  }

  /// Whether the shares allow a due call of this target to wait in memory.
  func hasShare(_ index: Int, bytes: Int) -> Bool {
    shareLeft(index) > 0 && byteShareLeft(index) >= bytes
      || targets[index].ready == 0 && canRun(index)
  }

  /// How many more due calls of a target may wait in memory; less than 1 for none.
  func shareLeft(_ index: Int) -> Int {
    let place = targets[index].namespace
    var common = settings.maxHeld / 2 - readyCount - expected
    if isShared { common = min(common, namespaceShare(of: settings.maxHeld / 2) - namespaces[place].ready) }
    return max(common, own(settings.maxHeld, all: readyCount, at: place) - targets[index].ready)
  }

  private func byteShareLeft(_ index: Int) -> Int {
    let place = targets[index].namespace
    var common = settings.maxHeldBytes / 2 - readyBytes
    if isShared { common = min(common, namespaceShare(of: settings.maxHeldBytes / 2) - namespaces[place].readyBytes) }
    return max(common, own(settings.maxHeldBytes, all: readyBytes, at: place) - targets[index].readyBytes)
  }

  /// The guaranteed part of each target, as long as earlier shares leave that much: an equal part for each namespace,
  /// divided equally among its targets.
  private func own(_ bound: Int, all: Int, at place: Int) -> Int {
    guard all < bound / 4 * 3 else { return 0 }
    return isShared
      ? bound / 4 / max(1, busyNamespaces) / max(1, namespaces[place].busyTargets) : bound / 4 / max(1, busyTargets)
  }

  /// How many due calls of a target to load, so that none has to go back.
  func refillRoom(_ index: Int) -> Int {
    let fitting = min(readyBound(index) - targets[index].ready, claimRoom)
    guard fitting > 0 else { return 0 }
    var share = shareLeft(index)
    if targets[index].usualBody > 0 { share = min(share, byteShareLeft(index) / targets[index].usualBody) }
    return min(fitting, max(share, targets[index].ready == 0 ? 1 : 0))
  }

  /// Whether the targets' shares are used up.
  var isCrowded: Bool {
    readyCount > settings.maxHeld / 4 * 3 || readyBytes > settings.maxHeldBytes / 4 * 3
  }

  /// Whether a call to a target could start now.
  func canRun(_ index: Int) -> Bool {
    targets[index].breaker.admits(at: now) && !targets[index].controls.isPaused && targets[index].retryAfterUntil == nil
  }

  /// Keeps a call in memory.
  mutating func hold(_ record: CallRecord, phase: ActiveCall.Phase) {
    hold(record, of: target(record.spec.target), phase: phase)
  }

  /// Keeps a call of the target at that place in memory.
  mutating func hold(_ record: consuming CallRecord, of index: Int, phase: ActiveCall.Phase) {
    if record.content.heldSize > settings.streamBodiesAbove {
      record = record.leavingBody(above: settings.streamBodiesAbove)
    }
    let call = ActiveCall(record: record, target: index, phase: phase, stamp: nextStamp())
    let size = call.record.content.heldSize
    calls.insert(call)
    heldBytes += size
    usualBody += (size - usualBody) / 8
    targets[index].usualBody += (size - targets[index].usualBody) / 8
    targets[index].held += 1
    namespaces[targets[index].namespace].held += 1
  }

  /// Drops a call from memory. Returns it, or nil if it was not there.
  @discardableResult
  mutating func release(_ id: CallID) -> ActiveCall? {
    guard let call = calls.removeValue(forKey: id) else { return nil }
    heldBytes -= call.record.content.heldSize
    targets[call.target].held -= 1
    namespaces[targets[call.target].namespace].held -= 1
    if case .ready = call.phase {
      uncountReady(of: call.target, size: call.record.content.heldSize, isRetry: call.record.progress.isRetry)
    }
    if let fetch = fetches[id] { fetches[id]?.stale = fetch.outstanding }
    return call
  }

  /// Counts a call, with the size of its body, among the due ones of its target.
  mutating func countReady(of index: Int, size: Int, isRetry: Bool) {
    if targets[index].ready == 0 { busyTargets += 1 }
    targets[index].ready += 1
    targets[index].readyBytes += size
    if isRetry, targets[index].budget != nil { targets[index].readyRetries += 1 }
    readyCount += 1
    readyBytes += size
    countReady(1, size, of: index)
  }

  /// No longer counts a call among the due ones of its target.
  mutating func uncountReady(of index: Int, size: Int, isRetry: Bool) {
    targets[index].ready -= 1
    targets[index].readyBytes -= size
    if isRetry, targets[index].budget != nil { targets[index].readyRetries -= 1 }
    readyCount -= 1
    readyBytes -= size
    if targets[index].ready == 0 { busyTargets -= 1 }
    countReady(-1, -size, of: index)
  }

  /// Changes the number of due calls of a target's namespace.
  private mutating func countReady(_ change: Int, _ bytes: Int, of index: Int) {
    let place = targets[index].namespace
    let wasBusy = namespaces[place].ready > 0
    namespaces[place].ready += change
    namespaces[place].readyBytes += bytes
    let isBusy = namespaces[place].ready > 0
    if isBusy != wasBusy { busyNamespaces += change }
    if targets[index].ready == max(0, change) { namespaces[place].busyTargets += change }
  }

  /// Sets a call's timer.
  mutating func wait(_ id: CallID, until time: Timestamp) {
    guard let stamp = calls.stamp(of: id) else { return }
    timers.add(.call(id, stamp: stamp), at: time)
  }
}
