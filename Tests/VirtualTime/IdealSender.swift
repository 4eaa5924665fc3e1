internal import RedialCore

/// A sender that knows the end of the outage and the target's capacity: how fast could anybody recover?
///
/// From the outage's end on it delivers at the full capacity, so it needs backlog / (capacity - new calls), and the time
/// of one answer.
struct IdealSender {
  /// Unfinished calls at the outage's end.
  private(set) var backlog = 0
  /// When it has recovered, counted from the outage's end; nil before.
  private(set) var recovery: Duration?
  /// The maximum number of unfinished calls before the outage, and their mean.
  private var most = 1
  private var sum = 0.0
  private var samples = 0.0
  /// The calls that it still has to deliver; nil before the outage's end.
  private var remaining: Double?
  private var last = Duration.zero

  /// So many unfinished calls or fewer are a recovery: as many as there were before the outage, and one in fifty of the
  /// backlog, which may be in a long backoff.
  var enough: Int { most + backlog / 50 }

  /// Learns how many calls are unfinished before the outage.
  mutating func learnUsual(_ unfinished: Int) {
    most = max(most, unfinished)
    sum += Double(unfinished)
    samples += 1
  }

  mutating func called() {
    if recovery == nil, let remaining { self.remaining = remaining + 1 }
  }

  /// Delivers what it can until now.
  mutating func drain(_ capacity: Double?, unfinished: Int, after time: Duration, latency: Duration) {
    let usual = samples > 0 ? sum / samples : 0
    guard let remaining else {
      backlog = unfinished
      remaining = Double(unfinished) - usual
      last = time
      return
    }
    guard recovery == nil, let capacity else { return }
    let now = remaining - capacity * (time - last).inSeconds
    self.remaining = now
    last = time
    if now <= Double(enough) - usual { recovery = time + latency }
  }
}
