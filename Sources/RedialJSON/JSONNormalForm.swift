/// A JSON text in one form for all texts with the same value (RFC 8259): members in the order of their names, no white
/// space, one form of each string and number.
///
/// Numbers keep all their digits, so that two large ids stay different. Members with one name keep their order, because
/// readers differ about which of them counts.
public struct JSONNormalForm {
  private var reader: JSONReader
  private var result: [UInt8] = []

  /// The form; nil for a text that is not one whole JSON value.
  ///
  /// - Complexity: O(*n* log *n*) in the length of the text, times the depth of its nesting.
  public static func of(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    var form = JSONNormalForm(reader: JSONReader(text))
    form.result.reserveCapacity(text.count)
    do throws(JSONError) {
      try form.value()
      try form.reader.finish()
      return form.result
    } catch {
      return nil
    }
  }

  private init(reader: JSONReader) { self.reader = reader }

  private mutating func value() throws(JSONError) {
    switch try reader.peek() {
    case .object: try object()
    case .array:
      result.append(UInt8(ascii: "["))
      try reader.beginArray()
      while try reader.nextElement() {
        try value()
        result.append(UInt8(ascii: ","))
      }
      result.append(UInt8(ascii: "]"))
    case .string: try string(reader.nextString())
    case .number: number(reader.raw(try reader.skipValue()))
    case .bool, .null: result += reader.raw(try reader.skipValue())
    }
  }

  private mutating func object() throws(JSONError) {
    result.append(UInt8(ascii: "{"))
    let start = result.count
    var members: [(name: Range<Int>, whole: Range<Int>)] = []
    try reader.beginObject()
    while let name = try reader.nextName() {
      let begin = result.count - start
      try string(name)
      let end = result.count - start
      result.append(UInt8(ascii: ":"))
      try value()
      result.append(UInt8(ascii: ","))
      members.append((begin..<end, begin..<result.count - start))
    }
    let text = Array(result[start...])
    func name(_ index: Int) -> ArraySlice<UInt8> { text[members[index].name] }
    let order = members.indices.sorted { one, other in
      if name(one).lexicographicallyPrecedes(name(other)) { return true }
      // The standard library's sort does not promise to be stable.
      return one < other && name(one) == name(other)
    }
    result.removeSubrange(start...)
    for index in order { result += text[members[index].whole] }
    result.append(UInt8(ascii: "}"))
  }

  private mutating func string(_ found: JSONReader.Found) throws(JSONError) {
    guard !found.isPlain else {
      result.append(UInt8(ascii: "\""))
      result += reader.raw(found.range)
      return result.append(UInt8(ascii: "\""))
    }
    var writer = JSONWriter(capacity: found.range.count + 2)
    writer.string(try reader.text(of: found))
    result += writer.bytes
  }

  /// Its sign, its digits without zeros at either end, and the power of ten of the last one.
  private mutating func number(_ text: UnsafeBufferPointer<UInt8>) {
    let parts = text.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
    let mantissa = parts[0].drop { $0 == UInt8(ascii: "-") }
    let point = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex
    var digits = mantissa.filter { $0 != UInt8(ascii: ".") }
    let fraction = digits.count - mantissa[..<point].count
    let exponent = parts.count == 1 ? 0 : Int(String(decoding: parts[1], as: UTF8.self))
    // Such a number is beyond any use, and equal only to itself.
    guard let exponent, abs(exponent) < 1 << 60 else { return result += text }
    let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
    digits.removeLast(zeros)
    digits.removeFirst(digits.prefix { $0 == UInt8(ascii: "0") }.count)
    guard !digits.isEmpty else { return result.append(UInt8(ascii: "0")) }
    if text.first == UInt8(ascii: "-") { result.append(UInt8(ascii: "-")) }
    result += digits
    result += "e\(exponent - fraction + zeros)".utf8
  }
}
