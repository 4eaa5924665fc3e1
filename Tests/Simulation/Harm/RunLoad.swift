@testable internal import RedialCore
@testable internal import VirtualTime
internal import RedialModel

/// The calls of a run, and the targets that answer them.
protocol RunLoad {
  /// In the order of their times.
  var calls: [RunCall] { get }
  /// The timeout of each attempt.
  var attemptTimeout: Duration { get }
  /// Whether the run lasts until a call has succeeded.
  func isAwaited(_ call: Int) -> Bool
  /// The answer to an attempt of a call.
  mutating func answer(_ call: Int, attempt: Int, at now: Timestamp, timeout: Duration) -> ModelTarget.Answer
}

/// A call of a run.
struct RunCall: Sendable {
  /// When it comes, in seconds from the begin of the run.
  var at: Double
  /// The number of its target.
  var target = 0
  var path = ""
  var headers: [HeaderField] = []
  var labels: [CallSpec.Label] = []
}

extension RandomSource {
  /// Between two values; each factor is as likely as another.
  mutating func between(_ low: Double, _ high: Double) -> Double { low * Elementary.power(high / low, unitInterval()) }

  /// The times of calls that come at random, so many per second, in seconds.
  mutating func arrivals(_ rate: Double, from begin: Double, while isOn: (_ count: Int, _ time: Double) -> Bool)
    -> [Double]
  {
    var times: [Double] = []
    var time = begin
    while true {
      time += exponential() / rate
      guard isOn(times.count, time) else { return times }
      times.append(time)
    }
  }
}
