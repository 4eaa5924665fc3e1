public import RedialCore
public import RedialJSON
internal import RedialText

extension Optional: FieldValue where Wrapped: FieldValue {
  public static var unset: Wrapped? { nil }

  public func save(to writer: inout JSONWriter) {
    if let self { self.save(to: &writer) } else { writer.null() }
  }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Wrapped? { try Wrapped.read(&reader) }
}

extension Bool: FieldValue {
  public static var unset: Bool { false }
  public func save(to writer: inout JSONWriter) { writer.bool(self) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Bool { try reader.bool() }
}

extension Int: FieldValue {
  public static var unset: Int { 0 }
  public func save(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Int { Int(try reader.integer()) }
}

extension Double: FieldValue {
  public static var unset: Double { 0 }
  public func save(to writer: inout JSONWriter) { writer.double(self) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Double { try reader.double() }
}

/// In microseconds since 1970.
extension Timestamp: FieldValue {
  public static var unset: Timestamp { .epoch }
  public func save(to writer: inout JSONWriter) { writer.integer(microseconds) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Timestamp {
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
  public static var unset: String { "" }
  public func save(to writer: inout JSONWriter) { writer.string(self) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> String { try reader.string() }
}

extension Array: FieldValue where Element: FieldValue {
  public static var unset: [Element] { [] }

  public func save(to writer: inout JSONWriter) {
    writer.beginArray()
    for element in self { element.save(to: &writer) }
    writer.endArray()
  }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> [Element] {
    var elements: [Element] = []
    try reader.beginArray()
    while try reader.nextElement() { elements.append(try Element.read(&reader)) }
    return elements
  }
}

extension FieldValue where Self: RawRepresentable, RawValue == String {
  public func save(to writer: inout JSONWriter) { writer.string(rawValue) }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Self {
    let start = reader.offset
    guard let value = Self(rawValue: try reader.string()) else {
      throw JSONError(offset: start, reason: "the word is not known")
    }
    return value
  }
}

/// Some of a number of words; those that only a newer version knows are left out.
extension Set: FieldValue where Element: CaseIterable & RawRepresentable, Element.RawValue == String {
  public static var unset: Set<Element> { [] }

  public func save(to writer: inout JSONWriter) {
    Element.allCases.filter(contains).map(\.rawValue).save(to: &writer)
  }

  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Set<Element> {
    Set(try [String].read(&reader).compactMap(Element.init))
  }
}

extension Namespace: FieldValue {
  public static var unset: Namespace { .default }
  public func save(to writer: inout JSONWriter) { writer.string(name) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> Namespace {
    let start = reader.offset
    guard let namespace = Namespace(try reader.string()) else {
      throw JSONError(offset: start, reason: "a namespace \(rule)")
    }
    return namespace
  }
}

/// A value of any kind, as it was written.
public struct RawJSON: FieldValue, Sendable {
  public var bytes: [UInt8]

  public init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  public static var unset: RawJSON { RawJSON() }
  public func save(to writer: inout JSONWriter) { writer.raw(bytes) }
  public static func read(_ reader: inout JSONReader) throws(JSONError) -> RawJSON {
    RawJSON(Array(reader.raw(try reader.skipValue())))
  }
}
