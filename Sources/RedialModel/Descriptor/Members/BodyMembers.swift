internal import RedialJSON

/// The body of a submitted call.
struct GivenBody {
  /// Its bytes; nil as long as none is given.
  var bytes: [UInt8]?
  var isJSON = false
  /// Whether it has more bytes than are accepted.
  var isTooLarge = false

  fileprivate mutating func set(_ bytes: [UInt8], _ name: StaticString, in reader: inout DescriptorReader) {
    self.bytes = bytes
    guard bytes.count > reader.limits.bodyBytes else { return }
    isTooLarge = true
    reader.fault(
      "/\(name)", "is \(bytes.count) bytes long; at most \(reader.limits.bodyBytes) are accepted (maxBodyBytes)")
  }
}

/// A member with the body, which is stored apart from the spec, because it is large.
protocol BodyMember: MemberForm where Value == GivenBody {}

extension BodyMember {
  func write(_ name: StaticString, _ value: GivenBody, hiding redaction: Redaction?, to writer: inout JSONWriter) {}
}

/// The body as text.
struct TextBodyMember: BodyMember {
  func read(_ name: StaticString, into value: inout GivenBody, from reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.string, "/\(name)", "must be a string") else { return }
    value.set(try reader.json.utf8String(), name, in: &reader)
  }
}

/// The body as JSON.
struct JSONBodyMember: BodyMember {
  func read(_ name: StaticString, into value: inout GivenBody, from reader: inout DescriptorReader) throws(JSONError) {
    value.isJSON = true
    value.set(Array(reader.json.raw(try reader.json.skipValue())), name, in: &reader)
  }
}

/// The body in base 64.
struct Base64BodyMember: BodyMember {
  func read(_ name: StaticString, into value: inout GivenBody, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    guard let bytes = Base64.decode(text) else {
      return reader.fault("/\(name)", "is not base 64 with padding (RFC 4648)")
    }
    value.set(bytes, name, in: &reader)
  }
}
