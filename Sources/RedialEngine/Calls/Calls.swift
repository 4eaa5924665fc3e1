internal import RedialCore
internal import RedialModel

/// The calls in memory, with their phases and timers.
///
/// Each phase of a call has a stamp. Timers carry it, so a timer of an earlier phase is void. A stamp is never used
/// twice in the engine's life, so that a call which comes back into memory does not meet timers of its earlier stay.
struct Calls: Sendable {
  private(set) var table = CallTable()
  private var timers = TimerHeap()
  /// The last stamp that a call got.
  private var lastStamp: UInt32

  /// - Parameter earlier: Calls that are forgotten; their stamps are not used again.
  init(after earlier: Calls? = nil) {
    lastStamp = earlier?.lastStamp ?? 0
  }

  var count: Int { table.count }
  var isEmpty: Bool { table.isEmpty }
  /// The calls, in no particular order.
  var values: [ActiveCall] { table.values }
  /// The ids of the calls, in no particular order.
  var keys: [CallID] { table.keys }

  /// The place of a call, until the next one is taken out; nil if it is not here.
  func place(of id: CallID) -> Int? { table.place(of: id) }

  /// The call at a place.
  subscript(at place: Int) -> ActiveCall {
    _read { yield table[at: place] }
    _modify { yield &table[at: place] }
  }

  /// A copy of a call; nil if it is not here.
  subscript(id: CallID) -> ActiveCall? { table[id] }

  // MARK: Calls

  /// Takes a call in.
  mutating func insert(_ record: consuming CallRecord, of target: Int) {
    precondition(table.place(of: record.id) == nil, "A call comes into memory that is there.")
    table.insert(ActiveCall(record: record, target: target, stamp: nextStamp()))
  }

  /// Takes a call out; nil if it is not here.
  mutating func remove(_ id: CallID) -> ActiveCall? { table.removeValue(forKey: id) }

  /// Lets the call at a place enter its next phase. Returns the stamp of the phase.
  @discardableResult
  mutating func enter(_ phase: ActiveCall.Phase, at place: Int) -> UInt32 {
    let stamp = nextStamp()
    table[at: place].enter(phase, stamp: stamp)
    return stamp
  }

  private mutating func nextStamp() -> UInt32 {
    lastStamp &+= 1
    return lastStamp
  }

  // MARK: Timers

  /// When the next timer fires.
  var earliest: Timestamp? { timers.earliest }

  /// Sets a timer of a call's phase.
  mutating func wait(_ id: CallID, until time: Timestamp) {
    guard let stamp = table.stamp(of: id) else { return }
    timers.add(.call(id, stamp: stamp), at: time)
  }

  /// Sets a timer of a target.
  mutating func lookAgain(_ target: Int, at time: Timestamp) {
    timers.add(.target(target), at: time)
  }

  /// Takes out the next timer that has fired and is not void; nil if there is none.
  mutating func nextFired(at now: Timestamp) -> TimerHeap.Subject? {
    while let subject = timers.next(at: now) {
      guard case .call(let id, let stamp) = subject else { return subject }
      if table.stamp(of: id) == stamp { return subject }
    }
    return nil
  }

  /// Drops void timers before they outnumber the others.
  ///
  /// - Parameter targets: The number of targets.
  mutating func dropVoidTimers(targets: Int) {
    guard timers.count > 4 * table.count + 4 * targets + 1024 else { return }
    timers.prune { [table] subject in
      guard case .call(let id, let stamp) = subject else { return true }
      return table.stamp(of: id) == stamp
    }
  }
}
