internal import RedialCore
public import RedialJSON
internal import RedialText

/// A spec as JSON: the same words as its descriptor, with every default, so that a later change of a default does not
/// change an accepted call.
extension CallSpec {
  /// The spec as one JSON object, without the body.
  public var canonicalJSON: [UInt8] { json(.stored, hiding: nil) }

  /// The spec like ``canonicalJSON``, without hidden values.
  public func redactedJSON(_ redaction: Redaction) -> [UInt8] { json(.previewed, hiding: redaction) }

  private func json(_ use: FieldUses, hiding redaction: Redaction?) -> [UInt8] {
    var writer = JSONWriter(capacity: 640)
    writer.beginObject()
    write(use, hiding: redaction, to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Reads a text of ``canonicalJSON``; it is checked as strictly as a client's descriptor.
  ///
  /// - Throws: What is wrong with it.
  public static func read(canonicalJSON bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) -> CallSpec {
    do {
      return try CallDescriptor.read(bytes, limits: .unlimited).spec
    } catch {
      let fault = error.errors.first
      let reason = (fault?.pointer == "" ? fault?.detail : fault?.clause) ?? error.detail
      // That it is not readable, its readers say.
      let unsaid = error.code == .invalidJSON ? "is not valid JSON: " : ""
      throw JSONError(offset: 0, reason: reason.hasPrefix(unsaid) ? String(reason.dropFirst(unsaid.count)) : reason)
    }
  }

  /// The URL of a spec in the form of ``canonicalJSON``, as ``shownURL``, without reading the rest; nil if the text is
  /// not such a spec.
  public static func shownURL(inCanonicalJSON bytes: UnsafeBufferPointer<UInt8>) -> String? {
    var reader = JSONReader(bytes)
    do throws(JSONError) {
      try reader.beginObject()
      // It is always the first member, and `sensitive` is the next one if it is there.
      guard try reader.nextKey() == "url" else { return nil }
      let url = try reader.string()
      guard try reader.nextKey() == "sensitive", try reader.bool() else { return url }
      return withoutQuery(url)
    } catch {
      return nil
    }
  }

  /// Writes those fields that have this use into an open object.
  ///
  /// - Parameter redaction: Hides values; nil for a spec from which attempts are made.
  private func write(_ use: FieldUses, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    var (call, submission) = (fields, SubmissionFields())
    var members = FieldWriter(json: writer, use: use, redaction: redaction)
    CallFields.visit(&members, &call, &submission)
    writer = members.json
  }

  /// Writes what every view of the call has of it into an open object.
  func show(hiding redaction: Redaction, to writer: inout JSONWriter) {
    write(.shown, hiding: redaction, to: &writer)
  }
}

/// Writes the fields that have a use.
private struct FieldWriter: CallFieldVisitor, ~Copyable {
  typealias Failure = Never

  var json: JSONWriter
  let use: FieldUses
  let redaction: Redaction?

  mutating func field<Form: MemberForm>(
    _ name: StaticString, _ form: Form, _ value: inout Form.Value, _ uses: FieldUses, oneOf group: MemberGroup?
  ) {
    guard uses.contains(use) else { return }
    if use == .shown, let redaction {
      form.show(name, value, hiding: redaction, to: &json)
    } else {
      form.write(name, value, hiding: redaction, to: &json)
    }
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
    if deadlineRule.minimumAttemptTime != .zero { writer.field("minAttemptTime", deadlineRule.minimumAttemptTime) }
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
