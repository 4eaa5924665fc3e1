internal import RedialJSON
internal import RedialModel
internal import RedialText

/// What instances send each other with an event, so that the receiver can select the listeners for it.
extension StreamedEvent {
  /// That the content of a call was erased.
  static func erasure(of id: CallID, _ spec: CallSpec) -> StreamedEvent {
    StreamedEvent(
      type: .callErased, target: spec.target, call: (id, .call), labels: [], data: Array("{}".utf8),
      audience: .instances)
  }

  /// The event's subject, as one line of JSON.
  var about: [UInt8] {
    var writer = JSONWriter(capacity: 128)
    writer.beginObject()
    writer.field("target", target.bare)
    if let call {
      writer.field("call", "\(call.id)")
      writer.field("kind", call.kind.name)
      writer.field("attempts", attempts)
      if let waitingOn {
        writer.key("waitingOn")
        writer.string(waitingOn.name)
      }
    }
    labels.write(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Reads an event of another instance; nil if it cannot be read, because a newer version has sent it.
  init?(_ event: ServerSentEvents.Event, in namespace: Namespace) {
    guard let type = EventType(rawValue: event.name), type != .webhookTest else { return nil }
    let subject = event.about.withUnsafeBufferPointer { bytes in
      Result { () throws(JSONError) in try Subject(bytes) }
    }
    guard case .success(let subject) = subject, let target = subject.target else { return nil }
    self.init(
      type: type, target: TargetKey(target, in: namespace), call: subject.call, labels: subject.labels,
      attempts: subject.attempts, waitingOn: subject.waitingOn, data: event.data, audience: .clients)
  }

  private struct Subject {
    var target: String?
    var call: (id: CallID, kind: CallKind)?
    var labels: [CallSpec.Label] = []
    var attempts = 0
    var waitingOn: WaitReason?

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
      var reader = JSONReader(bytes)
      var (id, kind) = (CallID?.none, CallKind?.none)
      try reader.beginObject()
      while let name = try reader.nextKey() {
        switch name {
        case "target": target = try reader.string()
        case "call": id = CallID(try reader.string())
        case "kind":
          let text = try reader.string()
          kind = CallKind.allCases.first { $0.name == text }
        case "attempts": attempts = Int(try reader.integer())
        case "waitingOn":
          let text = try reader.string()
          waitingOn = WaitReason.allCases.first { "\($0.name)" == text }
        case "labels":
          try reader.beginObject()
          while let label = try reader.nextKey() {
            labels.append(CallSpec.Label(name: label, value: try reader.string()))
          }
        default: _ = try reader.skipValue()
        }
      }
      try reader.finish()
      if let id, let kind { call = (id, kind) }
    }
  }
}
