import RedialModel
import RedialJSON

/// Any JSON value, for reading the service's answers.
indirect enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(parsing bytes: [UInt8]) throws(JSONError) {
    self = try bytes.withUnsafeBufferPointer { buffer throws(JSONError) in
      var reader = JSONReader(buffer)
      let value = try JSONValue(&reader)
      try reader.finish()
      return value
    }
  }

  private init(_ reader: inout JSONReader) throws(JSONError) {
    switch try reader.peek() {
    case .null:
      _ = try reader.null()
      self = .null
    case .bool: self = .bool(try reader.bool())
    case .number: self = .number(try reader.double())
    case .string: self = .string(try reader.string())
    case .array:
      var elements: [JSONValue] = []
      try reader.beginArray()
      while try reader.nextElement() { elements.append(try JSONValue(&reader)) }
      self = .array(elements)
    case .object:
      var members: [String: JSONValue] = [:]
      try reader.beginObject()
      while let key = try reader.nextKey() { members[key] = try JSONValue(&reader) }
      self = .object(members)
    }
  }

  subscript(_ key: String) -> JSONValue {
    if case .object(let members) = self { members[key] ?? .null } else { .null }
  }

  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  var integer: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  var number: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  var isTrue: Bool {
    if case .bool(let value) = self { value } else { false }
  }

  /// The members of an object, by name.
  var members: [(name: String, value: JSONValue)] {
    if case .object(let members) = self { members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } } else { [] }
  }

  var elements: [JSONValue] {
    if case .array(let elements) = self { elements } else { [] }
  }
}

extension JSONValue {
  /// The value as JSON, one line per member, names in alphabetical order.
  func indented(by depth: Int = 0) -> String {
    let (outer, inner) = (String(repeating: "  ", count: depth), String(repeating: "  ", count: depth + 1))
    switch self {
    case .null: return "null"
    case .bool(let value): return value ? "true" : "false"
    case .number(let value):
      return value == value.rounded() && abs(value) < 1e15 ? "\(Int(value))" : "\(value)"
    case .string(let text): return Self.quoted(text)
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      return "[" + elements.map { $0.indented(by: depth + 1) }.joined(separator: ", ") + "]"
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.sorted { $0.key < $1.key }.map { name, value in
        inner + Self.quoted(name) + ": " + value.indented(by: depth + 1)
      }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + outer + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
