internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// The header fields that an attempt carries besides its client's.
struct AttemptHeaders: Sendable {
  let secret: WebhookSecret
  let endpoints: WebhookEndpoints
  /// Which of the traces that begin here targets are told to record.
  var sampling = TraceSampling.none

  /// All header fields of an attempt: the client's, and those that name the call and the attempt; for a
  /// webhook those of Standard Webhooks, signed with the time of the attempt.
  func fields(of start: AttemptStart, at now: Timestamp) -> [HeaderField] {
    var fields = start.call.spec.headers
    fields.reserveCapacity(fields.count + 4)
    switch start.call.kind {
    case .webhook:
      let id = "msg_" + start.call.id.characters
      let seconds = now.microseconds / 1_000_000
      fields.append(HeaderField("webhook-id", id))
      fields.append(HeaderField("webhook-timestamp", "\(seconds)"))
      fields.append(
        HeaderField(
          "webhook-signature",
          (endpoints.secrets(ofTarget: start.call.spec.target, at: now) ?? [secret])
            .map { $0.signature(id: id, timestamp: seconds, payload: start.call.body) }.joined(separator: " ")))
    case .call:
      let id = start.call.id.description
      if !fields.contains(where: { $0.isNamed("idempotency-key") }) {
        fields.append(HeaderField("Idempotency-Key", id))
      }
      fields.append(HeaderField("Redial-Call-Id", id))
      fields.append(HeaderField("Redial-Attempt", "\(start.number)"))
      addTrace(of: start, to: &fields)
    }
    return fields
  }

  /// A span of the attempt's own in the client's trace, or in the call's where the client gave none.
  private func addTrace(of start: AttemptStart, to fields: inout [HeaderField]) {
    let given = fields.firstIndex { $0.isNamed("traceparent") }
    let trace = TraceContext.field(
      of: start.call.id, attempt: start.number, given: given.map { fields[$0].value }, sampling: sampling)
    if let given {
      fields[given].value = trace
    } else {
      fields.append(HeaderField(TraceContext.fieldName, trace))
    }
  }
}
