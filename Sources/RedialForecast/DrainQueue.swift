internal import RedialCore
internal import RedialModel

/// The due calls of a forecast: new ones, and the backlog with the oldest first. A call is made only when it starts, so a
/// large backlog costs no memory.
struct DrainQueue {
  /// A call of the simulation.
  struct Call {
    var attempts: Int
    var startedAt: Timestamp
    var waits: WaitHistory
    var policy: RetryPolicy
    /// Whether it starts as a new call.
    var isNew = false
    var deadline: Timestamp { startedAt + policy.deadline }
  }

  private let load: LiveLoad
  /// Divides the starts between new calls and the backlog.
  private(set) var share: FairShare
  /// Calls that are due again.
  private var retries = Queue<Call>()
  /// How many of the due calls and of the later ones have left.
  private var due = 0
  private var later = 0
  /// New calls by number. Those from `firstNew` on wait as new ones; these ranges of earlier ones have joined the backlog.
  private var firstNew = 0
  private var joined = Queue<Range<Int>>()
  private var joinedCount = 0

  init(_ load: LiveLoad) {
    self.load = load
    share = FairShare(newShare: load.settings.newCallShare)
  }

  /// How many are due.
  func count(at now: Timestamp) -> Int { backlog(at: now) + arrivals(at: now) - firstNew }

  /// How many of them are backlog.
  private func backlog(at now: Timestamp) -> Int {
    retries.count + load.due - due + (dueLater(at: now) - later) + joinedCount
  }

  /// When the next call becomes due that is not yet; nil if none does.
  func next(after now: Timestamp) -> Timestamp? {
    var time: Timestamp?
    let later = dueLater(at: now)
    if later < load.later { time = laterCall(later).due }
    if load.arrivals > 0 {
      // The time of an arrival is rounded, and must not be now again.
      let arrival = max(now + .microseconds(1), self.arrival(arrivals(at: now)))
      time = min(time ?? arrival, arrival)
    }
    return time
  }

  /// A call is due again.
  mutating func append(_ call: Call) {
    retries.append(call)
  }

  /// New calls that wait beyond a number become backlog.
  mutating func joinBacklog(beyond number: Int, at now: Timestamp) {
    let end = arrivals(at: now) - number
    guard end > firstNew else { return }
    joined.append(firstNew..<end)
    joinedCount += end - firstNew
    firstNew = end
  }

  /// Takes out the call that starts next.
  mutating func take(at now: Timestamp) -> Call? {
    let hasBacklog = backlog(at: now) > 0
    // As many wait as new ones as their share lets start soon.
    if hasBacklog { joinBacklog(beyond: share.isOff ? 0 : share.room(at: now), at: now) }
    guard firstNew < arrivals(at: now), !hasBacklog || share.isNewNext else { return takeOldest(at: now) }
    firstNew += 1
    return newCall(firstNew - 1, isNew: true)
  }

  mutating func start(_ call: Call, at now: Timestamp) {
    share.start(isNew: call.isNew, at: now)
  }

  /// Takes out the oldest call of the backlog: retries have been there for longest.
  mutating func takeOldest(at now: Timestamp) -> Call? {
    if let retry = retries.popFirst() { return retry }
    if due < load.due {
      due += 1
      return call(stand(load.dueSample, due - 1, of: load.due))
    }
    if later < dueLater(at: now) {
      later += 1
      return call(laterCall(later - 1))
    }
    guard joinedCount > 0, let first = joined.first?.first else { return nil }
    skipJoined(1)
    return newCall(first, isNew: false)
  }

  /// Takes out some more of the backlog, without looking at them.
  mutating func skip(_ count: Int, at now: Timestamp) {
    var left = count
    func part(_ available: Int) -> Int {
      let part = min(left, max(0, available))
      left -= part
      return part
    }
    retries.removeFirst(part(retries.count))
    due += part(load.due - due)
    later += part(dueLater(at: now) - later)
    skipJoined(part(joinedCount))
  }

  private mutating func skipJoined(_ count: Int) {
    var left = count
    joinedCount -= count
    while left > 0, let range = joined.first {
      let part = min(left, range.count)
      left -= part
      if part == range.count { joined.removeFirst(1) } else { joined.changeFirst { $0.removeFirst(part) } }
    }
  }

  // MARK: Calls

  private func call(_ waiting: LiveLoad.Waiting) -> Call {
    Call(attempts: waiting.attempts, startedAt: waiting.startedAt, waits: waiting.waits, policy: waiting.policy)
  }

  private func newCall(_ number: Int, isNew: Bool) -> Call {
    Call(attempts: 0, startedAt: arrival(number), waits: .none, policy: load.policy, isNew: isNew)
  }

  /// The call of a sample that stands for one of so many.
  private func stand(_ sample: [LiveLoad.Waiting], _ index: Int, of count: Int) -> LiveLoad.Waiting {
    guard !sample.isEmpty else {
      return .init(due: load.now, attempts: 0, startedAt: load.now, waits: .none, policy: load.policy)
    }
    return sample[min(sample.count - 1, index * sample.count / max(1, count))]
  }

  private func laterCall(_ index: Int) -> LiveLoad.Waiting { stand(load.laterSample, index, of: load.later) }

  /// How many of the later calls are due: those of the calls in the sample that are.
  private func dueLater(at now: Timestamp) -> Int {
    guard !load.laterSample.isEmpty else { return load.later }
    var (low, high) = (0, load.laterSample.count)
    while low < high {
      let middle = (low + high) / 2
      if load.laterSample[middle].due <= now { low = middle + 1 } else { high = middle }
    }
    // The first call that a later entry of the sample stands for.
    return (low * load.later + load.laterSample.count - 1) / load.laterSample.count
  }

  /// How many calls have arrived; they arrive evenly.
  private func arrivals(at now: Timestamp) -> Int {
    Int(min(1e12, max(0, (now - load.now).inSeconds * load.arrivals + 1e-9)))
  }

  private func arrival(_ number: Int) -> Timestamp {
    load.now + Duration(clampingSeconds: Double(number + 1) / load.arrivals)
  }
}
