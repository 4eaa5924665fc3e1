internal import RedialJSON

/// What an answer says about its error, in a line.
enum AnsweredError {
  /// How much of a body is read, in bytes.
  private static let mostRead = 16 * 1024
  /// The names under which answers in JSON say it, the most telling first: those of RFC 9457, RFC 6749 §5.2 and what many
  /// services do.
  private static let names = ["message", "detail", "error_description", "error", "errors", "title", "code", "reason"]

  /// The line; nil if the body has none, such as a page for people.
  static func line(of body: [UInt8]) -> String? {
    let start = body.prefix(mostRead)
    guard let first = start.first(where: { !isBlank($0) }) else { return nil }
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
      return start.withUnsafeBufferPointer { bytes in
        var reader = JSONReader(bytes)
        var found = Found()
        // What was found before a fault, or before the end of what was captured, counts.
        do throws(JSONError) { try read(&reader, into: &found, depth: 0) } catch {}
        return found.text
      }
    case UInt8(ascii: "<"): return nil
    default:
      let line = start.drop(while: isBlank).prefix { $0 != 0x0a && $0 != 0x0d }
      // Not text.
      if line.contains(where: { $0 < 0x20 && $0 != 0x09 }) { return nil }
      return String(validating: line, as: UTF8.self)
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { [0x09, 0x0a, 0x0d, 0x20].contains(byte) }

  /// The best text so far.
  private struct Found {
    var rank = Int.max
    var text: String?
  }

  private static func read(_ reader: inout JSONReader, into found: inout Found, depth: Int) throws(JSONError) {
    switch try reader.peek() {
    case .string:
      let text = try reader.string()
      if found.rank > names.count, !text.utf8.allSatisfy(isBlank) { found = Found(rank: names.count, text: text) }
    case .object where depth < 4:
      try reader.beginObject()
      while let name = try reader.nextKey() {
        guard let rank = names.firstIndex(of: name.lowercased()), rank < found.rank else {
          _ = try reader.skipValue()
          continue
        }
        switch try reader.peek() {
        case .string:
          let text = try reader.string()
          if !text.utf8.allSatisfy(isBlank) { found = Found(rank: rank, text: text) }
        case .object, .array:
          var inner = Found()
          let result = Result { () throws(JSONError) in try read(&reader, into: &inner, depth: depth + 1) }
          if let text = inner.text { found = Found(rank: rank, text: text) }
          try result.get()
        case .number, .bool, .null: _ = try reader.skipValue()
        }
      }
    case .array where depth < 4:
      try reader.beginArray()
      while try reader.nextElement() {
        if found.text == nil { try read(&reader, into: &found, depth: depth + 1) } else { _ = try reader.skipValue() }
      }
    default: _ = try reader.skipValue()
    }
  }
}
