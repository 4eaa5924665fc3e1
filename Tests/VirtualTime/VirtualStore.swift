internal import RedialCore
internal import RedialModel

/// The store of an engine in virtual time: it commits at once, and has only what an engine needs of the calls that have not
/// ended.
struct VirtualStore {
  /// Calls that wait alike. Each is made when the engine claims it, so a large backlog costs no memory.
  struct Batch {
    /// One of them, `queued` or `scheduled`.
    let call: CallRecord
    let isQueued: Bool
    let due: Timestamp
    var count: Int

    init(call: CallRecord, count: Int) {
      self.call = call
      isQueued = call.progress.state == .queued
      due = call.progress.due
      self.count = count
    }
  }

  /// The calls that were made.
  private(set) var calls: [CallID: CallRecord] = [:]
  /// The others, the oldest first.
  private var batches: [Batch]
  /// Places of batches by due time, and how many of the first of them are empty: a step of a simulation looks at those that are
  /// due, not at all.
  private let placesByDue: [Int]
  private var empty = 0
  /// Calls in the target's queue, by age, and all that wait here, by due time. A call that does not wait as it did then is
  /// passed over.
  private var queue = EventHeap<CallID>()
  private var byDue = EventHeap<CallID>()
  /// The last id of a call of a batch. New calls have higher ones.
  private var lastID: Int64 = 0

  init(_ batches: [Batch] = []) {
    self.batches = batches
    placesByDue = batches.indices.sorted { batches[$0].due < batches[$1].due }
    passEmpty()
  }

  /// What an engine must know of it first.
  ///
  /// - Parameter record: The target's.
  mutating func recover(_ target: TargetKey, _ record: TargetRecord) -> RecoveredState {
    let queued = batches.reduce(0) { $0 + ($1.isQueued ? $1.count : 0) }
    return RecoveredState(
      nextDue: nextDue(), queued: queued > 0 ? [(target, queued)] : [], targets: [(target, record)],
      unfinished: batches.reduce(0) { $0 + $1.count })
  }

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
    for place in placesByDue[empty...] {
      guard batches[place].due <= time else { break }
      while claimed.count < limit, let call = take(from: place) { claimed.append(call) }
    }
    while claimed.count < limit, let due = firstDue(), due <= time, let id = byDue.next()?.event {
      if let call = hold(id) { claimed.append(call) }
    }
    return Claim(calls: claimed, nextDue: nextDue())
  }

  mutating func claimQueued(_ limit: Int) -> [CallRecord] {
    var claimed: [CallRecord] = []
    for place in batches.indices where batches[place].isQueued {
      while claimed.count < limit, let call = take(from: place) { claimed.append(call) }
    }
    while claimed.count < limit, let id = queue.next()?.event {
      if calls[id]?.progress.state == .queued, let call = hold(id) { claimed.append(call) }
    }
    return claimed
  }

  /// Makes a call of a batch; nil if none is left.
  private mutating func take(from place: Int) -> CallRecord? {
    guard batches[place].count > 0 else { return nil }
    batches[place].count -= 1
    passEmpty()
    lastID += 1
    let model = batches[place].call
    var call = CallRecord(
      id: CallID(rawValue: lastID), kind: .call, spec: model.spec, body: [], createdAt: model.createdAt,
      progress: model.progress)
    call.progress.state = .held
    calls[call.id] = call
    return call
  }

  private mutating func passEmpty() {
    while empty < placesByDue.count, batches[placesByDue[empty]].count == 0 { empty += 1 }
  }

  private mutating func hold(_ id: CallID) -> CallRecord? {
    calls[id]?.progress.state = .held
    return calls[id]
  }

  private mutating func nextDue() -> Timestamp? {
    [empty < placesByDue.count ? batches[placesByDue[empty]].due : nil, firstDue()].compactMap { $0 }.min()
  }

  /// The due time of the first call that was made and waits here.
  private mutating func firstDue() -> Timestamp? {
    while let first = byDue.first, let id = byDue.firstEvent {
      let progress = calls[id]?.progress
      if progress?.due == first, progress?.state == .queued || progress?.state == .scheduled { return first }
      _ = byDue.next()
    }
    return nil
  }

  // MARK: Counts

  /// Calls of batches that are due, and that the engine has no room for yet; those in the target's queue are counted by the
  /// engine.
  func overdue(at now: Timestamp) -> Int {
    var overdue = 0
    for place in placesByDue[empty...] {
      guard batches[place].due <= now else { break }
      if !batches[place].isQueued { overdue += batches[place].count }
    }
    return overdue
  }

  /// How many calls of the target's queue miss their deadlines if so many of it start per second, the oldest first.
  func late(at now: Timestamp, perSecond: Double) -> Int {
    var late = 0
    var before = 0.0
    func count(_ number: Int, until deadline: Timestamp) {
      let inTime = Int(min(Double(number), max(0, ((deadline - now).inSeconds * perSecond - before).rounded(.up))))
      late += number - inTime
      before += Double(number)
    }
    for batch in batches where batch.isQueued { count(batch.count, until: batch.due) }
    let made = calls.values.filter { $0.progress.state == .queued }.sorted { $0.id < $1.id }
    for call in made { count(1, until: call.progress.due) }
    return late
  }
}
