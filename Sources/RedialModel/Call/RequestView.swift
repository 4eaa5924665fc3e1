internal import RedialJSON

/// The request of a call as people see it: the client's request, redacted.
public struct RequestView: Sendable {
  private let call: CallRecord
  /// The first bytes of its body.
  private let body: [UInt8]

  /// The maximum number of a body's bytes that are shown.
  public static let mostBytes = 1 << 20

  /// Creates a view.
  ///
  /// - Parameter body: The first bytes of the call's body; ``mostBytes`` of a larger one.
  public init(of call: CallRecord, body: [UInt8]) {
    self.call = call
    self.body = body
  }

  /// Writes the request as one object.
  func write(redaction: Redaction, to writer: inout JSONWriter) {
    let spec = call.spec
    writer.beginObject()
    writer.field("method", spec.method)
    writer.field("url", redaction.url(spec.shownURL))
    writeHeaders(redaction, to: &writer)
    let shown = hasNoBody ? nil : spec.redact.shown(body, isWhole: !isTruncated)
    if let shown {
      writeBody(shown, to: &writer)
    } else {
      writer.key("body")
      writer.null()
      writer.key("encoding")
      writer.null()
      writer.key("size")
      writer.null()
    }
    writer.field("truncated", shown != nil && isTruncated)
    writer.field("erasedAt", spec.contentErasedAt)
    writer.field("withheld", spec.isSensitive ? Self.sensitive : shown == nil && !hasNoBody ? Self.redacted : nil)
    writer.endObject()
  }

  /// Why nothing of a sensitive call's request is shown.
  private static let sensitive = "sensitive"
  /// Why a body is not shown in which nobody can tell what to hide.
  static let redacted = "redact"

  /// Whether the body was erased, or nobody may see it.
  private var hasNoBody: Bool { call.spec.contentErasedAt != nil || call.spec.isSensitive }
  /// Whether the body is longer than what is here of it.
  private var isTruncated: Bool { body.count < call.content.size }

  private func writeBody(_ body: [UInt8], to writer: inout JSONWriter) {
    if let text = ByteText.leading(body, mayEndEarly: isTruncated) {
      writer.field("body", text)
      writer.field("encoding", "utf8")
    } else {
      writer.field("body", Base64.encode(body))
      writer.field("encoding", "base64")
    }
    writer.field("size", call.content.size)
  }

  private func writeHeaders(_ redaction: Redaction, to writer: inout JSONWriter) {
    var fields = ShownFields()
    for field in call.spec.isSensitive ? [] : call.spec.headers {
      let isHidden = redaction.hidesHeader(field.name, call.spec.redactedHeaders)
      fields.add(field.name, isHidden ? (Redaction.marker, false) : (field.value, field.isLatin1))
    }
    fields.write(to: &writer)
  }
}
