import Foundation
import RedialCore
import Testing

@testable import RedialModel
import RedialJSON

/// A JSON value from our reader and from Foundation's, to compare the two.
enum Value: Equatable {
  case object([String: Value]), array([Value]), string(String), number(Double), bool(Bool), null

  /// Reads a whole text with our reader.
  static func read(_ bytes: [UInt8]) throws(JSONError) -> Value {
    let result: Result<Value, JSONError> = bytes.withUnsafeBufferPointer { buffer in
      var reader = JSONReader(buffer)
      do throws(JSONError) {
        let value = try read(&reader)
        try reader.finish()
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func read(_ reader: inout JSONReader) throws(JSONError) -> Value {
    switch try reader.peek() {
    case .string: return .string(try reader.string())
    case .number: return .number(try reader.double())
    case .bool: return .bool(try reader.bool())
    case .null:
      _ = try reader.null()
      return .null
    case .array:
      var values: [Value] = []
      try reader.beginArray()
      while try reader.nextElement() { values.append(try read(&reader)) }
      return .array(values)
    case .object:
      var members: [String: Value] = [:]
      try reader.beginObject()
      while let key = try reader.nextKey() { members[key] = try read(&reader) }
      return .object(members)
    }
  }

  /// Reads a whole text with Foundation.
  static func foundation(_ bytes: [UInt8]) -> Value? {
    guard let object = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) else {
      return nil
    }
    return Value(object)
  }

  private init(_ object: Any) {
    switch object {
    case let members as [String: Any]: self = .object(members.mapValues(Value.init))
    case let values as [Any]: self = .array(values.map(Value.init))
    case let text as String: self = .string(text)
    case let number as NSNumber:
      self = CFGetTypeIDIsBoolean(number) ? .bool(number.boolValue) : .number(number.doubleValue)
    default: self = .null
    }
  }

  /// A value drawn at random.
  static func random(_ random: inout RandomSource, depth: Int = 0) -> Value {
    switch random.next() % (depth > 4 ? 4 : 6) {
    case 0: .string(text(&random))
    case 1: .number(Double(Int32(truncatingIfNeeded: random.next()) >> Int32(random.next() % 31)) / 8)
    case 2: .bool(random.next() % 2 == 0)
    case 3: .null
    case 4: .array((0..<(random.next() % 4)).map { _ in Value.random(&random, depth: depth + 1) })
    default:
      .object(
        Dictionary((0..<(random.next() % 4)).map { _ in (text(&random), Value.random(&random, depth: depth + 1)) }) {
          first, _ in first
        })
    }
  }

  static func text(_ random: inout RandomSource) -> String {
    let scalars: [Unicode.Scalar] = ["a", "\"", "\\", "\n", "\0", "\u{1f}", "é", "€", "😀", "/", " ", "\u{2028}"]
    return String(
      String.UnicodeScalarView(
        (0..<(random.next() % 9)).map { _ in scalars[Int(random.next() % UInt64(scalars.count))] }))
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .string(let text): writer.string(text)
    case .number(let number): writer.double(number)
    case .bool(let bool): writer.bool(bool)
    case .null: writer.null()
    case .array(let values):
      writer.beginArray()
      for value in values { value.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for (key, value) in members {
        writer.key(key)
        value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

/// Foundation's booleans are numbers of one byte's type.
private func CFGetTypeIDIsBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

@Suite("JSON")
struct JSONTests {
  @Test(
    "JSON is read as by Foundation",
    arguments: [
      "{}", "[]", "null", "true", "false", "0", "-0", "1.5e3", "-12.75E-2", "1e308", "\"\"", "\"a\\u00e9\\n\"",
      "\"\\ud83d\\ude00\"", "\"\\/\\b\\f\\t\\r\\\"\\\\\"", " [ 1 , [ 2 ] , { \"a\" : [ ] } ] ",
      "{\"a\":{\"b\":[null,true]}}",
      "\"é€😀\"", "[[[[[[[[[[1]]]]]]]]]]",
    ])
  func valid(text: String) throws {
    let bytes = Array(text.utf8)
    #expect(try Value.read(bytes) == Value.foundation(bytes))
  }

  @Test(
    "text that is not JSON is an error with its position",
    arguments: [
      ("", 0), ("{", 1), ("[1", 2), ("[1,]", 3), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1),
      ("01", 2), ("-", 1), ("1.", 2), ("1e", 2), (".5", 0), ("+1", 0), ("nul", 0), ("truth", 0), ("'a'", 0), ("\"a", 2),
      ("\"\t\"", 1), ("1 2", 2), ("[1 2]", 3), ("NaN", 0), ("1e999", 0), ("// c\n1", 0),
    ])
  func invalid(text: String, offset: Int) {
    let error = #expect(throws: JSONError.self) { try Value.read(Array(text.utf8)) }
    #expect(error?.offset == offset, "\(text): \(error?.reason ?? "")")
  }

  @Test("a string with one character that needs an escape, at any place, is read back as it was written")
  func escapedAnywhere() throws {
    for special in ["\"", "\\", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "\u{1F600}"] {
      for length in 0...40 {
        for place in 0...length {
          let text =
            String(repeating: "a", count: place) + special + String(repeating: "z", count: length - place)
          var writer = JSONWriter()
          writer.string(text)
          #expect(try Value.read(writer.bytes) == .string(text))
          #expect(Value.foundation(writer.bytes) == .string(text))
        }
      }
    }
  }

  @Test(
    "invalid escapes and encodings are errors",
    arguments: [
      #""\x""#, #""\u12""#, #""\uzzzz""#, #""\ud83d""#, #""\ud83dx""#, #""\ud83dA""#, #""\ude00""#,
    ])
  func escapes(text: String) {
    #expect(throws: JSONError.self) { try Value.read(Array(text.utf8)) }
  }

  @Test("bytes that are not UTF-8 are errors, in strings and in names")
  func encoding() {
    for bad in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]] {
      let string = [0x22] + bad + [0x22]
      #expect(throws: JSONError.self) { try Value.read(string) }
      #expect(throws: JSONError.self) { try Value.read([0x7B] + string + Array(":1}".utf8)) }
      #expect(throws: JSONError.self) { try Value.read(Array("\"\\n".utf8) + bad + [0x22]) }
    }
  }

  @Test("nesting is limited, in values that are read and in skipped ones")
  func depth() throws {
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(throws: Never.self) { try Value.read(nested(JSONReader.maximumDepth)) }
    #expect(throws: JSONError.self) { try Value.read(nested(JSONReader.maximumDepth + 1)) }
    nested(100_000).withUnsafeBufferPointer { buffer in
      var reader = JSONReader(buffer)
      #expect(throws: JSONError.self) { try reader.skipValue() }
    }
  }

  @Test("whole numbers are read exactly, and others refused")
  func integers() throws {
    func integer(_ text: String) throws -> Int64 {
      try Array(text.utf8).withUnsafeBufferPointer { buffer in
        var reader = JSONReader(buffer)
        return try reader.integer()
      }
    }
    #expect(try integer("9223372036854775807") == .max)
    #expect(try integer("-9223372036854775808") == .min)
    #expect(try integer("478.0") == 478)
    #expect(try integer("-1e2") == -100)
    #expect(try integer("1.5e1") == 15)
    for text in ["9223372036854775808", "1.5", "1e-2", "9007199254740994.0", "1e400", "\"1\"", "true"] {
      #expect(throws: JSONError.self) { try integer(text) }
    }
  }

  @Test("written JSON is read back the same, by our reader and by Foundation")
  func roundTrip() throws {
    for seed in UInt64(0)..<500 {
      var random = RandomSource(seed: seed)
      let value = Value.random(&random)
      var writer = JSONWriter()
      value.write(to: &writer)
      #expect(try Value.read(writer.bytes) == value, "seed \(seed)")
      #expect(Value.foundation(writer.bytes) == value, "seed \(seed)")
    }
  }

  @Test("texts with random damage never crash the reader, which accepts only what Foundation accepts")
  func fuzz() {
    var accepted = 0
    for seed in UInt64(0)..<3000 {
      var random = RandomSource(seed: seed)
      var writer = JSONWriter()
      Value.random(&random).write(to: &writer)
      var bytes = writer.bytes
      for _ in 0...(random.next() % 3) where !bytes.isEmpty {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        default: bytes.insert(Array("{}[]\",:\\0e-".utf8)[Int(random.next() % 11)], at: place)
        }
      }
      // Not compared by value: Foundation does not round long numbers to the nearest.
      if (try? Value.read(bytes)) != nil {
        accepted += 1
        #expect(Value.foundation(bytes) != nil, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
      }
    }
    #expect(accepted > 100)
  }

  @Test("a special byte ends plain text at every position, with any alignment")
  func specialBytes() {
    for length in 0...40 {
      for place in 0...length {
        for special in ["\\\"", "\\\\", "\u{1}", "é", "\"", "\u{1F}", "\u{7F}", "~", "#", "!"] {
          var text = String(repeating: "a", count: length)
          text.insert(contentsOf: special, at: text.index(text.startIndex, offsetBy: place))
          // With nothing after it and with enough, so that the end of the text is within the current word or not.
          for space in ["", String(repeating: " ", count: 20)] {
            let bytes = Array("[\"\(text)\"]\(space)".utf8)
            #expect((try? Value.read(bytes)) == Value.foundation(bytes), "\(text)")
          }
        }
      }
    }
  }

  @Test("a string's bytes are those of its text", arguments: ["", "plain", "caf\u{e9}", #"a\u00e9\n\ud83d\ude00"#])
  func stringBytes(text: String) throws {
    let bytes = Array("\"\(text)\"".utf8)
    let (one, other) = bytes.withUnsafeBufferPointer { buffer in
      var one = JSONReader(buffer)
      var other = JSONReader(buffer)
      return (try? one.utf8String(), try? other.string())
    }
    #expect(one != nil && one == other.map { Array($0.utf8) })
  }

  @Test("skipped values are checked as strictly as read ones")
  func passedOver() {
    for text in [
      #"{"a":"\q"}"#, #"{"a\q":1}"#, #"{"a" 1}"#, #"{a:1}"#, "{\"a\":\"\u{2}\"}", #"{"a":"\ud800"}"#, "{\"a\":1,}",
    ] {
      #expect(!Self.canBeSkipped(Array(text.utf8)), "\(text)")
    }
    #expect(!Self.canBeSkipped(Array("[\"".utf8) + [0xC3, 0x28] + Array("\"]".utf8)))
    #expect(Self.canBeSkipped(Array(#"{"é\n":["x\u00e9",1.5e3,true,null,{}]}"#.utf8)))
  }

  private static func canBeSkipped(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { buffer in
      var reader = JSONReader(buffer)
      do {
        _ = try reader.skipValue()
        try reader.finish()
        return true
      } catch {
        return false
      }
    }
  }

  @Test("numbers are written in full", arguments: [0, 1, -1, 9, 10, 99, 100, Int64.max, Int64.min, -1_000_000])
  func decimals(value: Int64) {
    var writer = JSONWriter(capacity: 1)
    writer.beginArray()
    for _ in 0..<20 { writer.integer(value) }
    writer.endArray()
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == "[\(Array(repeating: "\(value)", count: 20).joined(separator: ","))]")
  }
}
