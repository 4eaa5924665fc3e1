internal import RedialModel

/// The due calls of a target that go ahead of the others: each is in the target's queue, too. Only the first are known,
/// because one that gets through lets all go.
struct CallsAhead: Sendable {
  /// Some of them are void, or do not go ahead any more.
  private var entries: [ReadyQueue.Entry] = []

  /// How many are known.
  static let most = 64

  /// Whether there are none.
  var isEmpty: Bool { entries.isEmpty }

  /// Adds a call, if there is room when those are gone that do not go ahead any more.
  mutating func add(_ entry: ReadyQueue.Entry, in calls: CallTable, _ goesAhead: (CallSpec) -> Bool) {
    if entries.count >= Self.most { drop(in: calls, goesAhead) }
    if entries.count < Self.most { entries.append(entry) }
  }

  /// Finds them among due calls.
  mutating func gather(_ due: [ReadyQueue.Entry], in calls: CallTable, _ goesAhead: (CallSpec) -> Bool) {
    entries = Array(due.filter { Self.isAhead($0, in: calls, goesAhead) }.prefix(Self.most))
  }

  /// The next to start: a first attempt before a retry, the oldest among equals. Nil if none may start.
  mutating func first(
    in calls: CallTable, _ goesAhead: (CallSpec) -> Bool, _ mayStart: (CallSpec, _ isRetry: Bool) -> Bool
  ) -> ReadyQueue.Entry? {
    guard !entries.isEmpty else { return nil }
    drop(in: calls, goesAhead)
    var first: (entry: ReadyQueue.Entry, isRetry: Bool)?
    for entry in entries {
      guard let place = calls.place(of: entry.id) else { continue }
      let isRetry = calls[at: place].record.progress.isRetry
      if let first, isRetry == first.isRetry ? !entry.isOlder(than: first.entry) : isRetry { continue }
      if mayStart(calls[at: place].record.spec, isRetry) { first = (entry, isRetry) }
    }
    return first?.entry
  }

  private mutating func drop(in calls: CallTable, _ goesAhead: (CallSpec) -> Bool) {
    entries.removeAll { !Self.isAhead($0, in: calls, goesAhead) }
  }

  private static func isAhead(_ entry: ReadyQueue.Entry, in calls: CallTable, _ goesAhead: (CallSpec) -> Bool) -> Bool {
    guard calls.stamp(of: entry.id) == entry.stamp, let place = calls.place(of: entry.id) else { return false }
    return goesAhead(calls[at: place].record.spec)
  }
}
