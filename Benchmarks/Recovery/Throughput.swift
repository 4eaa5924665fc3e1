import RedialCore
import VirtualTime
import RedialModel

/// How much of its capacity a target delivers that has no outage, but gets half as many calls again as it can take, or
/// nearly as many.
struct Throughput {
  private struct Figures {
    var used: [Double] = []
    var refused: [Double] = []
  }

  static func measure(_ pace: Pace) {
    for share in [1.5, 0.9] {
      var figures = Figures()
      for capacity in [10, 50, 200, 1000] {
        for latency in [5, 50, 300, 2000] {
          for overload in [
            OutageScenario.Target.Overload.queue(longest: .seconds(1)), .refuse(retryAfter: false),
            .refuse(retryAfter: true),
          ] {
            measure(capacity, share, latency, overload, pace, &figures)
          }
        }
      }
      figures.used.sort()
      figures.refused.sort()
      print(
        "| \(pace), \(percent(share)) of the capacity | \(figures.used.count) | \(text(quantile(figures.used, 0.5))) |",
        "\(text(quantile(figures.used, 0.1))) | \(text(figures.used[0])) | \(percent(quantile(figures.refused, 0.5))) |"
      )
    }
  }

  private static func measure(
    _ capacity: Int, _ share: Double, _ latency: Int, _ overload: OutageScenario.Target.Overload, _ pace: Pace,
    _ figures: inout Figures
  ) {
    let rate = Double(capacity) * share
    let length = Duration.seconds(capacity < 100 ? 600 : 200)
    var policy = RetryPolicy.service
    policy.attemptTimeout = .seconds(10)
    let scenario = OutageScenario(
      policy: policy, rate: rate, duration: length,
      target: .init(capacity: capacity, latency: .milliseconds(latency), overload: overload, changes: []),
      outage: .init(from: length, to: length, errorRate: 0, failure: .refused, latency: nil), breaker: .service,
      concurrency: max(64, 3 * capacity * latency / 1000), slowStart: .zero, pace: pace,
      seed: UInt64(capacity + latency))
    let steps = scenario.figures(mostAttempts: 10_000_000).steps
    // The first quarter is for finding the capacity.
    let rest = steps.dropFirst(steps.count / 4)
    let time = length.inSeconds * Double(rest.count) / Double(steps.count)
    let delivered = Double(rest.map(\.succeeded).reduce(0, +))
    let most = min(Double(capacity) * time, Double(rest.map(\.calls).reduce(0, +)))
    figures.used.append(delivered / most)
    figures.refused.append(Double(rest.map(\.overload).reduce(0, +)) / max(1, delivered))
    if isVerbose {
      print(
        "\(capacity)/s, \(latency) ms, \(overload): \(text(delivered / most)), refused",
        percent(figures.refused.last ?? 0))
    }
  }
}
