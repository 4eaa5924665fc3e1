internal import RedialCore
internal import RedialModel

/// Calls in memory that become due, and where calls wait: in memory or in the store.
extension Engine {
  /// Keeps a call in memory.
  mutating func hold(_ record: CallRecord) {
    hold(record, of: target(record.spec.target))
  }

  /// Keeps a call of the target at that place in memory.
  mutating func hold(_ record: consuming CallRecord, of place: Int) {
    if record.content.heldSize > settings.streamBodiesAbove {
      record = record.withoutBody(above: settings.streamBodiesAbove)
    }
    roster.hold(record.content.heldSize, of: place)
    calls.insert(record, of: place)
  }

  /// Drops a call from memory. Returns it, or nil if it was not there.
  @discardableResult
  mutating func release(_ id: CallID) -> ActiveCall? {
    guard let call = calls.remove(id) else { return nil }
    let size = call.record.content.heldSize
    roster.release(size, of: call.target)
    if case .ready = call.phase {
      roster.leaveReady(size, isRetry: call.record.progress.isRetry, of: call.target)
    }
    desk.fetches.outdate(id)
    refuseLateForward(of: call.record)
    return call
  }

  /// If another instance stores a call for this one and has forwarded it too, the call may be loaded and end before the
  /// forward comes. That must not add it again, beside an end that is not on disk yet.
  private mutating func refuseLateForward(of record: borrowing CallRecord) {
    guard let forwarding = settings.forwarding, record.id.instance != ids.number,
      now - record.createdAt <= forwarding.patience
    else { return }
    desk.forwarded.remember(GivenIdentity(id: record.id, createdAt: record.createdAt))
  }

  /// A call has become due: it goes into its target's queue, or ends if it cannot run.
  mutating func becomeReady(_ id: CallID) {
    guard let place = calls.place(of: id) else { return }
    let lastStart = calls[at: place].record.lastStart
    if now >= lastStart { return finish(id, .failed, failure: .deadlineExceeded) }
    // An older version let clients name the target of webhooks. The call must not disturb the webhooks there.
    if calls[at: place].isStrangerInLane { return finish(id, .failed, failure: .blocked) }
    let index = calls[at: place].target
    let priority = calls[at: place].record.spec.priority
    let isRetry = calls[at: place].record.progress.isRetry
    let size = calls[at: place].record.content.heldSize
    if roster.targets[index].trips(calls[at: place].record.spec, at: now) {
      return finish(id, .failed, failure: .tripped)
    }
    let expected = desk.claims.expected
    if isRetry, let budget = roster.targets[index].limits.budget {
      let waiting = roster.targets[index].due.waitingRetries
      if waiting >= max(1, roster.readyBound(index, expecting: expected) / 2),
        Double(waiting) >= budget.balance(at: now)
      {
        return postpone(id)
      }
    }
    let isFull =
      roster.targets[index].occupancy.ready >= roster.readyBound(index, expecting: expected)
      && !makeRoom(index, for: priority)
      && !(roster.targets[index].goesAhead(calls[at: place].record.spec) && makeRoomAhead(index))
    // Memory holds too much if clients have made the engine load many calls.
    if isFull || !roster.hasShare(index, bytes: size, expecting: expected, at: now) || roster.isOverfull {
      // So close to its deadline it would be claimed again at once, repeatedly.
      if lastStart <= now + settings.claimAhead { return calls.wait(id, until: lastStart) }
      return spill(id)
    }
    // Making room may have moved it.
    guard let place = calls.place(of: id) else { return }
    suspects.hurry(for: calls[at: place].record, at: now)
    let stamp = calls.enter(.ready, at: place)
    if !desk.canDecide { roster[index].hold(nil, at: now) }
    roster.becomeReady(size, isRetry: isRetry, of: index)
    let isNew = roster[index].takesNew(calls[at: place].record, in: calls.table, at: now)
    let entry = ReadyQueue.Entry(id: id, stamp: stamp, priority: priority)
    roster[index].enqueue(entry, isRetry: isRetry, isNew: isNew)
    roster[index].addAhead(entry, calls[at: place].record.spec)
    calls.wait(id, until: lastStart)
    roster.enterRotation(index)
  }

