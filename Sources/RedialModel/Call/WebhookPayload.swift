public import RedialCore
public import RedialJSON

/// The content of a webhook: `{type, timestamp, data}`, as in Standard Webhooks.
public enum WebhookPayload {
  /// The payload for the end of a call.
  ///
  /// - Parameter redaction: Hides parts of the URL.
  public static func make(
    _ event: EventType, of call: CallRecord, attempts: [AttemptRecord], redaction: Redaction, at now: Timestamp
  ) -> [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.field("type", event.rawValue)
    writer.field("timestamp", now)
    writer.key("data")
    CallView.write(call, attempts: attempts, wait: nil, redaction: redaction, to: &writer)
    writer.endObject()
    return writer.bytes
  }
}

extension WebhookPayload {
  /// The payload for subscribers about the end of a call: the call as lists show it, because it can be read in full.
  ///
  /// - Parameter redaction: Hides parts of the URL.
  public static func make(
    _ event: EventType, of call: CallRecord, redaction: Redaction, at now: Timestamp
  ) -> [UInt8] {
    make(event, at: now) {
      CallView.write(call, attempts: [], wait: nil, detail: .summary, redaction: redaction, to: &$0)
    }
  }

  /// A payload.
  ///
  /// - Parameter data: Writes one value, the subject of the event.
  public static func make(_ type: EventType, at now: Timestamp, data: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(capacity: 768)
    writer.beginObject()
    writer.field("type", type.rawValue)
    writer.field("timestamp", now)
    writer.key("data")
    data(&writer)
    writer.endObject()
    return writer.bytes
  }
}
