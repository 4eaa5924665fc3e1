internal import RedialCore
internal import RedialModel

/// A target of a scenario: it answers, refuses, or stays silent.
struct ModelTarget {
  /// The result of a request.
  struct Answer {
    var outcome: OutcomeClass
    var status: Int
    var latency: Duration
    /// Whether the target refused it because it had no capacity left.
    var isOverload = false
    /// The wait that it asked for.
    var retryAfter: Duration?
  }

  private let target: OutageScenario.Target
  private let outage: OutageScenario.Outage
  private let begins: Timestamp
  private let ends: Timestamp
  private let start: Timestamp
  /// The share of requests that fail although it works, and their status.
  private let failing: Double
  private let status: Int
  /// The capacity changes that lie ahead, the next one last.
  private var changes: [OutageScenario.Target.Change]
  /// Requests per second that it can answer now; nil for unlimited capacity.
  private(set) var capacity: Double?
  /// When it will have answered everything in its queue.
  private var idleAt: Timestamp
  /// What it lets through, if it refuses what is beyond its capacity.
  private var limiter: RateLimiter?

  /// How long a refusal takes.
  static let refusalLatency = Duration.milliseconds(1)

  /// - Parameters:
  ///   - capacity: Requests per second that it can answer, instead of the target's own; nil for unlimited capacity.
  ///   - failing: The share of requests that fail although it works, 0..<1, and their status.
  init(
    _ target: OutageScenario.Target, capacity: Double?, failing: Double = 0, status: Int = 500,
    outage: OutageScenario.Outage, start: Timestamp
  ) {
    self.target = target
    self.outage = outage
    self.failing = failing
    self.status = status
    begins = start + outage.from
    ends = start + outage.to
    idleAt = start
    self.start = start
    changes = target.changes.reversed()
    self.capacity = capacity
    limiter = capacity.map(Self.limiter)
  }

  /// What a capacity lets through, with a burst of one second.
  private static func limiter(_ capacity: Double) -> RateLimiter {
    // In thousandths, so that capacities below one per second are possible.
    RateLimiter(
      permits: max(1, Int((capacity * 1000).rounded())), per: .seconds(1000), burst: max(1, Int(capacity)))
  }

  /// Lets its capacity change, if it is time.
  mutating func advance(to now: Timestamp) {
    while let change = changes.last, start + change.from <= now {
      changes.removeLast()
      let new = Double(change.capacity)
      capacity = new
      limiter = Self.limiter(new)
    }
  }

  /// Answers a request; a response that would take longer than `timeout` never arrives.
  mutating func answer(at now: Timestamp, timeout: Duration, using random: inout RandomSource) -> Answer {
    let isOut = now >= begins && now < ends
    let fails = isOut && random.unitInterval() < outage.errorRate
    if fails, outage.failure == .refused {
      return Answer(outcome: .notSent, status: 0, latency: Self.refusalLatency)
    }
    if fails, outage.failure == .unanswered {
      return Answer(outcome: .maybeSent, status: 0, latency: timeout)
    }
    advance(to: now)
    var wait = Duration.zero
    if let capacity {
      switch target.overload {
      case .queue(let longest):
        wait = max(.zero, idleAt - now)
        if wait > longest {
          return Answer(outcome: .answered, status: 503, latency: Self.refusalLatency, isOverload: true)
        }
        idleAt = now + wait + .seconds(1000) / max(1, Int((capacity * 1000).rounded()))
      case .refuse(let asksToWait):
        if case .rejected(let until)? = limiter?.acquire(at: now) {
          let seconds = ((until - now).inSeconds).rounded(.up)
          return Answer(
            outcome: .answered, status: 429, latency: Self.refusalLatency, isOverload: true,
            retryAfter: asksToWait ? .seconds(Int(seconds)) : nil)
        }
      }
    }
    let mean = (isOut ? outage.latency : nil) ?? target.latency
    let latency = wait + Duration(clampingSeconds: mean.inSeconds * (0.5 + 0.5 * random.exponential()))
    if latency > timeout { return Answer(outcome: .maybeSent, status: 0, latency: timeout) }
    if fails, case .status(let status) = outage.failure {
      return Answer(outcome: .answered, status: status, latency: latency)
    }
    if failing > 0, random.unitInterval() < failing {
      return Answer(outcome: .answered, status: status, latency: latency)
    }
    return Answer(outcome: .answered, status: 200, latency: latency)
  }
}

extension RandomSource {
  /// A draw from the exponential distribution of mean 1, by inversion.
  mutating func exponential() -> Double {
    -Elementary.log2(1 - unitInterval()) * 0.693_147_180_559_945_309
  }
}
