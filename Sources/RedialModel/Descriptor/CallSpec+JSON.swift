internal import RedialCore
package import RedialJSON
internal import RedialText

/// A spec as JSON: the same words as its descriptor, with every default, so that a later change of a default does not
/// change an accepted call.
extension CallSpec {
  /// The spec as one JSON object, without the body.
  package var canonicalJSON: [UInt8] { json(redaction: nil) }

  /// The spec like ``canonicalJSON``, without hidden values.
  package func redactedJSON(_ redaction: Redaction) -> [UInt8] { json(redaction: redaction) }

  private func json(redaction: Redaction?) -> [UInt8] {
    var writer = JSONWriter(capacity: 640)
    writer.beginObject()
    write(redaction: redaction, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Reads a text of ``canonicalJSON``; it is checked as strictly as a client's descriptor.
  ///
  /// - Throws: What is wrong with it.
  package static func read(canonicalJSON bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) -> CallSpec {
    do {
      return try DescriptorReader.read(bytes, limits: .unlimited).spec
    } catch {
      throw JSONError(
        offset: 0,
        reason: error.errors.first.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer): \($0.detail)" }
          ?? error.detail)
    }
  }

  /// The URL of a spec in the form of ``canonicalJSON``, without reading the rest; nil if the text is not such a spec.
  package static func url(inCanonicalJSON bytes: UnsafeBufferPointer<UInt8>) -> String? {
    var reader = JSONReader(bytes)
    do throws(JSONError) {
      try reader.beginObject()
      // It is always the first member.
      return try reader.nextKey() == "url" ? try reader.string() : nil
    } catch {
      return nil
    }
  }

  /// Writes the members of the spec into an open object.
  ///
  /// - Parameter redaction: Hides values; nil for a spec from which attempts are made.
  private func write(redaction: Redaction?, to writer: inout JSONWriter) {
    writer.field("url", redaction?.url(url) ?? url)
    writer.field("method", method)
    if !headers.isEmpty { writeHeaders(redaction, to: &writer) }
    writer.key("policy")
    if let policyJSON { writer.raw(policyJSON) } else { policy.write(to: &writer) }
    if let policyName { writer.field("policyName", policyName) }
    if let replayOf { writer.field("replayOf", replayOf) }
    if let contentErasedAt { writer.field("contentErasedAt", contentErasedAt) }
    if hops > 0, redaction == nil { writer.field("hops", hops) }
    // People see when it starts.
    if delay > .zero, redaction == nil { writer.field("delay", delay) }
    writer.field("target", targetName)
    // People use its unqualified key.
    if redaction == nil, !namespace.isDefault { writer.field("namespace", namespace.name) }
    if !idempotent { writer.field("idempotent", false) }
    if !labels.isEmpty { labels.write(to: &writer) }
    if let callback { callback.write(redaction: redaction, to: &writer) }
    if maxRedirects > 0 { writeRedirects(to: &writer) }
    if priority != Self.defaultPriority { writer.field("priority", priority) }
    if let orderingKey { writer.field("orderingKey", orderingKey) }
    writer.key("capture")
    writer.beginObject()
    writer.field("maxBytes", captureLimit)
    if !redactedHeaders.isEmpty {
      writer.key("redactHeaders")
      writer.beginArray()
      for name in redactedHeaders { writer.string(name) }
      writer.endArray()
    }
    writer.endObject()
  }

  func writeRedirects(to writer: inout JSONWriter) {
    writer.key("redirects")
    writer.beginObject()
    writer.field("max", maxRedirects)
    writer.endObject()
  }

  /// Fields with one name form one array, at the position of the first.
  private func writeHeaders(_ redaction: Redaction?, to writer: inout JSONWriter) {
    func shown(_ field: HeaderField) -> String {
      redaction?.hidesHeader(field.name, redactedHeaders) == true ? Redaction.marker : field.value
    }
    writer.key("headers")
    writer.beginObject()
    for (position, field) in headers.enumerated() where !headers[..<position].contains(where: { $0.name == field.name })
    {
      writer.key(field.name)
      if headers[(position + 1)...].contains(where: { $0.name == field.name }) {
        writer.beginArray()
        for other in headers[position...] where other.name == field.name { writer.string(shown(other)) }
        writer.endArray()
      } else {
        writer.string(shown(field))
      }
    }
    writer.endObject()
  }

}

extension [CallSpec.Label] {
  /// Writes the member `labels` into an open object.
  package func write(to writer: inout JSONWriter) {
    writer.key("labels")
    writer.beginObject()
    for label in self {
      writer.key(label.name)
      writer.string(label.value)
    }
    writer.endObject()
  }
}

extension Callback {
  func write(redaction: Redaction?, to writer: inout JSONWriter) {
    writer.key("callback")
    writer.beginObject()
    writer.field("url", redaction?.url(url) ?? url)
    writer.key("events")
    writer.beginArray()
    for event in events { writer.string(event.rawValue) }
    writer.endArray()
    writer.endObject()
  }
}

extension RetryPolicy {
  /// Writes the policy as one object.
  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("maxAttempts", attempts: maxAttempts)
    writer.field("deadline", deadline)
    if deadlineRule.lastAttempt != .endEarly {
      writer.field("lastAttempt", PolicyVocabulary.word(of: deadlineRule.lastAttempt))
    }
    if deadlineRule.minimumAttemptTime != .zero { writer.field("minimumAttemptTime", deadlineRule.minimumAttemptTime) }
    writer.field("attemptTimeout", attemptTimeout)
    writer.key("backoff")
    backoff.write(to: &writer)
    writer.key("retryOn")
    writer.beginObject()
    writer.field("network", PolicyVocabulary.word(of: retryOn.network))
    writer.key("statuses")
    retryOn.statuses.write(to: &writer)
    writer.key("statusesWithRetryAfter")
    retryOn.statusesWithRetryAfter.write(to: &writer)
    writer.endObject()
    writer.key("stopOn")
    writer.beginObject()
    writer.key("statuses")
    stopOn.write(to: &writer)
    writer.endObject()
    writer.key("retryAfter")
    writer.beginObject()
    writer.field("mode", PolicyVocabulary.word(isRespected: retryAfter.isRespected))
    writer.field("max", retryAfter.maximum)
    if retryAfter.beyond != .stop {
      writer.field("beyond", PolicyVocabulary.word(of: retryAfter.beyond))
    }
    if retryAfter.spread != 0 { writer.field("spread", retryAfter.spread) }
    if retryAfter.statuses != .retryAfter {
      writer.key("statuses")
      retryAfter.statuses.write(to: &writer)
    }
    writer.endObject()
    writer.field("onExhausted", "fail")
    writer.field("onTrip", PolicyVocabulary.word(of: onTrip ?? .wait))
    writer.endObject()
  }
}

extension StatusSet {
  func write(to writer: inout JSONWriter) {
    writer.beginArray()
    for range in ranges { writer.string(PolicyVocabulary.text(range)) }
    writer.endArray()
  }
}

extension JSONWriter {
  /// Writes a limit on attempts; null if there is none.
  mutating func field(_ name: StaticString, attempts: Int) {
    if attempts == RetryPolicy.unlimited {
      key(name)
      null()
    } else {
      field(name, attempts)
    }
  }
}
