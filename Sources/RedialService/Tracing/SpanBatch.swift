internal import RedialCore
internal import RedialModel
internal import RedialJSON

/// Spans as one request of OTLP/HTTP in JSON (OpenTelemetry Protocol 1.x): ids in hexadecimal, integers and times as
/// strings.
enum SpanBatch {
  /// - Parameter service: The service name of the spans.
  static func json(_ spans: [Span], service: String, instance: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 256 + spans.count * 1024)
    writer.beginObject()
    writer.key("resourceSpans")
    writer.beginArray()
    writer.beginObject()
    writer.key("resource")
    writer.beginObject()
    write(
      [
        Span.Attribute("service.name", service), Span.Attribute("service.version", redialVersion),
        Span.Attribute("service.instance.id", instance),
      ], to: &writer)
    writer.endObject()
    writer.key("scopeSpans")
    writer.beginArray()
    writer.beginObject()
    writer.key("scope")
    writer.beginObject()
    writer.field("name", "redial")
    writer.field("version", redialVersion)
    writer.endObject()
    writer.key("spans")
    writer.beginArray()
    for span in spans { write(span, to: &writer) }
    writer.endArray()
    writer.endObject()
    writer.endArray()
    writer.endObject()
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ span: Span, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("traceId", span.trace.description)
    writer.field("spanId", hex(span.id))
    if let parent = span.parent { writer.field("parentSpanId", hex(parent)) }
    // The trace's flags, sampled, and whether the parent is remote (opentelemetry.proto.trace.v1.SpanFlags).
    writer.field("flags", span.hasRemoteParent ? 0x301 : 0x101)
    writer.field("name", span.name)
    writer.field("kind", span.kind.rawValue)
    writer.field("startTimeUnixNano", nanoseconds(span.start))
    writer.field("endTimeUnixNano", nanoseconds(max(span.start, span.end)))
    write(span.attributes, to: &writer)
    if let error = span.error {
      writer.key("status")
      writer.beginObject()
      writer.field("code", 2)
      if !error.isEmpty { writer.field("message", error) }
      writer.endObject()
    }
    writer.endObject()
  }

  private static func write(_ attributes: [Span.Attribute], to writer: inout JSONWriter) {
    writer.key("attributes")
    writer.beginArray()
    for attribute in attributes {
      writer.beginObject()
      writer.field("key", attribute.name)
      writer.key("value")
      writer.beginObject()
      switch attribute.value {
      case .text(let text): writer.field("stringValue", text)
      case .number(let number): writer.field("intValue", "\(number)")
      }
      writer.endObject()
      writer.endObject()
    }
    writer.endArray()
  }

  private static func hex(_ id: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { text in
      text.setHex(id, at: 0)
      return 16
    }
  }

  private static func nanoseconds(_ time: Timestamp) -> String { "\(time.microseconds)000" }
}
