package import RedialCore
package import RedialJSON
internal import RedialText

extension Optional: FieldValue where Wrapped: FieldValue {
  package static var unset: Wrapped? { nil }

  package func save(to writer: inout JSONWriter) {
    if let self { self.save(to: &writer) } else { writer.null() }
  }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Wrapped? { try Wrapped.read(&reader) }
}

extension Bool: FieldValue {
  package static var unset: Bool { false }
  package func save(to writer: inout JSONWriter) { writer.bool(self) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Bool { try reader.bool() }
}

extension Int: FieldValue {
  package static var unset: Int { 0 }
  package func save(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Int { Int(try reader.integer()) }
}

extension Double: FieldValue {
  package static var unset: Double { 0 }
  package func save(to writer: inout JSONWriter) { writer.double(self) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Double { try reader.double() }
}

/// In microseconds since 1970.
extension Timestamp: FieldValue {
  package static var unset: Timestamp { .epoch }
  package func save(to writer: inout JSONWriter) { writer.integer(microseconds) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Timestamp {
    // Documents of earlier builds have it as text.
    guard try reader.peek() == .string else { return Timestamp(microseconds: try reader.integer()) }
    let start = reader.offset
    guard let time = TimestampText.parse(try reader.string()) else {
      throw JSONError(offset: start, reason: "a time was expected")
    }
    return time
  }
}

extension String: FieldValue {
  package static var unset: String { "" }
  package func save(to writer: inout JSONWriter) { writer.string(self) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> String { try reader.string() }
}

extension Array: FieldValue where Element: FieldValue {
  package static var unset: [Element] { [] }

  package func save(to writer: inout JSONWriter) {
    writer.beginArray()
    for element in self { element.save(to: &writer) }
    writer.endArray()
  }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> [Element] {
    var elements: [Element] = []
    try reader.beginArray()
    while try reader.nextElement() { elements.append(try Element.read(&reader)) }
    return elements
  }
}

extension FieldValue where Self: RawRepresentable, RawValue == String {
  package func save(to writer: inout JSONWriter) { writer.string(rawValue) }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Self {
    let start = reader.offset
    guard let value = Self(rawValue: try reader.string()) else {
      throw JSONError(offset: start, reason: "the word is not known")
    }
    return value
  }
}

/// Some of a number of words; those that only a newer version knows are left out.
extension Set: FieldValue where Element: CaseIterable & RawRepresentable, Element.RawValue == String {
  package static var unset: Set<Element> { [] }

  package func save(to writer: inout JSONWriter) {
    Element.allCases.filter(contains).map(\.rawValue).save(to: &writer)
  }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Set<Element> {
    Set(try [String].read(&reader).compactMap(Element.init))
  }
}

extension Namespace: FieldValue {
  package static var unset: Namespace { .default }
  package func save(to writer: inout JSONWriter) { writer.string(name) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Namespace {
    let start = reader.offset
    guard let namespace = Namespace(try reader.string()) else {
      throw JSONError(offset: start, reason: "a namespace \(rule)")
    }
    return namespace
  }
}

/// A value of any kind, as it was written.
package struct RawJSON: FieldValue, Sendable {
  package var bytes: [UInt8]

  package init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  package static var unset: RawJSON { RawJSON() }
  package func save(to writer: inout JSONWriter) { writer.raw(bytes) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> RawJSON {
    RawJSON(Array(reader.raw(try reader.skipValue())))
  }
}
