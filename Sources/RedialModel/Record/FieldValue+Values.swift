package import RedialCore
package import RedialJSON

extension Optional: FieldValue where Wrapped: FieldValue {
  package static var unset: Wrapped? { nil }

  package func write(to writer: inout JSONWriter) {
    if let self { self.write(to: &writer) } else { writer.null() }
  }

  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Wrapped? { try Wrapped.read(&reader) }
}

extension Bool: FieldValue {
  package static var unset: Bool { false }
  package func write(to writer: inout JSONWriter) { writer.bool(self) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Bool { try reader.bool() }
}

extension Int: FieldValue {
  package static var unset: Int { 0 }
  package func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Int { Int(try reader.integer()) }
}

extension Double: FieldValue {
  package static var unset: Double { 0 }
  package func write(to writer: inout JSONWriter) { writer.double(self) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Double { try reader.double() }
}

/// In microseconds since 1970.
extension Timestamp: FieldValue {
  package static var unset: Timestamp { .epoch }
  package func write(to writer: inout JSONWriter) { writer.integer(microseconds) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> Timestamp {
    Timestamp(microseconds: try reader.integer())
  }
}

extension String: FieldValue {
  package static var unset: String { "" }
  package func write(to writer: inout JSONWriter) { writer.string(self) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> String { try reader.string() }
}

/// A value of any kind, as it was written.
package struct RawJSON: FieldValue, Sendable {
  package var bytes: [UInt8]

  package init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  package static var unset: RawJSON { RawJSON() }
  package func write(to writer: inout JSONWriter) { writer.raw(bytes) }
  package static func read(_ reader: inout JSONReader) throws(JSONError) -> RawJSON {
    RawJSON(Array(reader.raw(try reader.skipValue())))
  }
}
