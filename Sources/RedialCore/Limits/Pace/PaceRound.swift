/// The requests that started in one round, as far as they have ended.
struct PaceRound: Sendable, Hashable {
  private(set) var number: UInt32 = 0
  private(set) var from = Timestamp.epoch
  /// When it could have begun.
  private var since = Timestamp.epoch
  var to = Timestamp.epoch
  /// The rate at which it started; nil for no limit.
  private(set) var rate: Double?
  /// Whether the pace has held a request back.
  var isLimited = false
  private(set) var started = 0
  /// Requests of any round that were processed meanwhile.
  var delivered = 0
  private(set) var ended = 0
  private(set) var refused = 0
  private(set) var answered = 0
  /// The shortest response time, in microseconds.
  private(set) var shortest = Double.infinity
  /// The sum of all response times, in microseconds.
  private var total = 0.0

  init() {}

  init(number: UInt32, from: Timestamp, rate: Double?) {
    self.number = number
    self.from = from
    since = from
    self.rate = rate
  }

  /// The share of refusals, 0...1.
  var refusedShare: Double { started == 0 ? 0 : Double(refused) / Double(started) }

  /// The mean response time, in microseconds; 0 without an answer.
  var mean: Double { answered == 0 ? 0 : total / Double(answered) }

  /// Whether there are so many refusals that there is no need to wait for more.
  ///
  /// - Parameter usual: The share that is refused whatever the load.
  func isFlooded(beyond usual: Double) -> Bool {
    refused >= (usual == 0 ? 8 : 24) && Double(refused) >= (usual + 0.25 * (1 - usual)) * Double(started)
  }

  /// Counts a start. The round begins with its first.
  mutating func start(at now: Timestamp) {
    if started == 0 {
      from = now
      delivered = 0
    }
    started += 1
  }

  mutating func end(_ sign: AdaptivePace.Sign) {
    ended += 1
    switch sign {
    case .delivered(let time):
      answered += 1
      shortest = min(shortest, Double(time.wholeMicroseconds))
      total += Double(time.wholeMicroseconds)
    case .refused, .silent: refused += 1
    case .none: break
    }
  }

  /// Requests per second at which it started. A burst counts as spread over the pause before it,
  /// or over a tenth of a second.
  func speed(until now: Timestamp) -> Double {
    rate ?? measuredSpeed(until: now)
  }

  /// The same, whatever the rate was.
  func measuredSpeed(until now: Timestamp) -> Double {
    let length = max((now - from).inSeconds, min(0.1, (now - since).inSeconds))
    return Double(started) / max(0.001, length)
  }
}
