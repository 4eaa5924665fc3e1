/// The requests in flight that started in this span of time, or in the one before.
///
/// What takes longer than these is not in the target's queue: it waits for something of its own, such as a path that hangs or
/// takes minutes by its nature, and says nothing about the room for others.
struct YoungRequests: Sendable, Hashable {
  private var span: UInt32 = 0
  private var from = Timestamp.epoch
  private var started = 0
  private var startedBefore = 0

  /// The shortest span. It is four times the usual response time if that is longer.
  private static let shortest = Duration.seconds(2)

  /// The length of a span, for a usual response time in microseconds.
  private static func length(_ usual: Double) -> Duration {
    max(shortest, .microseconds(Int64(min(max(0, 4 * usual), 1e12))))
  }

  /// How many there are.
  mutating func count(usual: Double, at now: Timestamp) -> Int {
    advance(by: Self.length(usual), to: now)
    return started + startedBefore
  }

  /// When those of the span before count no more.
  func next(usual: Double) -> Timestamp { from + Self.length(usual) }

  /// Counts a start. Its end needs the number.
  mutating func start(usual: Double, at now: Timestamp) -> UInt32 {
    advance(by: Self.length(usual), to: now)
    started += 1
    return span
  }

  mutating func end(_ number: UInt32) {
    if number == span {
      started = max(0, started - 1)
    } else if number == span &- 1 {
      startedBefore = max(0, startedBefore - 1)
    }
  }

  /// Counts none of those that are in flight any more.
  mutating func forget() {
    span &+= 2
    (started, startedBefore) = (0, 0)
  }

  private mutating func advance(by length: Duration, to now: Timestamp) {
    let passed = now - from
    guard passed >= length || passed < .zero else { return }
    if passed >= .zero, passed < length + length {
      span &+= 1
      (startedBefore, started) = (started, 0)
    } else {
      forget()
    }
    from = now
  }
}
