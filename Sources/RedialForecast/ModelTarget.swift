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
  }

  private let target: OutageScenario.Target
  private let outage: OutageScenario.Outage
  private let begins: Timestamp
  private let ends: Timestamp
  /// When it will have answered everything in its queue.
  private var idleAt: Timestamp

  /// How long a refusal takes.
  static let refusalLatency = Duration.milliseconds(1)
  /// How long a request may wait in its queue.
  static let longestQueue = Duration.seconds(1)

  init(_ scenario: OutageScenario, start: Timestamp) {
    target = scenario.target
    outage = scenario.outage
    begins = start + scenario.outage.from
    ends = start + scenario.outage.to
    idleAt = start
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
    var wait = Duration.zero
    if let capacity = target.capacity {
      wait = max(.zero, idleAt - now)
      if wait > Self.longestQueue {
        return Answer(outcome: .answered, status: 503, latency: Self.refusalLatency, isOverload: true)
      }
      idleAt = now + wait + .seconds(1) / capacity
    }
    let mean = (isOut ? outage.latency : nil) ?? target.latency
    let latency = wait + Duration(clampingSeconds: mean.inSeconds * (0.5 + 0.5 * random.exponential()))
    if latency > timeout { return Answer(outcome: .maybeSent, status: 0, latency: timeout) }
    if fails, case .status(let status) = outage.failure {
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
