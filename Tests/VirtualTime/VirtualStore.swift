internal import RedialCore
internal import RedialModel

/// The store of an engine in virtual time: it commits at once, and has only what an engine needs of the calls that have not
/// ended.
struct VirtualStore {
  private(set) var calls: [CallID: CallRecord] = [:]
  /// Calls in the target's queue, by age, and all that wait here, by due time. A call that does not wait as it did then is
  /// passed over.
  private var queue = EventHeap<CallID>()
  private var byDue = EventHeap<CallID>()

  /// Makes changes. Returns the calls that have ended.
  mutating func commit(_ writes: [StoreWrite]) -> [CallProgress] {
    var ended: [CallProgress] = []
    for write in writes {
      switch write {
      case .insert(let record):
        calls[record.id] = record
        keep(record)
      case .update(let id, let progress, _) where progress.state.isFinal:
        calls[id] = nil
        ended.append(progress)
      case .update(let id, let progress, _):
        calls[id]?.progress = progress
        if let record = calls[id] { keep(record) }
      // Nothing else is about calls without keys, labels and webhooks.
      default: break
      }
    }
    return ended
  }

  private mutating func keep(_ record: CallRecord) {
    switch record.progress.state {
    case .queued:
      queue.add(record.id, at: record.createdAt)
      byDue.add(record.id, at: record.progress.due)
    case .scheduled: byDue.add(record.id, at: record.progress.due)
    default: break
    }
  }

  // MARK: Claims

  mutating func claimDue(before time: Timestamp, limit: Int) -> Claim {
    var claimed: [CallRecord] = []
    while claimed.count < limit, let due = firstDue(), due <= time, let id = byDue.next()?.event {
      if let call = hold(id) { claimed.append(call) }
    }
    return Claim(calls: claimed, nextDue: firstDue())
  }

  mutating func claimQueued(_ limit: Int) -> [CallRecord] {
    var claimed: [CallRecord] = []
    while claimed.count < limit, let id = queue.next()?.event {
      if calls[id]?.progress.state == .queued, let call = hold(id) { claimed.append(call) }
    }
    return claimed
  }

  private mutating func hold(_ id: CallID) -> CallRecord? {
    calls[id]?.progress.state = .held
    return calls[id]
  }

  /// The due time of the first call that waits here.
  private mutating func firstDue() -> Timestamp? {
    while let first = byDue.first, let id = byDue.firstEvent {
      let progress = calls[id]?.progress
      if progress?.due == first, progress?.state == .queued || progress?.state == .scheduled { return first }
      _ = byDue.next()
    }
    return nil
  }
}
