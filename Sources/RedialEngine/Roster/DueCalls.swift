internal import RedialCore
internal import RedialModel

/// The due calls of a target in memory. Retries are kept apart if they have a budget, so that those that it does not
/// allow yet do not delay first attempts.
struct DueCalls: Sendable {
  /// Without retries if they have a budget.
  private var queue: ReadyQueue
  /// Retries, if they have a budget.
  private var retries = ReadyQueue()
  /// How many calls wait for the retry budget.
  private(set) var waitingRetries = 0
  /// Whether retries have a budget.
  private(set) var hasBudget: Bool

  /// - Parameter newShare: The share of the starts for new calls; see ``FairShare``.
  init(hasBudget: Bool, newShare: Double) {
    self.hasBudget = hasBudget
    queue = ReadyQueue(newShare: newShare)
  }

  /// All entries, void ones included.
  var entries: [ReadyQueue.Entry] { queue.contents + retries.contents }

  /// At most so many entries, void ones included, without retries that wait for a budget: all, or those at both ends of
  /// each queue. What has just come is at the end.
  func sample(of count: Int) -> [ReadyQueue.Entry] { queue.sample(of: count) }

  /// Counts a call that becomes due or is due no more.
  mutating func count(_ change: Int, isRetry: Bool) {
    if isRetry, hasBudget { waitingRetries += change }
  }

  /// Puts a call into its queue.
  mutating func append(_ entry: ReadyQueue.Entry, isRetry: Bool, isNew: Bool = false) {
    if isRetry, hasBudget { retries.append(entry) } else { queue.append(entry, isNew: isNew) }
  }

  /// Takes out a call that ``firstUsual(in:_:)`` or ``firstRetry(in:_:)`` returned, to start it.
  mutating func remove(_ entry: ReadyQueue.Entry, isRetry: Bool, at now: Timestamp) {
    if isRetry, hasBudget { retries.remove(entry, at: now) } else { queue.remove(entry, at: now) }
  }

  /// The next call that needs no retry budget.
  mutating func firstUsual(in calls: CallTable, _ crowded: SlotShares.Crowded? = nil) -> ReadyQueue.Entry? {
    queue.first(in: calls, crowded)
  }

  /// The next retry that needs the budget.
  mutating func firstRetry(in calls: CallTable, _ crowded: SlotShares.Crowded?) -> ReadyQueue.Entry? {
    hasBudget ? retries.first(in: calls, crowded) : nil
  }

  /// How many calls wait for a slot that their caller may have.
  var passedOver: Int { queue.passedOverCount + retries.passedOverCount }

  /// Takes out the newest of the lowest priority, if that is below this one.
  mutating func removeLast(below priority: Int, in calls: CallTable) -> ReadyQueue.Entry? {
    queue.removeLast(below: priority, in: calls) ?? retries.removeLast(below: priority, in: calls)
  }

  /// Separates retries from first attempts, or joins them, because there is a budget now or there is none any more; or
  /// gives new calls another share. Those that wait are backlog then.
  mutating func sort(hasBudget: Bool, newShare: Double, in calls: CallTable) {
    let entries = entries.sorted { $0.isOlder(than: $1) }
    self = DueCalls(hasBudget: hasBudget, newShare: newShare)
    for entry in entries {
      guard let call = calls[entry.id], call.stamp == entry.stamp else { continue }
      append(entry, isRetry: call.record.progress.isRetry)
      count(1, isRetry: call.record.progress.isRetry)
    }
  }

  // MARK: New calls

  /// How the starts are shared between new calls and the backlog.
  var share: FairShare { queue.share }
  /// About how many new calls wait.
  var waitingNew: Int { queue.waitingNew }

  /// The entries of new calls, void ones included.
  var newEntries: [ReadyQueue.Entry] { queue.newEntries }

  /// Whether a call that has become due for its first attempt may wait as a new one. If those before it have waited for
  /// long, they become backlog.
  mutating func takesNew(_ priority: Int, hasStored: Bool, in calls: CallTable, at now: Timestamp) -> Bool {
    let state = queue.state(of: priority)
    let line = share.line(
      beside: state.waiting, hasBacklog: state.hasBacklog || hasStored,
      oldest: state.first.flatMap { calls.place(of: $0.id) }.map { now - calls[at: $0].record.newSince } ?? .zero,
      at: now)
    if line == .newAfterOthers { queue.joinBacklog() }
    return line != .backlog
  }

  /// Whether there is room for one more new call beside a backlog in the store.
  func hasRoomForNew(_ priority: Int, at now: Timestamp) -> Bool {
    !share.isOff && queue.state(of: priority).waiting < share.room(at: now)
  }

  /// New calls become backlog.
  mutating func joinBacklog() {
    queue.joinBacklog()
  }
}
