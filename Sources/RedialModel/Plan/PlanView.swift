public import RedialCore
public import RedialJSON
internal import RedialText

/// A policy's schedule as people see it.
public enum PlanView {
  /// Writes a plan as one object, with its policy and every default.
  ///
  /// - Parameters:
  ///   - name: The policy's name: `default`, or a stored one with its version; nil for one that was given inline.
  ///   - isOfCall: Whether it stands beside a call, which has the policy.
  ///   - mayRepeat: Whether the request may be repeated.
  public static func write(
    _ plan: RetryPlan, of policy: RetryPolicy, named name: String?, isOfCall: Bool = false, mayRepeat: Bool,
    to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.field("policyName", name)
    if !isOfCall {
      writer.key("policy")
      policy.write(to: &writer)
    }
    writeMembers(plan, to: &writer)
    writer.key("warnings")
    CallWarning.write(CallWarning.of(plan.warnings, policy, mayRepeat: mayRepeat), to: &writer)
    writer.endObject()
  }

  private static func writeMembers(_ plan: RetryPlan, to writer: inout JSONWriter) {
    writer.key("attempts")
    writer.beginArray()
    for attempt in plan.attempts {
      writer.beginObject()
      writer.field("number", attempt.number)
      writer.key("wait")
      if let wait = attempt.wait {
        writer.beginObject()
        writer.field("shortest", wait.lowerBound)
        writer.field("longest", wait.upperBound)
        writer.endObject()
      } else {
        writer.null()
      }
      writer.key("startsAfter")
      writer.beginObject()
      writer.field("earliest", attempt.start.earliest)
      writer.field("p10", attempt.start.p10)
      writer.field("p50", attempt.start.median)
      writer.field("p90", attempt.start.p90)
      writer.field("p99", attempt.start.p99)
      writer.field("latest", attempt.start.latest)
      writer.field("isExact", attempt.start.isExact)
      writer.endObject()
      writer.field("chance", attempt.chance)
      writer.endObject()
    }
    writer.endArray()
    writer.field("isComplete", plan.isComplete)
    writer.key("latestEnd")
    if plan.latestEnd == .longest { writer.null() } else { writer.string(DurationText.format(plan.latestEnd)) }
    writer.field("chanceOfAllAttempts", plan.chanceOfAllAttempts)
  }
}
