internal import RedialModel

/// The due calls of a target that go ahead of the others: each is in the target's queue, too.
///
/// Only some are known, of those that tell most: one that gets through lets all go.
struct CallsAhead: Sendable {
  /// With how little each told when it was last looked at. Some are void, or do not go ahead any more.
  private var entries: [(entry: ReadyQueue.Entry, doubt: Int)] = []
  /// Whether there may be others.
  private(set) var isIncomplete = false

  /// How many are known.
  static let most = 64

  /// How a target judges a call: nil if it does not go ahead, otherwise how little it tells, 0 at best.
  typealias Judgement = (CallSpec) -> Int?

  /// Whether none is known.
  var isEmpty: Bool { entries.isEmpty }

  /// Adds a call. If there is no room, one that tells less makes room, and ``isIncomplete``.
  mutating func add(_ entry: ReadyQueue.Entry, _ doubt: Int) {
    if entries.count >= Self.most {
      isIncomplete = true
      guard let last = entries.indices.max(by: { entries[$0].doubt < entries[$1].doubt }), entries[last].doubt > doubt
      else { return }
      entries.remove(at: last)
    }
    entries.append((entry, doubt))
  }

  /// Finds them among due calls.
  ///
  /// - Parameter areAll: Whether no others are due.
  mutating func gather(_ due: [ReadyQueue.Entry], areAll: Bool, in calls: CallTable, _ judge: Judgement) {
    self = CallsAhead()
    for entry in due {
      if let doubt = Self.doubt(entry, in: calls, judge) { add(entry, doubt) }
    }
    // If there is none, it is not searched again and again.
    if !areAll, !entries.isEmpty { isIncomplete = true }
  }

  /// The next to start: the one that tells most, of those a first attempt before a retry, then the more urgent, the
  /// oldest among equals. Nil if none may start.
  mutating func first(
    in calls: CallTable, _ judge: Judgement, _ mayStart: (CallSpec, _ isRetry: Bool) -> Bool
  ) -> ReadyQueue.Entry? {
    var known: [(entry: ReadyQueue.Entry, doubt: Int)] = []
    var first: (entry: ReadyQueue.Entry, doubt: Int, isRetry: Bool)?
    for (entry, _) in entries {
      guard let doubt = Self.doubt(entry, in: calls, judge), let place = calls.place(of: entry.id) else { continue }
      known.append((entry, doubt))
      let isRetry = calls[at: place].record.progress.isRetry
      if let first {
        let isBefore =
          doubt != first.doubt
          ? doubt < first.doubt : isRetry != first.isRetry ? first.isRetry : entry.goesBefore(first.entry)
        guard isBefore else { continue }
      }
      if mayStart(calls[at: place].record.spec, isRetry) { first = (entry, doubt, isRetry) }
    }
    entries = known
    return first?.entry
  }

  private static func doubt(_ entry: ReadyQueue.Entry, in calls: CallTable, _ judge: Judgement) -> Int? {
    guard calls.stamp(of: entry.id) == entry.stamp, let place = calls.place(of: entry.id) else { return nil }
    return judge(calls[at: place].record.spec)
  }
}
