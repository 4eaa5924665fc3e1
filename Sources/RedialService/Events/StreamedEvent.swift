internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// One event as listeners are told of it.
struct StreamedEvent: Sendable {
  /// What the stream tells of.
  enum Kind: String, Sendable, CaseIterable {
    case accepted = "call.accepted"
    case attempted = "call.attempted"
    case succeeded = "call.succeeded"
    case failed = "call.failed"
    case tripped = "call.tripped"
    case cancelled = "call.cancelled"
    case opened = "target.opened"
    case halfOpened = "target.halfOpened"
    case closed = "target.closed"
    case endpointDisabled = "endpoint.disabled"
  }

  let kind: Kind
  /// The target's qualified key, which says whose event it is.
  let target: String
  /// The call, and what it is for; nil for what happened to a target.
  let call: (id: CallID, kind: CallKind)?
  let labels: [CallSpec.Label]
  /// `{type, timestamp, data}`, in one line.
  let data: [UInt8]
}

extension StreamedEvent {
  /// What happened to a call.
  ///
  /// - Parameters:
  ///   - attempt: The attempt that ended with it, shown beside the call.
  ///   - redaction: What is left out of the URL.
  init(
    _ kind: Kind, of record: CallRecord, attempt: AttemptRecord? = nil, wait: CallView.Wait?, redaction: Redaction,
    at time: Timestamp
  ) {
    var writer = JSONWriter(capacity: 768)
    writer.beginObject()
    writer.field("type", kind.rawValue)
    writer.field("timestamp", time)
    writer.key("data")
    CallView.write(record, attempts: [], wait: wait, detail: .summary, redaction: redaction, to: &writer)
    if let attempt {
      writer.key("attempt")
      CallView.write(attempt, withResponse: false, to: &writer)
    }
    writer.endObject()
    self.init(
      kind: kind, target: record.spec.target, call: (record.id, record.kind), labels: record.spec.labels,
      data: writer.bytes)
  }

  /// What happened to a target's breaker; nil for what is no event of a target.
  init?(_ notice: Notice, at time: Timestamp) {
    let kind: Kind
    let event: TargetEvent
    let key: String
    var openUntil: Timestamp?
    var count: Int?
    switch notice {
    case .breakerOpened(let target, let until, let trips):
      (kind, event, key, openUntil, count) = (.opened, .opened, target, until, trips)
    case .breakerHalfOpen(let target): (kind, event, key) = (.halfOpened, .halfOpened, target)
    case .breakerClosed(let target): (kind, event, key) = (.closed, .closed, target)
    default: return nil
    }
    self.init(
      kind: kind, target: key, call: nil, labels: [],
      data: WebhookPayload.make(event, of: key, openUntil: openUntil, trips: count, at: time))
  }
}
