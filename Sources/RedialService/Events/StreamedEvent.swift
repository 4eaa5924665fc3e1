internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialJSON

/// One event as listeners see it.
struct StreamedEvent: Sendable {
  /// Who gets an event.
  enum Audience: Sendable {
    /// Everybody.
    case all
    /// Clients alone: it came from another instance.
    case clients
    /// Other instances alone.
    case instances
  }

  let type: EventType
  /// The target, whose key contains its namespace.
  let target: TargetKey
  /// The call and its kind; nil for an event of a target.
  let call: (id: CallID, kind: CallKind)?
  let labels: [CallSpec.Label]
  /// How many attempts of the call had begun.
  var attempts = 0
  /// What the call waited for.
  var waitingOn: WaitReason?
  /// `{type, timestamp, data}`, in one line.
  let data: [UInt8]
  var audience = Audience.all
}

extension StreamedEvent {
  /// What happened to a call.
  ///
  /// - Parameters:
  ///   - attempt: The attempt that ended with it, shown with the call.
  ///   - redaction: Hides parts of the URL.
  init(
    _ type: EventType, of record: CallRecord, attempt: AttemptRecord? = nil, wait: CallView.Wait?, redaction: Redaction,
    at time: Timestamp
  ) {
    var writer = JSONWriter(capacity: 768)
    writer.beginObject()
    writer.field("type", type.rawValue)
    writer.field("timestamp", time)
    writer.key("data")
    CallView.write(record, attempts: [], wait: wait, detail: .summary, redaction: redaction, to: &writer)
    if let attempt {
      writer.key("attempt")
      CallView.write(attempt, withResponse: false, to: &writer)
    }
    writer.endObject()
    self.init(
      type: type, target: record.spec.target, call: (record.id, record.kind), labels: record.spec.labels,
      attempts: record.progress.attempts, waitingOn: wait?.reason, data: writer.bytes)
  }

  /// The same event without the erased content of its call; empty if it cannot be parsed.
  ///
  /// - Parameter spec: The call's spec after the erasure.
  func erased(keeping spec: CallSpec, _ redaction: Redaction) -> StreamedEvent {
    let written = data.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONError) in
        var reader = JSONReader(bytes)
        var writer = JSONWriter(capacity: bytes.count)
        writer.beginObject()
        try reader.beginObject()
        while let name = try reader.nextKey() {
          writer.key(name)
          if name == "data" {
            try Self.copyCall(from: &reader, to: &writer, spec, redaction)
          } else {
            writer.raw(Array(reader.raw(try reader.skipValue())))
          }
        }
        writer.endObject()
        return writer.bytes
      }
    }
    return StreamedEvent(
      type: type, target: target, call: call, labels: spec.labels, attempts: attempts, waitingOn: waitingOn,
      data: (try? written.get()) ?? Array("{}".utf8), audience: audience)
  }

  /// Copies a call as an event shows it, with its spec after the erasure.
  private static func copyCall(
    from reader: inout JSONReader, to writer: inout JSONWriter, _ spec: CallSpec, _ redaction: Redaction
  ) throws(JSONError) {
    writer.beginObject()
    try reader.beginObject()
    while let name = try reader.nextKey() {
      let value = Array(reader.raw(try reader.skipValue()))
      switch name {
      case "url": writer.field("url", redaction.url(spec.url))
      case "labels": spec.labels.write(to: &writer)
      case "description" where spec.fields.description == nil: break
      case "contentErasedAt": writer.field("contentErasedAt", spec.contentErasedAt)
      default:
        writer.key(name)
        writer.raw(value)
      }
    }
    writer.endObject()
  }

  /// What happened to a target.
  init(_ event: TargetEvent) {
    self.init(type: event.type, target: event.target, call: nil, labels: [], data: event.payload)
  }
}
