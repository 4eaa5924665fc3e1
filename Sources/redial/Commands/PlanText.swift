import RedialCore
import RedialForecast
import RedialModel
import RedialText

/// Plans and forecasts as text for people.
enum ForecastText {
  /// A row per attempt, with a bar from its earliest to its latest start.
  static func of(_ plan: RetryPlan, _ request: PlanRequest) -> String {
    var text =
      "policy: \(request.policyName ?? "as given")\n#     wait                  starts after (median)  chance\n"
    let last = max(0.000_001, plan.attempts.last?.start.latest.inSeconds ?? 0)
    for attempt in plan.attempts {
      let wait = attempt.wait.map { wait in
        wait.lowerBound == wait.upperBound
          ? wait.lowerBound.roughly : "\(wait.lowerBound.roughly) to \(wait.upperBound.roughly)"
      }
      let chance = attempt.chance > 0.9995 ? "" : "\(Int((attempt.chance * 100).rounded())) %"
      let from = Int(attempt.start.earliest.inSeconds / last * 29)
      let to = max(from, Int(attempt.start.latest.inSeconds / last * 29))
      let bar = String(repeating: " ", count: from) + String(repeating: "━", count: to - from + 1)
      text += RedialTool.padded("\(attempt.number)", 6) + RedialTool.padded(wait ?? "varies", 22)
      text += RedialTool.padded(attempt.start.median.roughly, 23) + RedialTool.padded(chance, 7) + bar + "\n"
    }
    if !plan.isComplete { text += "and more: --limit lists them\n" }
    if plan.latestEnd != .longest { text += "It ends after \(plan.latestEnd.roughly) at the latest.\n" }
    for warning in request.warnings(of: plan) { text += "warning \(warning.code): \(warning.sentence)\n" }
    return text
  }

  /// The load as a chart of bars, and the sums.
  static func of(_ forecast: OutageForecast) -> String {
    let totals = forecast.totals
    var text = "\(forecast.sentence)\n\n"
    text += chart(forecast)
    text += "\nsucceeded \(totals.succeeded)"
    for (reason, count) in totals.failed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      text += ", \(reason.name) \(count)"
    }
    if totals.unfinished > 0 { text += ", unfinished \(totals.unfinished)" }
    if totals.overload > 0 { text += "; \(totals.overload) attempts refused because the target had no capacity" }
    text += "\n"
    if let latency = forecast.latency {
      text +=
        "a call that succeeded took \(latency.median.roughly) (median), \(latency.p90.roughly) (p90), "
        + "\(latency.p99.roughly) (p99), \(latency.longest.roughly) at most\n"
    }
    if let latency = forecast.latencyInRecovery {
      text +=
        "one that was accepted while the backlog was delivered: \(latency.median.roughly) (median), "
        + "\(latency.p90.roughly) (p90), \(latency.longest.roughly) at most\n"
    }
    if forecast.isCutShort { text += "It ended early: too many attempts.\n" }
    return text
  }

  /// Attempts per second over time, with the outage marked below.
  private static func chart(_ forecast: OutageForecast) -> String {
    guard !forecast.steps.isEmpty else { return "" }
    let scenario = forecast.scenario
    let columns = (0..<BarChart.width).map { column -> Double in
      let from = column * forecast.steps.count / BarChart.width
      let to = max(from + 1, (column + 1) * forecast.steps.count / BarChart.width)
      let steps = forecast.steps[from..<min(to, forecast.steps.count)]
      return Double(steps.map(\.attempts).max() ?? 0) / forecast.step.inSeconds
    }
    let highest = max(columns.max() ?? 0, 0.001)
    var text = BarChart.text(columns, highest: highest, label: "\(number(highest))/s", margin: 10, axis: " │")
    let length = scenario.duration.inSeconds
    text += "           └"
    for column in 0..<BarChart.width {
      let time = Duration(clampingSeconds: (Double(column) + 0.5) / Double(BarChart.width) * length)
      text += time >= scenario.outage.from && time < scenario.outage.to ? "▒" : "─"
    }
    return text + " \(scenario.duration.roughly); ▒ outage\n"
  }

  private static func number(_ value: Double) -> String {
    value < 10 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
  }
}
