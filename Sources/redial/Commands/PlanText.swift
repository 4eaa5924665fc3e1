import RedialCore
import RedialModel
import RedialText

/// Plans of policies as text for people.
enum PlanText {
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
}
