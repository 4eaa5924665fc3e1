internal import RedialModel

/// The due calls of a target in memory. Retries are kept apart if they have a budget, so that those that it does not
/// allow yet do not delay first attempts.
struct DueCalls: Sendable {
  /// Without retries if they have a budget.
  private var queue = ReadyQueue()
  /// Retries, if they have a budget.
  private var retries = ReadyQueue()
  /// How many calls wait for the retry budget.
  private(set) var waitingRetries = 0
  /// Whether retries have a budget.
  private(set) var hasBudget: Bool

  init(hasBudget: Bool) {
    self.hasBudget = hasBudget
  }

  /// All places, void ones included.
  var places: [ReadyQueue.Place] { queue.contents + retries.contents }

  /// Counts a call that becomes due or is due no more.
  mutating func count(_ change: Int, isRetry: Bool) {
    if isRetry, hasBudget { waitingRetries += change }
  }

  /// Puts a call into its queue.
  mutating func append(_ place: ReadyQueue.Place, isRetry: Bool) {
    if isRetry, hasBudget { retries.append(place) } else { queue.append(place) }
  }

  /// Takes out a call that ``firstUsual(in:)`` or ``firstRetry(in:)`` returned.
  mutating func remove(_ place: ReadyQueue.Place, isRetry: Bool) {
    if isRetry, hasBudget { retries.remove(place) } else { queue.remove(place) }
  }

  /// The next call that needs no retry budget.
  mutating func firstUsual(in calls: CallTable) -> ReadyQueue.Place? { queue.first(in: calls) }

  /// The next retry that needs the budget.
  mutating func firstRetry(in calls: CallTable) -> ReadyQueue.Place? {
    hasBudget ? retries.first(in: calls) : nil
  }

  /// Takes out the newest of the lowest priority, if that is below this one.
  mutating func removeLast(below priority: Int, in calls: CallTable) -> ReadyQueue.Place? {
    queue.removeLast(below: priority, in: calls) ?? retries.removeLast(below: priority, in: calls)
  }

  /// Separates retries from first attempts, or joins them, because there is a budget now or there is none any more.
  mutating func sort(hasBudget: Bool, in calls: CallTable) {
    let places = places.sorted { $0.isOlder(than: $1) }
    self = DueCalls(hasBudget: hasBudget)
    for place in places {
      guard let call = calls[place.id], call.stamp == place.stamp else { continue }
      append(place, isRetry: call.record.progress.isRetry)
      count(1, isRetry: call.record.progress.isRetry)
    }
  }
}
