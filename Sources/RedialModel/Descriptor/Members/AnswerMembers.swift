internal import RedialJSON

// What becomes of answers.

/// Where to send the webhook about a call's end.
struct CallbackMember: MemberForm {
  enum Member: String, CaseIterable { case url, events }

  func read(_ name: StaticString, into value: inout Callback?, from reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/\(name)", "must be an object with a url") else { return }
    var address: String?
    var events = EventType.ofCallbacks
    try reader.json.beginObject()
    var members = Members(of: Member.self)
    while let member = try reader.nextMember(&members, as: Member.self, of: "a callback", at: "/\(name)") {
      switch member {
      case .url: address = try reader.string("/\(name)/url")
      case .events: events = try Self.readEvents("/\(name)/events", from: &reader)
      }
    }
    guard let address else { return reader.fault("/\(name)/url", "is required") }
    _ = reader.checkedOrigin(of: address, "/\(name)/url")
    value = Callback(url: address, events: events)
  }

  private static func readEvents(
    _ pointer: String, from reader: inout DescriptorReader
  ) throws(JSONError) -> [EventType] {
    var events: [EventType] = []
    guard try reader.expect(.array, pointer, "must be an array of event names") else { return events }
    try reader.json.beginArray()
    var position = 0
    while try reader.json.nextElement() {
      defer { position += 1 }
      guard let name = try reader.string("\(pointer)/\(position)") else { continue }
      guard let event = EventType(rawValue: name), EventType.ofCallbacks.contains(event) else {
        reader.fault(
          "\(pointer)/\(position)", "must be one of \(EventType.ofCallbacks.map(\.rawValue).joined(separator: ", "))")
        continue
      }
      if !events.contains(event) { events.append(event) }
    }
    if position == 0 { reader.fault(pointer, "names no event") }
    return events
  }

  func write(_ name: StaticString, _ value: Callback?, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    guard let value else { return }
    writer.key(name)
    writer.beginObject()
    writer.field("url", redaction?.url(value.url) ?? value.url)
    writer.key("events")
    writer.beginArray()
    for event in value.events { writer.string(event.rawValue) }
    writer.endArray()
    writer.endObject()
  }
}

/// How much of responses is kept.
struct CaptureMember: MemberForm {
  enum Member: String, CaseIterable { case maxBytes, redactHeaders }

  /// The longest name of a header field, in bytes.
  static let longestName = 255

  func read(_ name: StaticString, into value: inout Capture, from reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/\(name)", "must be an object") else { return }
    try reader.json.beginObject()
    var members = Members(of: Member.self)
    while let member = try reader.nextMember(&members, as: Member.self, of: "capture", at: "/\(name)") {
      switch member {
      case .maxBytes:
        value.maxBytes =
          try reader.integer("/\(name)/maxBytes", in: 0...reader.limits.captureBytes) ?? value.maxBytes
      case .redactHeaders: try Self.readNames("/\(name)/redactHeaders", into: &value.redactedHeaders, from: &reader)
      }
    }
  }

  private static func readNames(
    _ pointer: String, into names: inout [String], from reader: inout DescriptorReader
  ) throws(JSONError) {
    guard try reader.expect(.array, pointer, "must be an array of header field names") else { return }
    try reader.json.beginArray()
    var position = 0
    while position < HeaderRules.maximumCount, try reader.json.nextElement() {
      let place = "\(pointer)/\(position)"
      position += 1
      guard let name = try reader.string(place)?.lowercased() else { continue }
      if !HeaderRules.isToken(name) || name.utf8.count > longestName {
        reader.fault(place, "is not a header field name of at most \(longestName) bytes")
      } else if !names.contains(name) {
        names.append(name)
      }
    }
    if position == HeaderRules.maximumCount, try reader.skipElements() > 0 {
      reader.fault(pointer, "has more than \(HeaderRules.maximumCount) names")
    }
  }

  func write(_ name: StaticString, _ value: Capture, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    writer.key(name)
    writer.beginObject()
    writer.field("maxBytes", value.maxBytes)
    if !value.redactedHeaders.isEmpty {
      writer.key("redactHeaders")
      writer.beginArray()
      for name in value.redactedHeaders { writer.string(name) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// How many redirects an attempt follows.
struct RedirectsMember: MemberForm {
  static let names = ["max"]

  func read(_ name: StaticString, into value: inout Int, from reader: inout DescriptorReader) throws(JSONError) {
    guard try reader.expect(.object, "/\(name)", "must be an object such as {\"max\": 5}") else { return }
    try reader.json.beginObject()
    var members = Members(Self.names)
    while try reader.nextMember(&members, of: "redirects", at: "/\(name)") != nil {
      value = try reader.integer("/\(name)/max", in: CallSpec.redirectBounds) ?? value
    }
  }

  func write(_ name: StaticString, _ value: Int, hiding redaction: Redaction?, to writer: inout JSONWriter) {
    guard value > 0 else { return }
    writer.key(name)
    writer.beginObject()
    writer.field("max", value)
    writer.endObject()
  }
}
