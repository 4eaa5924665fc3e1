internal import RedialJSON

// What the request of an attempt is made of, besides its body.

/// The URL.
struct URLMember: MemberForm {
  /// Whether people do not see its query.
  private let hidesQuery: Bool

  init(hidesQuery: Bool) {
    self.hidesQuery = hidesQuery
  }

  func read(_ name: StaticString, into value: inout String, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    value = text
    reader.origin = reader.checkedOrigin(of: text, "/\(name)")
  }

  func write(_ name: StaticString, _ value: String, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    writer.field(name, redaction?.url(hidesQuery ? CallSpec.withoutQuery(value) : value) ?? value)
  }
}

/// The method.
struct MethodMember: MemberForm {
  /// The longest one, in bytes.
  static let longest = 32
  /// It asks for a tunnel.
  static let refused = "CONNECT"

  func read(_ name: StaticString, into value: inout String, from reader: inout DescriptorReader) throws(JSONError) {
    guard let text = try reader.string("/\(name)") else { return }
    if !HeaderRules.isToken(text) || text.utf8.count > Self.longest {
      reader.fault("/\(name)", "must be a method name such as GET or POST, at most \(Self.longest) characters")
    } else if text == Self.refused {
      reader.fault("/\(name)", "must not be CONNECT, which asks for a tunnel and not for an answer")
    } else {
      value = text
    }
  }

  func write(_ name: StaticString, _ value: String, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    writer.field(name, value)
  }
}

/// The header fields.
struct HeadersMember: MemberForm {
  /// Those whose values people do not see, besides the service's, in lower case.
  private let hidden: [String]
  /// Whether people see no values at all.
  private let hidesAll: Bool

  init(hidden: [String], hidesAll: Bool) {
    self.hidden = hidden
    self.hidesAll = hidesAll
  }

  func read(
    _ name: StaticString, into value: inout [HeaderField], from reader: inout DescriptorReader
  ) throws(JSONError) {
    guard try reader.expect(.object, "/\(name)", "must be an object of strings or arrays of strings") else { return }
    try reader.json.beginObject()
    value.reserveCapacity(4)
    let isAccepted = reader.limits.isAccepted
    // An accepted call may have a content-type as well.
    let most = isAccepted ? Int.max : HeaderRules.maximumCount
    var tooMany = false
    while let field = try reader.json.nextKey() {
      if value.count >= most {
        tooMany = true
        _ = try reader.json.skipValue()
        continue
      }
      func pointer() -> String { "/\(name)/\(JSONPointer.escaped(field))" }
      if let detail = HeaderRules.fault(inName: field, isAccepted: isAccepted) { reader.fault(pointer(), detail) }
      if value.contains(where: { $0.name == field }) {
        reader.fault(pointer(), "is given twice; give an array of its values")
      }
      if try reader.json.peek() == .array {
        try reader.json.beginArray()
        while try reader.json.nextElement() {
          if value.count < most {
            try Self.read(field, pointer, into: &value, from: &reader)
          } else {
            tooMany = true
            _ = try reader.json.skipValue()
          }
        }
      } else {
        try Self.read(field, pointer, into: &value, from: &reader)
      }
    }
    let bytes = value.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    if tooMany || bytes > HeaderRules.maximumBytes && !isAccepted {
      reader.fault("/\(name)", "has more than \(HeaderRules.maximumCount) fields or \(HeaderRules.maximumBytes) bytes")
    }
    if !isAccepted { Self.checkSingle(value, "/\(name)", &reader) }
  }

  /// A request has one `Host` (RFC 9112 §3.2), and one `Content-Type` (RFC 9110 §8.3): of two each reader takes another one.
  private static func checkSingle(_ fields: [HeaderField], _ pointer: String, _ reader: inout DescriptorReader) {
    var (hosts, types) = (0, 0)
    for field in fields where field.name.utf8.count == 4 || field.name.utf8.count == 12 {
      func fault(_ detail: String) { reader.fault("\(pointer)/\(field.name)", detail) }
      if field.isNamed("host") {
        hosts += 1
        if hosts == 2 { fault("must have one value") }
        if !TargetURL.isAuthority(field.value) {
          fault("must be a host with or without a port, such as \"example.com:8080\"")
        }
      } else if field.isNamed("content-type") {
        types += 1
        if types == 2 { fault("must have one value") }
      }
    }
  }

  private static func read(
    _ field: String, _ pointer: () -> String, into fields: inout [HeaderField], from reader: inout DescriptorReader
  ) throws(JSONError) {
    if reader.limits.mayHaveLatin1, try reader.json.peek() == .object {
      guard let stored = try HeaderField(field, storedIn: &reader.json) else {
        return reader.fault(pointer(), "must be a string")
      }
      if let detail = HeaderRules.fault(inValue: stored.value) { reader.fault(pointer(), detail) }
      return fields.append(stored)
    }
    guard try reader.expect(.string, pointer(), "must be a string") else { return }
    let found = try reader.json.nextString()
    let value = try usual(found, reader.json)
    if let detail = HeaderRules.fault(inValue: value) { reader.fault(pointer(), detail) }
    fields.append(HeaderField(field, value))
  }

  /// The text of a value; the most frequent one is not allocated.
  private static func usual(_ value: JSONReader.Found, _ json: JSONReader) throws(JSONError) -> String {
    if value.isPlain, value.range.count == 16, ASCIIText.starts(json.raw(value.range), with: "application/json") {
      return "application/json"
    }
    return try json.text(of: value)
  }

  /// Fields with one name form one array, at the position of the first.
  func write(_ name: StaticString, _ value: [HeaderField], hiding redaction: Redaction?, to writer: inout JSONWriter) {
    guard !value.isEmpty else { return }
    func write(_ field: HeaderField) {
      guard let redaction else { return field.writeStored(to: &writer) }
      writer.string(hidesAll || redaction.hidesHeader(field.name, hidden) ? Redaction.marker : field.value)
    }
    writer.key(name)
    writer.beginObject()
    for (position, field) in value.enumerated() where !value[..<position].contains(where: { $0.name == field.name }) {
      writer.key(field.name)
      if value[(position + 1)...].contains(where: { $0.name == field.name }) {
        writer.beginArray()
        for other in value[position...] where other.name == field.name { write(other) }
        writer.endArray()
      } else {
        write(field)
      }
    }
    writer.endObject()
  }
}

extension DescriptorReader {
  /// The origin of a URL; nil for one that cannot be called, which is a fault. A URL that the egress policy would
  /// certainly refuse later is refused now.
  mutating func checkedOrigin(of url: String, _ pointer: @autoclosure () -> String) -> String? {
    do {
      let origin = try TargetURL(url).origin
      if !limits.isAccepted, let detail = TargetURL.nameFault(inOrigin: origin) { fault(pointer(), detail) }
      if let refusal = limits.egress?.refusal(ofOrigin: origin) {
        fault(pointer(), "cannot be called: the egress policy refuses \(refusal.clause)")
      }
      return origin
    } catch {
      fault(pointer(), error.detail)
      return nil
    }
  }
}