  /// A retry that would wait for its target's budget behind so many others that first attempts find no place. It
  /// comes back from the store later, by its due time and not through the target's queue, where first attempts would
  /// be behind it.
  private mutating func postpone(_ id: CallID) {
    guard let call = calls[id] else { return }
    let target = roster.targets[call.target]
    let wait = Duration.seconds(max(1, target.due.waitingRetries / max(1, target.settings.retriesPerSecond)))
    var progress = call.record.progress
    progress.state = .scheduled
    progress.waiting = .retryBudget
    progress.due = min(now + wait, call.record.lastStart)
    writes.append(.update(id, progress, nil))
    release(id)
    desk.claims.stored(due: progress.due)
  }

  /// Moves a call of a lower priority from memory into the target's queue in the store, if there is one.
  private mutating func makeRoom(_ index: Int, for priority: Int) -> Bool {
    guard priority > CallSpec.priorities.lowerBound,
      let last = roster[index].removeLast(below: priority, in: calls.table), let call = calls[last.id]
    else { return false }
    if call.record.lastStart > now + settings.claimAhead {
      spill(last.id)
    } else {
      // Its deadline is so close that it would be claimed again at once: it goes to the end of the queue.
      roster[index].enqueue(last, isRetry: call.record.progress.isRetry)
    }
    return true
  }

  /// Moves the next call of a target in its order from memory into its queue in the store, where it will be the first
  /// again. The call that goes ahead takes its place.
  private mutating func makeRoomAhead(_ index: Int) -> Bool {
    guard let next = roster[index].firstReady(in: calls.table, at: now).0, let call = calls[next.id],
      !roster.targets[index].goesAhead(call.record.spec), call.record.lastStart > now + settings.claimAhead
    else { return false }
    spill(next.id)
    return true
  }

  /// The bytes that a call's body would take in memory.
  private func sizeHeld(of record: CallRecord) -> Int {
    let size = record.content.heldSize
    return size > settings.streamBodiesAbove && record.kind == .call ? 0 : size
  }

  /// Whether a new call that need not be in memory may wait there.
  ///
  /// - Parameter namespace: The place of its namespace.
  func mayWait(_ record: CallRecord, at namespace: Int) -> Bool {
    roster.mayWait(sizeHeld(of: record), at: namespace, expecting: desk.claims.expected)
  }

  /// Whether a new due call must go into its target's queue in the store: memory is full, or older calls wait there.
  func mustQueue(_ index: Int, _ record: CallRecord) -> Bool {
    if roster.targets[index].trips(record.spec, at: now) { return false }
    let expected = desk.claims.expected
    if !mayWait(record, at: roster.targets[index].namespace)
      || !roster.hasShare(index, bytes: sizeHeld(of: record), expecting: expected, at: now)
    {
      return true
    }
    if roster.targets[index].goesAhead(record.spec) { return false }
    // A call that is more urgent than all that wait there goes before them. When it becomes ready, it finds a place.
    let stored = roster.targets[index].stored
    if record.spec.priority > CallSpec.defaultPriority, record.spec.priority > stored.priority { return false }
    if roster.targets[index].occupancy.ready >= roster.readyBound(index, expecting: expected) { return true }
    guard stored.count > 0 else { return false }
    // A new call does not wait behind the backlog there, unless too many new ones wait or there is no room for both.
    return !roster.targets[index].hasRoomForNew(record.spec.priority, at: now)
      || roster.refillRoom(index, expecting: expected) - stored.expected <= 1
  }

  /// Moves a call from memory into its target's queue in the store.
  mutating func spill(_ id: CallID) {
    guard let call = calls[id] else { return }
    var progress = call.record.progress
    progress.state = .queued
    progress.waiting = roster.targets[call.target].breaker.admits(at: now) ? .concurrency : .breaker
    progress.due = call.record.lastStart
    writes.append(.update(id, progress, nil))
    release(id)
    queuedInStore(call.target, due: progress.due, priority: call.record.spec.priority)
  }

  /// A call was written into a target's queue in the store.
  mutating func queuedInStore(_ index: Int, due: Timestamp, priority: Int) {
    roster[index].append(priority: priority)
    desk.claims.stored(due: due)
    roster.enterRotation(index)
  }
}
