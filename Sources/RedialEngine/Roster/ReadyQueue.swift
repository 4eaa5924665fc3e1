internal import RedialCore
internal import RedialModel

/// The due calls of a target in memory: highest priority first. Within one priority, new calls and the backlog share the
/// starts (``FairShare``); each of the two is in order of arrival.
///
/// So that none starves, every tenth call to leave is the one that has been ready longest, whatever its priority. So
/// the oldest of *n* leaves after at most 10 *n* others.
struct ReadyQueue: Sendable {
  /// An entry of the queue; void if the call's stamp has changed.
  struct Entry: Sendable, Equatable {
    var id: CallID
    var stamp: UInt32
    var priority: Int
  }

  /// The calls of one priority.
  private struct Level: Sendable {
    var new = Queue<Entry>()
    var backlog = Queue<Entry>()

    mutating func append(_ entry: Entry, isNew: Bool) {
      if isNew { new.append(entry) } else { backlog.append(entry) }
    }

    /// The next entry to leave.
    mutating func first(in calls: CallTable, isNewNext: Bool) -> Entry? {
      let old = ReadyQueue.first(&backlog, calls)
      guard !new.isEmpty, let young = ReadyQueue.first(&new, calls) else { return old }
      return isNewNext ? young : old ?? young
    }

    /// The entry that has been there longest. Void ones are not first.
    var oldest: Entry? {
      guard let old = backlog.first, let young = new.first else { return backlog.first ?? new.first }
      return young.isOlder(than: old) ? young : old
    }

    /// Takes out an entry that is the first of its kind. Returns whether it is a new call's.
    mutating func remove(_ entry: Entry) -> Bool {
      let isNew = new.first == entry
      _ = isNew ? new.popFirst() : backlog.popFirst()
      return isNew
    }

    mutating func popLast(_ calls: CallTable) -> Entry? {
      ReadyQueue.popLast(&new, calls) ?? ReadyQueue.popLast(&backlog, calls)
    }

    /// New calls become backlog.
    mutating func joinBacklog() {
      guard !new.isEmpty else { return }
      if backlog.isEmpty { return swap(&new, &backlog) }
      let all = (backlog.contents + new.contents).sorted { $0.isOlder(than: $1) }
      self = Level()
      for entry in all { backlog.append(entry) }
    }

    var contents: [Entry] { Array(backlog.contents + new.contents) }
  }

  /// One in this many leaves by age.
  static let ageInterval = 10

  /// Calls of the default priority, as long as there are no others.
  private var usual = Level()
  /// Calls by priority, once there are others.
  private var levels: [Level] = []
  private var sinceByAge = 0
  /// Calls that were first, but whose caller may not have another slot yet (``SlotShares``): by caller, in order.
  private var passedOver: [(caller: UInt64, calls: Queue<Entry>)] = []
  private(set) var share: FairShare

  init(newShare: Double = 0) {
    share = FairShare(newShare: newShare)
  }

  mutating func append(_ entry: Entry, isNew: Bool = false) {
    if levels.isEmpty {
      if entry.priority == CallSpec.defaultPriority { return usual.append(entry, isNew: isNew) }
      levels = Array(repeating: Level(), count: CallSpec.priorities.count)
      swap(&usual, &levels[CallSpec.defaultPriority])
    }
    levels[entry.priority].append(entry, isNew: isNew)
  }

  /// The next entry to leave; void ones are dropped.
  ///
  /// - Parameter crowded: The callers of whom some may have no more slots; nil if all may.
  mutating func first(in calls: CallTable, _ crowded: SlotShares.Crowded?) -> Entry? {
    var next = firstInOrder(calls)
    if let crowded {
      while let entry = next, let caller = crowded.excess(of: entry, in: calls), passOver(entry, caller) {
        next = firstInOrder(calls)
      }
    }
    guard !passedOver.isEmpty else { return next }
    let isByAge = isByAge
    for index in passedOver.indices {
      guard let entry = Self.first(&passedOver[index].calls, calls),
        next.map(isByAge ? entry.isOlder : entry.goesBefore) ?? true,
        crowded?.excess(of: entry, in: calls) == nil
      else { continue }
      next = entry
    }
    passedOver.removeAll { $0.calls.isEmpty }
    return next
  }

  /// Puts the first entry aside. Returns false if too many callers have to wait already.
  private mutating func passOver(_ entry: Entry, _ caller: UInt64) -> Bool {
    let index = passedOver.firstIndex { $0.caller == caller } ?? passedOver.count
    guard index < Self.maxPassedOver else { return false }
    if index == passedOver.count { passedOver.append((caller, Queue())) }
    if levels.isEmpty { _ = usual.remove(entry) } else { _ = levels[entry.priority].remove(entry) }
    passedOver[index].calls.append(entry)
    return true
  }

  /// Maximum callers whose calls are passed over.
  static let maxPassedOver = 32

  /// How many calls are passed over, void entries included.
  var passedOverCount: Int { passedOver.reduce(0) { $0 + $1.calls.count } }

  /// Whether the oldest is next, whatever its priority.
  private var isByAge: Bool { !levels.isEmpty && sinceByAge == Self.ageInterval - 1 }

