@testable internal import RedialCore
@testable internal import VirtualTime
internal import RedialModel

/// A target of the harm grid: it takes any load, and some of its requests fail whatever the load.
///
/// Its answers depend only on the call, the attempt and the time, so that two services meet the same target.
struct DrawnTarget: RunLoad, CustomStringConvertible {
  /// How its failures look.
  enum Failure: Sendable, Hashable {
    case status(Int)
    /// Nothing comes until the attempt times out.
    case silence
    /// An answer comes after so many times the usual one.
    case slowness(Double)
  }

  /// Which requests fail.
  enum Pattern: Sendable, Hashable {
    /// Each with the same probability.
    case random
    /// Nine in ten, for some seconds at a time.
    case bursts(seconds: Double)
    /// Those of one call.
    case oneCall
    /// Those of the calls of one tenant: each tenth.
    case oneTenant
  }

  var failure: Failure
  var pattern: Pattern
  /// The share of requests that fail, 0..<1.
  var share: Double
  /// New calls per second.
  var rate: Double
  /// The usual response time, in seconds.
  var latency: Double
  var seed: UInt64
  /// For how many seconds it asks with each refusal, if it always refuses one caller and nobody else; or 0.
  var asksFor = 0
  let calls: [RunCall]
  let attemptTimeout = Duration.seconds(5)

  var description: String {
    let percent = (share * 1000).rounded() / 10
    let time = (latency * 1e4).rounded() / 10
    let asks = asksFor > 0 ? " for \(asksFor) s" : ""
    return "\(percent) % \(failure)\(asks), \(pattern), \((rate * 10).rounded() / 10) calls/s, \(time) ms, seed \(seed)"
  }

  /// Draws a target.
  init(seed: UInt64) {
    var random = RandomSource(seed: seed &* 0x9e37_79b9_7f4a_7c15 ^ 0x6861_726d)
    self.seed = seed
    failure = random.pick([
      .status(503), .status(503), .status(429), .status(500), .status(500), .silence, .slowness(20),
    ])
    share = 0.01 * Elementary.power(70, random.unitInterval())
    // Half a call to two thousand calls a second, a millisecond to two seconds.
    rate = 0.5 * Elementary.power(4000, random.unitInterval())
    latency = 0.001 * Elementary.power(2000, random.unitInterval())
    switch random.pick(0...9) {
    case 0...5: pattern = .random
    case 6, 7: pattern = .bursts(seconds: Elementary.power(20, random.unitInterval()))
    case 8: pattern = .oneCall
    default: pattern = .oneTenant
    }
    // A tenant whose answers are slow has them slow for good, and that is no failure.
    if pattern != .random, case .slowness = failure { failure = .status(503) }
    // Without a draw, so that the others stay what they are.
    if pattern == .oneCall || pattern == .oneTenant, failure == .status(429) || failure == .status(503) {
      asksFor = [0, 1, 5, 30][Int(seed % 4)]
    }
    // A minute of calls, but enough to compare one in a hundred, and no more than can be run at once.
    let count = min(4000, max(1000, Int(rate * 60)))
    var times = RandomSource(seed: seed ^ 0x6361_6c6c)
    calls = times.arrivals(rate, from: 0) { number, _ in number < count }.enumerated().map { number, time in
      RunCall(at: time, headers: [HeaderField("Authorization", "Bearer \(number % 10)")])
    }
  }

  func answer(_ call: Int, attempt: Int, at now: Timestamp, timeout: Duration) -> ModelTarget.Answer {
    let usual = Duration.microseconds(Int64(latency * (0.5 + draw(call, attempt, 1)) * 1e6))
    var answer = ModelTarget.Answer(outcome: .answered, status: 200, latency: usual)
    guard fails(call, attempt, at: (now - World.start).inSeconds) else { return answer }
    switch failure {
    case .status(let status):
      answer.status = status
      if asksFor > 0 { answer.retryAfter = .seconds(asksFor) }
    case .silence: answer = ModelTarget.Answer(outcome: .maybeSent, status: 0, latency: timeout)
    case .slowness(let factor): answer.latency = usual * factor
    }
    return answer
  }

  /// Calls that never succeed are not awaited.
  func isAwaited(_ call: Int) -> Bool {
    switch pattern {
    case .random, .bursts: true
    case .oneCall: call != 3
    case .oneTenant: call % 10 != 3
    }
  }

  private func fails(_ call: Int, _ attempt: Int, at time: Double) -> Bool {
    switch pattern {
    case .random: return draw(call, attempt, 2) < share
    case .oneCall, .oneTenant: return !isAwaited(call)
    case .bursts(let length):
      // Slots of the length, of which as many are bad as the share needs.
      let slot = Int(time / length)
      return draw(slot, 0, 3) < min(1, share / 0.9) && draw(call, attempt, 2) < 0.9
    }
  }

  /// Uniform in [0, 1), of its own for each call, attempt and purpose.
  private func draw(_ call: Int, _ attempt: Int, _ purpose: UInt64) -> Double {
    var random = RandomSource(
      seed: seed &* 1_000_003 &+ UInt64(call) &* 7_919 &+ UInt64(attempt) &* 104_729 &+ purpose &* 15_485_863)
    _ = random.next()
    return random.unitInterval()
  }
}
