internal import RedialJSON

/// The key of the target, without its namespace. An empty one stands for the origin of the URL.
struct TargetMember: MemberForm {
  func read(_ name: StaticString, into value: inout TargetKey, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.name("/\(name)") else { return }
    value = TargetKey(text, in: value.namespace)
    if !reader.limits.isAccepted, let detail = PathSegment.fault(in: text) { reader.fault("/\(name)", detail) }
    // Calls that an older version accepted may have such a target; the engine ends them.
    if !reader.limits.isAccepted, text.hasPrefix(WebhookSubscription.targetPrefix) {
      reader.fault(
        "/\(name)", "must not begin with \(WebhookSubscription.targetPrefix), which is reserved for webhooks")
    }
  }

  func write(_ name: StaticString, _ value: TargetKey, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    writer.field(name, value.bare)
  }
}

/// The namespace of the target, and so of the call.
struct NamespaceMember: MemberForm {
  func read(_ name: StaticString, into value: inout TargetKey, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    guard let namespace = Namespace(text) else { return reader.fault("/\(name)", Namespace.rule) }
    value = TargetKey(value.bare, in: namespace)
  }

  func write(_ name: StaticString, _ value: TargetKey, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    if !value.namespace.isDefault { writer.field(name, value.namespace.name) }
  }
}
