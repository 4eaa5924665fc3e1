public import RedialCore
public import RedialJSON

/// A call as clients see it: one form for submit, get, list, events and webhooks.
public struct CallView {
  /// Why a call waits and until when, at the current time.
  public struct Wait: Sendable, Hashable {
    public var reason: WaitReason
    /// As things stand, it does not run before this time; nil if that is unknown.
    public var until: Timestamp?

    /// Creates a wait.
    public init(reason: WaitReason, until: Timestamp?) {
      self.reason = reason
      self.until = until
    }
  }

  /// How much is written.
  public enum Detail: Sendable, Hashable {
    /// Everything except the attempts' responses; only the last response is written.
    case full
    /// No attempts and no response, for lists.
    case summary
  }

  /// Writes a call as one object.
  ///
  /// - Parameters:
  ///   - redaction: Hides parts of the URL; the attempts' responses were redacted when they were stored.
  ///   - withWarnings: Whether to include the warnings for the client, as the answer to a submission does.
  ///   - withPolicy: Whether to include the whole policy.
  ///   - request: The request, if it is to be included.
  ///   - damage: Why the call cannot be read, if this stands for it.
  ///   - last: What the last attempt came to, for a summary; nil if that is not known. Otherwise the attempts say it.
  public static func write(
    _ call: CallRecord, attempts: [AttemptRecord], wait: Wait?, detail: Detail = .full, redaction: Redaction,
    last: LastAnswer? = nil, withWarnings: Bool = false, withPolicy: Bool = false, request: RequestView? = nil,
    damage: String? = nil,
    to writer: inout JSONWriter
  ) {
    let progress = call.progress
    let state = progress.state.visible
    writer.beginObject()
    writer.field("id", call.id)
    writer.field("kind", call.kind.name)
    writer.field("state", state.rawValue)
    writer.key("failureReason")
    if let failure = progress.failure { writer.string(failure.name) } else { writer.null() }
    writer.field("issue", progress.issue?.description)
    writer.key("waitingOn")
    if state == .scheduled, let wait { writer.string(wait.reason.name) } else { writer.null() }
    writer.field("nextAttemptAt", state == .scheduled ? wait?.until : nil)
    call.spec.show(hiding: redaction, to: &writer)
    writer.field("createdAt", call.createdAt)
    writer.field("finishedAt", progress.finishedAt)
    writer.field("deadlineAt", damage == nil ? call.deadline : nil)
    writer.field("attemptCount", progress.attempts)
    writer.field("maxAttempts", attempts: call.spec.policy.maxAttempts)
    if let last = detail == .full ? LastAnswer(attempts.last) : last { last.writeMembers(to: &writer) }
    if detail == .full {
      writer.key("retries")
      writer.beginArray()
      for retry in call.retries { retry.write(to: &writer) }
      writer.endArray()
      // The answer to a submission has none.
      let waits = attempts.isEmpty ? [] : WaitTimes.before(attempts, of: call)
      writer.key("waited")
      WaitTimes(waits).write(to: &writer)
      writer.key("attempts")
      writer.beginArray()
      for (attempt, waited) in zip(attempts, waits) { write(attempt, after: waited, withResponse: false, to: &writer) }
      writer.endArray()
      writer.key("response")
      if let response = attempts.last, let captured = response.response {
        write(captured, status: response.status, redact: call.spec.redact, to: &writer)
      } else {
        writer.null()
      }
      if withPolicy {
        writer.key("policyInForce")
        call.spec.fields.policy.write(to: &writer)
      }
      if let request {
        writer.key("request")
        request.write(redaction: redaction, to: &writer)
      }
    }
    if let damage { writer.field("damage", damage) }
    if withWarnings {
      writer.key("warnings")
      CallWarning.write(call.spec.warnings, to: &writer)
    }
    writer.endObject()
  }

  /// Writes an attempt as one object.
  ///
  /// - Parameters:
  ///   - waited: How long the call waited for what before it; nil if only this attempt is known, and what held it back.
  ///   - withResponse: Whether to include the exchange and the captured part of the response.
  ///   - withBody: Whether to include the response's body.
  ///   - redact: The members of the body that nobody sees.
  public static func write(
    _ attempt: AttemptRecord, after waited: WaitTimes? = nil, withResponse: Bool, withBody: Bool = true,
    redact: [JSONPointer] = [], to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.field("number", attempt.number)
    if let waited {
      writer.key("waited")
      waited.write(to: &writer)
    } else if let held = attempt.decision?.held, held.isExact {
      writer.key("heldBack")
      held.times().write(to: &writer)
    }
    writer.field("startedAt", attempt.startedAt)
    writer.key("outcome")
    writer.string(attempt.outcome.name)
    writer.key("status")
    if let status = attempt.status { writer.integer(Int64(status)) } else { writer.null() }
    writer.field("duration", attempt.duration)
    if let failure = attempt.failure {
      writer.key("error")
      writer.beginObject()
      writer.field("code", failure.code)
      if let phase = attempt.figures?.phase {
        writer.key("phase")
        writer.string(phase.name)
      }
      writer.field("message", failure.message)
      writer.endObject()
    }
    writer.key("decision")
    if let decision = attempt.decision { decision.write(to: &writer) } else { writer.null() }
    if withResponse {
      writer.key("exchange")
      if let figures = attempt.figures { figures.write(to: &writer) } else { writer.null() }
      writer.key("response")
      if let response = attempt.response {
        write(response, status: attempt.status, withBody: withBody, redact: redact, to: &writer)
      } else {
        writer.null()
      }
    }
    writer.endObject()
  }

  private static func write(
    _ response: CapturedResponse, status: Int?, withBody: Bool = true, redact: [JSONPointer],
    to writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.key("status")
    if let status { writer.integer(Int64(status)) } else { writer.null() }
    var fields = ShownFields()
    response.head.forEach { fields.add(ByteText.decoded($0).text.lowercased(), ByteText.decoded($1)) }
    fields.write(to: &writer)
    let body = withBody ? redact.shown(response.body, isWhole: !response.truncated) : nil
    if !withBody {
      // Not requested, and so not read.
    } else if let text = body.flatMap({ ByteText.leading($0, mayEndEarly: response.truncated) }) {
      writer.field("body", text)
      writer.field("encoding", "utf8")
    } else if let body {
      writer.field("body", Base64.encode(body))
      writer.field("encoding", "base64")
    } else {
      writer.field("body", "")
      writer.field("encoding", "utf8")
      writer.field("withheld", RequestView.redacted)
    }
    writer.field("truncated", response.truncated)
    writer.endObject()
  }
}
