public import RedialCore

/// A policy's schedule as people see it.
public enum PlanView {
  /// Writes a plan as one object, with the policy that it is of, every default spelled out.
  public static func write(_ plan: RetryPlan, of policy: RetryPolicy, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("policy")
    policy.write(to: &writer)
    writeMembers(plan, to: &writer)
    writer.endObject()
  }

  /// Writes the members of a plan into an open object.
  public static func writeMembers(_ plan: RetryPlan, to writer: inout JSONWriter) {
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
      writer.field("median", attempt.start.median)
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
    writer.key("warnings")
    write(plan.warnings, to: &writer)
  }

  /// Writes warnings as one array.
  static func write(_ warnings: [PolicyWarning], to writer: inout JSONWriter) {
    writer.beginArray()
    for warning in warnings {
      writer.beginObject()
      writer.field("code", warning.code.description)
      writer.field("detail", warning.sentence)
      writer.endObject()
    }
    writer.endArray()
  }
}
