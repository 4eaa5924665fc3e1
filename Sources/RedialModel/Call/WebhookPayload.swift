public import RedialCore

/// What a webhook says: `{type, timestamp, data}`, as Standard Webhooks has it.
public enum WebhookPayload {
  /// The payload that tells of an ended call.
  ///
  /// - Parameter redaction: What is left out of the URL.
  public static func make(
    _ event: CallEvent, of call: CallRecord, attempts: [AttemptRecord], redaction: Redaction, at now: Timestamp
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
