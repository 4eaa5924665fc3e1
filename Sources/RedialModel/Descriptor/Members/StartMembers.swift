internal import RedialCore
internal import RedialJSON
internal import RedialText

/// How long after its acceptance a call starts.
struct DelayMember: MemberForm {
  func read(_ name: StaticString, into value: inout Duration, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.duration("/\(name)", in: .zero...reader.limits.delay) ?? value
  }

  func write(_ name: StaticString, _ value: Duration, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if value > .zero { writer.field(name, value) }
  }
}

/// When a call starts. The store has it as the time at which the call is due.
struct StartTimeMember: MemberForm {
  func read(_ name: StaticString, into value: inout Timestamp?, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    guard let time = TimestampText.parse(text) else {
      return reader.fault("/\(name)", "must be an RFC 3339 time such as 2026-12-01T09:00:00Z")
    }
    if let latest = reader.limits.latestStart, time > latest {
      let longest = DurationText.format(reader.limits.delay)
      return reader.fault("/\(name)", "is too far away; a call starts at most \(longest) from now")
    }
    value = time
  }

  func write(_ name: StaticString, _ value: Timestamp?, hiding redaction: Redaction?, to writer: inout JSONWriter) {}
}