  private mutating func firstInOrder(_ calls: CallTable) -> Entry? {
    if levels.isEmpty { return usual.first(in: calls, isNewNext: share.isNewNext) }
    var next: Entry?
    var oldest: Entry?
    for level in levels.indices.reversed() {
      guard let entry = levels[level].first(in: calls, isNewNext: share.isNewNext) else { continue }
      // By age only every tenth time; otherwise the highest priority.
      if !isByAge { return entry }
      guard let longest = levels[level].oldest else { continue }
      if next == nil {
        next = entry
        oldest = longest
      } else if let known = oldest, longest.isOlder(than: known) {
        next = longest
        oldest = longest
      }
    }
    if next == nil { levels = [] }
    return next
  }

  /// Takes out the entry that ``first(in:_:)`` returned, to start its call.
  mutating func remove(_ entry: Entry, at now: Timestamp) {
    let isNew: Bool
    if let index = passedOver.firstIndex(where: { $0.calls.first == entry }) {
      _ = passedOver[index].calls.popFirst()
      isNew = false
    } else if levels.isEmpty {
      isNew = usual.remove(entry)
    } else {
      isNew = levels[entry.priority].remove(entry)
    }
    if !levels.isEmpty { sinceByAge = (sinceByAge + 1) % Self.ageInterval }
    share.start(isNew: isNew, at: now)
  }

  /// Takes out the newest of the lowest priority, if that is below this one.
  mutating func removeLast(below priority: Int, in calls: CallTable) -> Entry? {
    for index in passedOver.indices where passedOver[index].calls.first.map({ $0.priority < priority }) ?? false {
      if let entry = Self.popLast(&passedOver[index].calls, calls) { return entry }
    }
    if levels.isEmpty {
      return priority > CallSpec.defaultPriority ? usual.popLast(calls) : nil
    }
    for level in 0..<min(priority, levels.count) {
      if let entry = levels[level].popLast(calls) { return entry }
    }
    return nil
  }

  /// Its entries; void ones included. Within one priority, the oldest are first after ``joinBacklog()``.
  var contents: [Entry] {
    passedOver.flatMap { $0.calls.contents } + (levels.isEmpty ? usual.contents : levels.reversed().flatMap(\.contents))
  }

  /// At most about so many entries, void ones included: all, or those at both ends of each of its queues.
  func sample(of count: Int) -> [Entry] {
    var queues = passedOver.map(\.calls)
    for level in levels.isEmpty ? [usual] : levels.reversed() { queues += [level.backlog, level.new] }
    queues.removeAll { $0.isEmpty }
    let all = queues.reduce(0) { $0 + $1.count }
    let each = all <= count ? all : max(1, count / (2 * queues.count))
    return queues.flatMap { queue -> [Entry] in
      let entries = queue.contents
      return entries.count <= 2 * each ? Array(entries) : Array(entries.prefix(each) + entries.suffix(each))
    }
  }

  // MARK: New calls

  /// How many new calls wait, void entries included.
  var waitingNew: Int { levels.isEmpty ? usual.new.count : levels.reduce(0) { $0 + $1.new.count } }

  /// How many new calls of a priority wait, the first of them, and whether there is a backlog beside them. Void entries
  /// are included.
  func state(of priority: Int) -> (waiting: Int, first: Entry?, hasBacklog: Bool) {
    if levels.isEmpty, priority != CallSpec.defaultPriority { return (0, nil, false) }
    let level = levels.isEmpty ? usual : levels[priority]
    return (level.new.count, level.new.first, !level.backlog.isEmpty)
  }

  /// The entries of new calls; void ones included.
  var newEntries: [Entry] { levels.isEmpty ? Array(usual.new.contents) : levels.flatMap { Array($0.new.contents) } }

  /// New calls become backlog.
  mutating func joinBacklog() {
    usual.joinBacklog()
    for level in levels.indices { levels[level].joinBacklog() }
  }

  private static func first(_ queue: inout Queue<Entry>, _ calls: CallTable) -> Entry? {
    while let entry = queue.first {
      if calls.stamp(of: entry.id) == entry.stamp { return entry }
      _ = queue.popFirst()
    }
    return nil
  }

  private static func popLast(_ queue: inout Queue<Entry>, _ calls: CallTable) -> Entry? {
    while let entry = queue.popLast() {
      if calls.stamp(of: entry.id) == entry.stamp { return entry }
    }
    return nil
  }
}

extension ReadyQueue.Entry {
  /// Whether it is more urgent, or older with equal urgency.
  func goesBefore(_ other: Self) -> Bool {
    priority == other.priority ? isOlder(than: other) : priority > other.priority
  }

  /// Whether it became ready earlier; stamps wrap around.
  func isOlder(than other: Self) -> Bool {
    Int32(bitPattern: stamp &- other.stamp) < 0
  }
}

extension SlotShares.Crowded {
  /// The holder for which a call in a queue has to wait; nil if it may have a slot.
  func excess(of entry: ReadyQueue.Entry, in calls: CallTable) -> UInt64? {
    calls.place(of: entry.id).flatMap { excess(of: calls[at: $0].record.spec.callers) }
  }
}
