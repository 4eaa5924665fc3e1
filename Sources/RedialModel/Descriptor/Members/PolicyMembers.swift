internal import RedialJSON

/// The policy, as an object or by the name of a stored one.
struct PolicyMember: MemberForm {
  /// The reader keeps the policy: what it becomes depends on whether the request may be repeated.
  func read(_ name: StaticString, into value: inout AcceptedPolicy, from reader: inout DescriptorReader)
    throws(JSONError)
  {
    try reader.readPolicy()
  }

  func write(_ name: StaticString, _ value: AcceptedPolicy, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    writer.key(name)
    value.write(to: &writer)
  }
}

extension AcceptedPolicy {
  /// Writes the whole policy as one object.
  func write(to writer: inout JSONWriter) {
    if let json { writer.raw(json) } else { policy.write(to: &writer) }
  }
}

/// The name of the stored policy. A view has the name alone, as `policy`, because the policy is long.
struct PolicyNameMember: MemberForm {
  func read(_ name: StaticString, into value: inout String?, from reader: inout DescriptorReader) throws(JSONError) {
    value = try reader.string("/\(name)")
  }

  func write(_ name: StaticString, _ value: String?, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if let value { writer.field(name, value) }
  }

  func show(_ name: StaticString, _ value: String?, hiding redaction: Redaction, to writer: inout JSONWriter) {
    writer.field("policy", value)
  }
}
