/// A text whose escapes were undone a number of times, and where each byte of it comes from.
struct UnescapedText {
  let bytes: [UInt8]
  /// Where each byte begins in the original, and behind the last one its end; nil for the original.
  private let places: [UInt32]?

  init(_ bytes: [UInt8]) { (self.bytes, places) = (bytes, nil) }

  private init(_ bytes: [UInt8], _ places: [UInt32]) { (self.bytes, self.places) = (bytes, places) }

  func source(_ range: Range<Int>) -> Range<Int> {
    guard let places else { return range }
    // Several bytes may come from one escape.
    var end = range.upperBound
    while end < bytes.count, places[end] == places[end - 1] { end += 1 }
    return Int(places[range.lowerBound])..<Int(places[end])
  }

  /// The next level; nil if it would be the same.
  var withoutEscapes: UnescapedText? {
    guard bytes.contains(where: Escape.begins) else { return nil }
    var isSame = true
    let next = changed { bytes, place, plain in
      guard Escape.begins(bytes[place]), let escape = Escape(in: bytes, at: place) else { return nil }
      isSame = false
      escape.append(to: &plain)
      return escape.end
    }
    return isSame ? nil : next
  }

  /// The same without the ends of its lines, and blanks behind them; nil if it has one line.
  var joined: UnescapedText? {
    guard bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return nil }
    return changed { bytes, place, _ in
      guard bytes[place] == 0x0A || bytes[place] == 0x0D else { return nil }
      var end = place + 1
      while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 { end += 1 }
      return end
    }
  }

  /// - Parameter change: Puts something in place of the bytes at a place, and returns their end; nil if they stay.
  private func changed(
    _ change: (UnsafeBufferPointer<UInt8>, _ place: Int, _ plain: inout [UInt8]) -> Int?
  ) -> UnescapedText {
    var (plain, starts) = ([] as [UInt8], [] as [UInt32])
    plain.reserveCapacity(bytes.count)
    starts.reserveCapacity(bytes.count + 1)
    bytes.withUnsafeBufferPointer { bytes in
      var place = 0
      while place < bytes.count {
        let start = places?[place] ?? UInt32(truncatingIfNeeded: place)
        if let end = change(bytes, place, &plain) {
          while starts.count < plain.count { starts.append(start) }
          place = end
        } else {
          plain.append(bytes[place])
          starts.append(start)
          place += 1
        }
      }
    }
    starts.append(places?.last ?? UInt32(truncatingIfNeeded: bytes.count))
    return UnescapedText(plain, starts)
  }
}

/// What an escape in a text means.
private struct Escape {
  /// A byte, or a scalar of Unicode in UTF-8.
  private let value: UInt32
  private let isByte: Bool
  /// Where it ends.
  let end: Int

  /// Whether a byte may begin one.
  static func begins(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "%") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "\\")
  }

  init?(in text: UnsafeBufferPointer<UInt8>, at place: Int) {
    switch text[place] {
    case UInt8(ascii: "+"): self.init(byte: 0x20, end: place + 1)
    case UInt8(ascii: "%"):
      guard let byte = Self.number(in: text, place + 1..<place + 3, base: 16) else { return nil }
      self.init(byte: byte, end: place + 3)
    case UInt8(ascii: "\\") where place + 1 < text.count: self.init(behindBackslash: text, at: place + 1)
    case UInt8(ascii: "&"): self.init(entity: text, at: place + 1)
    default: return nil
    }
  }

  func append(to plain: inout [UInt8]) {
    if isByte || value < 0x80 { return plain.append(UInt8(truncatingIfNeeded: value)) }
    func rest(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift & 0x3F | 0x80) }
    if value < 0x800 {
      plain.append(UInt8(truncatingIfNeeded: value >> 6 | 0xC0))
    } else if value < 0x1_0000 {
      plain.append(UInt8(truncatingIfNeeded: value >> 12 | 0xE0))
      plain.append(rest(6))
    } else {
      plain.append(UInt8(truncatingIfNeeded: value >> 18 | 0xF0))
      plain.append(rest(12))
      plain.append(rest(6))
    }
    plain.append(rest(0))
  }

  private init(byte: UInt32, end: Int) { (value, isByte, self.end) = (byte, true, end) }

  private init?(behindBackslash text: UnsafeBufferPointer<UInt8>, at place: Int) {
    switch text[place] {
    case UInt8(ascii: "u"):
      guard let unit = Self.number(in: text, place + 1..<place + 5, base: 16) else { return nil }
      let isPair =
        (0xD800...0xDBFF).contains(unit) && place + 6 < text.count && text[place + 5] == UInt8(ascii: "\\")
        && text[place + 6] == UInt8(ascii: "u")
      if isPair, let low = Self.number(in: text, place + 7..<place + 11, base: 16), (0xDC00...0xDFFF).contains(low) {
        self.init(scalar: 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00), end: place + 11)
      } else {
        self.init(scalar: unit, end: place + 5)
      }
    case UInt8(ascii: "x"):
      guard let byte = Self.number(in: text, place + 1..<place + 3, base: 16) else { return nil }
      self.init(byte: byte, end: place + 3)
    case UInt8(ascii: "n"): self.init(byte: 0x0A, end: place + 1)
    case UInt8(ascii: "r"): self.init(byte: 0x0D, end: place + 1)
    case UInt8(ascii: "t"): self.init(byte: 0x09, end: place + 1)
    default: self.init(byte: UInt32(text[place]), end: place + 1)
    }
  }

  private static let entities: [(name: StaticString, value: UInt32)] = [
    ("amp", 0x26), ("lt", 0x3C), ("gt", 0x3E), ("quot", 0x22), ("apos", 0x27), ("nbsp", 0x20),
  ]

  private init?(entity text: UnsafeBufferPointer<UInt8>, at place: Int) {
    guard let end = text[place..<min(place + 10, text.count)].firstIndex(of: UInt8(ascii: ";")), end > place else {
      return nil
    }
    var value: UInt32?
    if text[place] == UInt8(ascii: "#") {
      let isHex = place + 1 < end && text[place + 1] | 0x20 == UInt8(ascii: "x")
      value = Self.number(in: text, place + (isHex ? 2 : 1)..<end, base: isHex ? 16 : 10)
    } else {
      let name = text[place..<end]
      value =
        Self.entities.first { entity in
          name.elementsEqual(UnsafeBufferPointer(start: entity.name.utf8Start, count: entity.name.utf8CodeUnitCount))
        }?.value
    }
    guard let value else { return nil }
    self.init(scalar: value, end: end + 1)
  }

  private init?(scalar: UInt32, end: Int) {
    guard Unicode.Scalar(scalar) != nil else { return nil }
    (value, isByte, self.end) = (scalar, false, end)
  }

  /// The number in a range, of up to eight digits.
  private static func number(in text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, base: UInt32) -> UInt32? {
    guard !range.isEmpty, range.upperBound <= text.count else { return nil }
    var value: UInt32 = 0
    for place in range {
      let byte = text[place]
      let digit: UInt32 =
        switch byte {
        case 0x30...0x39: UInt32(byte - 0x30)
        case 0x41...0x46, 0x61...0x66: UInt32(byte | 0x20) - 0x57
        default: base
        }
      guard digit < base else { return nil }
      value = value * base + digit
    }
    return value
  }
}
