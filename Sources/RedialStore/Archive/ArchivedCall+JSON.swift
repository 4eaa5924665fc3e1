package import RedialCore
internal import RedialModel
package import RedialJSON

/// Times are microseconds since 1970, and durations are microseconds, so that a copy is exact.
extension ArchivedCall {
  /// One JSON object, without a line break.
  package var json: [UInt8] {
    let progress = record.progress
    var writer = JSONWriter(capacity: 1024 + record.body.count * 4 / 3)
    writer.beginObject()
    writer.field("id", record.id.description)
    writer.field("kind", "\(record.kind)")
    writer.field("createdAt", record.createdAt)
    writer.field("state", "\(progress.state)")
    writer.field("due", progress.due)
    writer.field("waiting", progress.waiting.map { "\($0)" })
    writer.field("attemptCount", progress.attempts)
    writer.field("interruptions", progress.interruptions)
    writer.field("attemptsBefore", progress.attemptsBefore)
    writer.field("roundStartedAt", progress.roundStartedAt)
    writer.field("finishedAt", progress.finishedAt)
    writer.field("failure", progress.failure.map { "\($0)" })
    if let issue = progress.issue { writer.field("issue", issue.description) }
    writer.field("previousWait", progress.waits.previous)
    writer.field("totalWait", progress.waits.total)
    writer.key("spec")
    writer.raw(record.spec.canonicalJSON)
    writer.field("body", Base64.encode(record.body))
    writer.key("attempts")
    writer.beginArray()
    for attempt in attempts { attempt.write(to: &writer) }
    writer.endArray()
    if !record.retries.isEmpty {
      writer.key("retries")
      writer.beginArray()
      for retry in record.retries { retry.archive(to: &writer) }
      writer.endArray()
    }
    if let hasTurn { writer.field("hasTurn", hasTurn) }
    if let key { key.write(to: &writer) }
    LineChecksum.end(&writer)
    return writer.bytes
  }

  /// Reads what ``json`` wrote. An unknown member is an error, and so is a missing one.
  ///
  /// - Parameter now: The time of the wall clock. An id of a later day is an error, because all ids made until then
  ///   would have to be higher.
  /// - Throws: What is wrong, with the member's name.
  package static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, at now: Timestamp
  ) throws(JSONError) -> ArchivedCall {
    try ArchiveReader.read(bytes, at: now) { (reader) throws(JSONError) in try reader.call() }
  }
}

extension AttemptRecord {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("number", number)
    writer.field("startedAt", startedAt)
    writer.field("duration", duration)
    writer.field("outcome", "\(outcome)")
    if let status { writer.field("status", status) }
    if let failure {
      writer.field("failureCode", failure.code)
      writer.field("failureMessage", failure.message)
    }
    // As every store has it.
    writer.field("decision", Base64.encode(decision?.json ?? []))
    if let figures { writer.field("figures", Base64.encode(figures.encoded)) }
    if let response {
      writer.field("truncated", response.truncated)
      writer.field("responseHead", Base64.encode(response.head.bytes))
      writer.field("responseBody", Base64.encode(response.body))
    }
    writer.endObject()
  }
}

extension ManualRetry {
  fileprivate func archive(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("at", at)
    writer.field("afterAttempt", afterAttempt)
    if let by = attribution.by { writer.field("by", by) }
    if let reason = attribution.reason { writer.field("reason", reason) }
    writer.endObject()
  }
}

extension KeyRecord {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.key("key")
    writer.beginObject()
    writer.field("text", key.name.text)
    writer.field("fingerprint", Base64.encode(key.fingerprint))
    writer.field("createdAt", createdAt)
    writer.field("expiresAt", expiresAt)
    writer.endObject()
  }
}

extension JSONWriter {
  fileprivate mutating func field(_ name: StaticString, _ time: Timestamp) {
    key(name)
    integer(time.microseconds)
  }

  fileprivate mutating func field(_ name: StaticString, _ time: Timestamp?) {
    key(name)
    if let time { integer(time.microseconds) } else { null() }
  }

  fileprivate mutating func field(_ name: StaticString, _ duration: Duration) {
    key(name)
    integer(duration.wholeMicroseconds)
  }
}
