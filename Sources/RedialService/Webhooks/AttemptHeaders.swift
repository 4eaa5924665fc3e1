internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Where an attempt goes, and the header fields that it has.
struct AttemptHead: Sendable {
  var url: String
  var fields: [HeaderField]
  /// The content, if it is not the call's.
  var body: [UInt8]?
  /// What no answer to it may show.
  var secrets: [String] = []
}

/// Why an attempt has no head. It is not made.
enum HeadFault: Error {
  case noWebhookSecret
  case endpointGone
  case alertGone
}

/// The header fields that an attempt has besides its client's.
struct AttemptHeaders: Sendable {
  /// Signs the callbacks of calls in the default namespace; the secrets of other namespaces are derived from it.
  /// Nil if there is none.
  let secret: WebhookSecret?
  let endpoints: WebhookEndpoints
  /// The sampling of traces that begin here, as sent to targets; nil if none does.
  var sampling: TraceSampling?

  /// The URL and all header fields of an attempt: the client's, and those with the ids of the call and the attempt; for a
  /// webhook those of Standard Webhooks, signed with the time of the attempt.
  ///
  /// A webhook goes to the URL that its endpoint has now: the one that it had when the event happened may be the fault
  /// that somebody has corrected since.
  ///
  /// - Throws: For the delivery to a deleted endpoint or of a deleted alert, or for a callback if there is no secret: it must not
  ///   be sent unsigned.
  func head(of start: AttemptStart, at now: Timestamp) throws(HeadFault) -> AttemptHead {
    var head = AttemptHead(url: start.call.spec.url, fields: start.call.spec.headers)
    head.fields.reserveCapacity(head.fields.count + 4)
    switch start.call.kind {
    case .webhook:
      let secrets: [WebhookSecret]
      switch endpoints.receiver(ofTarget: start.call.spec.target, at: now) {
      case .endpoint(let current, let own): (head.url, secrets) = (current, own)
      case .gone: throw start.call.spec.target.alert == nil ? .endpointGone : .alertGone
      case .alert(let alert):
        guard let body = alert.sent(start.call.body) else { throw .alertGone }
        (head.url, head.body, head.secrets) = (alert.address, body, alert.secrets)
        if alert.channel == .endpoint {
          guard let endpoint = endpoints[alert.address, in: alert.namespace] else { throw .endpointGone }
          (head.url, secrets) = (endpoint.url, endpoint.signing(at: now))
        } else {
          secrets = [try secret(of: start.call.spec.namespace)]
        }
      case .callback: secrets = [try secret(of: start.call.spec.namespace)]
      }
      let id = "msg_" + start.call.id.characters
      let seconds = now.microseconds / 1_000_000
      let payload = head.body ?? start.call.body
      head.fields.append(HeaderField("webhook-id", id))
      head.fields.append(HeaderField("webhook-timestamp", "\(seconds)"))
      head.fields.append(
        HeaderField(
          "webhook-signature",
          secrets.map { $0.signature(id: id, timestamp: seconds, payload: payload) }.joined(separator: " ")))
      head.fields.append(HeaderField("Redial-Hops", "\(start.call.spec.hops + 1)"))
    case .call:
      let id = start.call.id.description
      // Earlier versions accepted these fields from clients, and such calls may still be stored.
      head.fields.removeAll {
        $0.isNamed("redial-call-id") || $0.isNamed("redial-attempt") || $0.isNamed("redial-hops")
      }
      // The key is the call's id, unless the client has set another: then a second field has the id. libcurl needs some
      // 5 thousand instructions for such a field, a sixtieth of a whole call.
      let hasKey = head.fields.contains { $0.isNamed("idempotency-key") }
      head.fields.append(HeaderField(hasKey ? "Redial-Call-Id" : "Idempotency-Key", id))
      head.fields.append(HeaderField("Redial-Attempt", "\(start.number)"))
      if start.call.spec.hops > 0 { head.fields.append(HeaderField("Redial-Hops", "\(start.call.spec.hops + 1)")) }
      addTrace(of: start, to: &head.fields)
    }
    return head
  }

  private func secret(of namespace: Namespace) throws(HeadFault) -> WebhookSecret {
    guard let secret else { throw .noWebhookSecret }
    return secret.derived(for: namespace)
  }

  /// A span of the attempt's own in the client's trace; or in the call's, if calls are traced.
  private func addTrace(of start: AttemptStart, to fields: inout [HeaderField]) {
    let given = fields.firstIndex { $0.isNamed("traceparent") }
    guard given != nil || sampling != nil else { return }
    // There is at most one (W3C Trace Context, section 3.2).
    if let given, let second = fields[(given + 1)...].firstIndex(where: { $0.isNamed("traceparent") }) {
      fields[second...].removeAll { $0.isNamed("traceparent") }
    }
    let trace = TraceContext.field(
      of: start.call.id, attempt: start.number, given: given.map { fields[$0].value }, sampling: sampling ?? .none)
    if let given {
      fields[given].value = trace
    } else {
      fields.append(HeaderField(TraceContext.fieldName, trace))
    }
  }
}

extension AttemptResult {
  /// The end of an attempt that was not begun, because it has no head. The target is not at fault.
  init(_ fault: HeadFault) {
    let (code, reason) =
      switch fault {
      case .noWebhookSecret:
        ("noWebhookSecret", ", because it could not be signed: \(Problem.noWebhookSecret.detail)")
      case .endpointGone: ("webhookEndpointGone", ": the webhook endpoint was deleted, and its secret with it.")
      case .alertGone: ("alertGone", ": the alert was deleted, and with it the address of its messages.")
      }
    self.init(
      outcome: .localFault,
      failure: AttemptFailure(code: code, message: "The attempt was not started" + reason), duration: .zero)
  }

  /// The end of an attempt that was not begun because its answer would be what was sent (RFC 9110 §9.3.8).
  static let echoedCredential = AttemptResult(
    outcome: .unusable,
    failure: AttemptFailure(
      code: "traceWithCredential",
      message: "The attempt was not started: TRACE is answered with what was sent, and so with the credential."),
    duration: .zero)

  /// The end of an attempt that was not begun because a proxy would see its credential.
  static let credentialInClear = AttemptResult(
    outcome: .unusable,
    failure: AttemptFailure(
      code: "credentialInClear",
      message: "The attempt was not started: over http:// the proxy would see the credential. Use an https:// URL."),
    duration: .zero)
}
