internal import RedialCore
internal import RedialModel

/// What has held back the calls of a target, and when. It says for what an attempt has waited since it was due.
///
/// It keeps the last changes of the reason one by one, and those before them in ever longer stretches.
struct HoldLog: Sendable {
  /// A time, with what held calls back in it.
  private struct Stretch {
    var end: Timestamp
    var times: WaitTimes
  }

  /// The maximum number of stretches.
  static let most = 64

  /// Since when it is known what holds calls back. Before that the service did not work on this target, or no call waited.
  private(set) var start: Timestamp
  /// The oldest first; each begins where the one before it ends.
  private var stretches: [Stretch] = []
  /// What holds calls back now, or did last; nil for the service itself.
  private var reason: WaitReason? = .concurrency
  /// Since when.
  private var since: Timestamp
  /// Until when at most; after that the service looks at the target as soon as it has a slot.
  private var until = Timestamp.distantFuture

  init(at now: Timestamp) {
    (start, since) = (now, now)
  }

  /// This holds the next call back from now on.
  ///
  /// - Parameter until: When that will be over.
  mutating func hold(_ reason: WaitReason?, until: Timestamp = .distantFuture, at now: Timestamp) {
    lapse(at: now)
    if reason != self.reason { change(to: reason, at: now) }
    self.until = until
  }

  /// No call waits any more.
  mutating func clear(at now: Timestamp) {
    guard !stretches.isEmpty else { return }
    stretches = []
    (start, since) = (now, now)
    (reason, until) = (.concurrency, .distantFuture)
  }

  /// What held calls back may be long over, although nobody has looked: the service has no slot.
  private mutating func lapse(at now: Timestamp) {
    guard until < .distantFuture, now - until >= WaitTimes.least else { return }
    change(to: .concurrency, at: until)
    until = .distantFuture
  }

  private mutating func change(to reason: WaitReason?, at time: Timestamp) {
    if time > since {
      var times = WaitTimes()
      times.add(self.reason, time - since)
      stretches.append(Stretch(end: time, times: times))
      since = time
      if stretches.count > Self.most { joinOldest() }
    }
    self.reason = reason
  }

  /// Whether the service has worked on the target since before a time.
  func knows(_ time: Timestamp) -> Bool { start <= time }

  /// Joins the older half in pairs.
  private mutating func joinOldest() {
    let half = Self.most / 2
    var joined: [Stretch] = []
    joined.reserveCapacity(Self.most)
    for place in stride(from: 0, to: half, by: 2) {
      var stretch = stretches[place]
      stretch.end = stretches[place + 1].end
      stretch.times.add(stretches[place + 1].times)
      joined.append(stretch)
    }
    stretches = joined + stretches[half...]
  }

  /// What held a call back between two times.
  ///
  /// - Parameters:
  ///   - held: What is known already of the time behind `end`.
  func add(to held: inout HeldTimes, from begin: Timestamp, to end: Timestamp) {
    var end = end
    if since < end {
      let from = max(begin, since)
      guard from < end else { return }
      held.add(reason, end - from)
      end = from
    }
    for place in stretches.indices.reversed() where end > begin {
      let stretch = stretches[place]
      let began = place > 0 ? stretches[place - 1].end : start
      let from = max(begin, began)
      guard from < end else { continue }
      // Within a stretch of several reasons nobody knows the order, so each has its share.
      let share = (end - from).inSeconds / max(1e-6, (stretch.end - began).inSeconds)
      for part in stretch.times.parts.reversed() {
        held.add(part.reason, share < 1 ? part.time * share : part.time)
      }
      end = from
    }
    if end > begin { held.add(nil, end - begin) }
  }

  /// What has held a call back that starts now; nil if nothing has for long.
  ///
  /// - Parameters:
  ///   - newSince: When it became due for the first attempt of this round.
  ///   - isOrdered: Whether it has an ordering key.
  mutating func times(
    of progress: CallProgress, newSince: Timestamp, isOrdered: Bool, at now: Timestamp
  ) -> HeldTimes? {
    let isExact = progress.due <= now
    let due = progress.dueSince(at: now)
    var before: WaitReason?
    if progress.waiting == .retryBudget {
      before = .retryBudget
    } else if isExact, !progress.isRetry, isOrdered, due - newSince >= WaitTimes.least {
      before = .ordering
    }
    guard before != nil || now - due >= WaitTimes.least else { return nil }
    var held = HeldTimes(before: before, isExact: isExact || !progress.isRetry)
    lapse(at: now)
    add(to: &held, from: due, to: now)
    return held
  }
}
