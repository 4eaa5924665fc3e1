/// A text whose escapes were undone a number of times, and where each byte of it comes from.
struct UnescapedText {
  let bytes: [UInt8]
  /// Where each byte begins in the original, and behind the last one its end; nil for the original.
  private let places: [Int]?

  init(_ bytes: [UInt8]) { (self.bytes, places) = (bytes, nil) }

  private init(_ bytes: [UInt8], _ places: [Int]) { (self.bytes, self.places) = (bytes, places) }

  func source(_ range: Range<Int>) -> Range<Int> {
    guard let places else { return range }
    // Several bytes may come from one escape.
    var end = range.upperBound
    while end < bytes.count, places[end] == places[end - 1] { end += 1 }
    return places[range.lowerBound]..<places[end]
  }

  /// The next level; nil if it would be the same.
  var withoutEscapes: UnescapedText? {
    var (plain, starts) = ([] as [UInt8], [] as [Int])
    var (place, isSame) = (0, true)
    while place < bytes.count {
      let start = places?[place] ?? place
      if let escape = Escape(in: bytes, at: place) {
        isSame = false
        plain += escape.bytes
        starts += repeatElement(start, count: escape.bytes.count)
        place = escape.end
      } else {
        plain.append(bytes[place])
        starts.append(start)
        place += 1
      }
    }
    return isSame ? nil : UnescapedText(plain, starts + [places?.last ?? bytes.count])
  }
}

/// What an escape in a text means.
private struct Escape {
  let bytes: [UInt8]
  /// Where it ends.
  let end: Int

  init?(in text: [UInt8], at place: Int) {
    switch text[place] {
    case UInt8(ascii: "+"): self.init(bytes: [0x20], end: place + 1)
    case UInt8(ascii: "%"):
      guard let byte = Self.number(in: text, place + 1..<place + 3) else { return nil }
      self.init(bytes: [UInt8(byte)], end: place + 3)
    case UInt8(ascii: "\\") where place + 1 < text.count: self.init(behindBackslash: text, at: place + 1)
    case UInt8(ascii: "&"): self.init(entity: text, at: place + 1)
    default: return nil
    }
  }

  private init(bytes: [UInt8], end: Int) { (self.bytes, self.end) = (bytes, end) }

  private init?(behindBackslash text: [UInt8], at place: Int) {
    switch text[place] {
    case UInt8(ascii: "u"):
      guard let unit = Self.number(in: text, place + 1..<place + 5) else { return nil }
      let isPair = (0xD800...0xDBFF).contains(unit) && text[(place + 5)...].starts(with: Array("\\u".utf8))
      if isPair, let low = Self.number(in: text, place + 7..<place + 11), (0xDC00...0xDFFF).contains(low) {
        self.init(scalar: 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00), end: place + 11)
      } else {
        self.init(scalar: unit, end: place + 5)
      }
    case UInt8(ascii: "x"):
      guard let byte = Self.number(in: text, place + 1..<place + 3) else { return nil }
      self.init(bytes: [UInt8(byte)], end: place + 3)
    case UInt8(ascii: "n"): self.init(bytes: [0x0A], end: place + 1)
    case UInt8(ascii: "r"): self.init(bytes: [0x0D], end: place + 1)
    case UInt8(ascii: "t"): self.init(bytes: [0x09], end: place + 1)
    default: self.init(bytes: [text[place]], end: place + 1)
    }
  }

  private init?(entity text: [UInt8], at place: Int) {
    guard place < text.count, let end = text[place...].prefix(10).firstIndex(of: UInt8(ascii: ";")) else {
      return nil
    }
    let name = String(decoding: text[place..<end], as: UTF8.self)
    let known: [String: UInt32] = ["amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "apos": 0x27, "nbsp": 0x20]
    let number =
      name.hasPrefix("#x") || name.hasPrefix("#X")
      ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : known[name]
    guard let number else { return nil }
    self.init(scalar: number, end: end + 1)
  }

  private init?(scalar: UInt32, end: Int) {
    guard let scalar = Unicode.Scalar(scalar) else { return nil }
    self.init(bytes: Array(String(Character(scalar)).utf8), end: end)
  }

  /// The hexadecimal number in a range.
  private static func number(in text: [UInt8], _ range: Range<Int>) -> UInt32? {
    // A sign is no digit.
    guard range.upperBound <= text.count, text[range.lowerBound] > UInt8(ascii: "-") else { return nil }
    return UInt32(String(decoding: text[range], as: UTF8.self), radix: 16)
  }
}
