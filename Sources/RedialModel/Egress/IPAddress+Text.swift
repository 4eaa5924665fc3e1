/// The text forms of addresses.
extension IPAddress {
  /// Reads the host of a URL: an IPv6 address in brackets, or IPv4 in any form that the system's resolver takes.
  ///
  /// - Returns: Nil if it is a name, or not an address.
  public init?(host: String) {
    if host.utf8.first == UInt8(ascii: "[") {
      guard host.utf8.last == UInt8(ascii: "]") else { return nil }
      self.init(v6: Array(host.utf8.dropFirst().dropLast()))
    } else {
      guard let value = Self.loose(host) else { return nil }
      self.init(v4: value)
    }
  }

  /// Reads an address as people write it in a list: four decimal numbers without leading zeros, or IPv6 without
  /// brackets.
  public init?(canonical text: String) {
    if text.utf8.contains(UInt8(ascii: ":")) {
      self.init(v6: Array(text.utf8))
    } else {
      guard let value = Self.dotted(Array(text.utf8)[...]) else { return nil }
      self.init(v4: value)
    }
  }

  /// Whether the host is intended as an IPv4 address: its last label is a number (WHATWG URL, "ends in a number"). If
  /// it is then not a valid address, it is not a possible name either.
  public static func looksLikeV4(_ host: some StringProtocol) -> Bool {
    var labels = host.split(separator: ".", omittingEmptySubsequences: false)
    if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
    guard let last = labels.last?.utf8, let first = last.first else { return false }
    if last.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
    guard first == 0x30, let second = last.dropFirst().first, second | 0x20 == UInt8(ascii: "x") else { return false }
    return last.dropFirst(2).allSatisfy { Self.digit($0, radix: 16) != nil }
  }

  /// IPv4 as `inet_aton` reads it: one to four numbers, decimal, octal (`0…`) or hexadecimal (`0x…`); the last fills
  /// the remaining bytes. A final dot is ignored, as in names.
  private static func loose(_ host: String) -> UInt32? {
    var host = host
    let mayBeMeant = host.withUTF8 { endsLikeNumber($0[...]) }
    guard mayBeMeant else { return nil }
    if let value = host.withUTF8({ plainDotted($0[...]) }) { return value }
    guard looksLikeV4(host) else { return nil }
    var parts = host.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
    guard (1...4).contains(parts.count) else { return nil }
    var value: UInt64 = 0
    for (index, part) in parts.enumerated() {
      guard let number = number(part) else { return nil }
      if index == parts.count - 1 {
        let bits = UInt64(8 * (4 - index))
        guard number < 1 << bits else { return nil }
        value = value << bits | number
      } else {
        guard number <= 255 else { return nil }
        value = value << 8 | number
      }
    }
    return UInt32(value)
  }

  /// Whether the host may be intended as an IPv4 address: its last label begins with a digit, after a final dot is
  /// removed.
  static func endsLikeNumber(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    guard let last = host.last else { return false }
    if last == UInt8(ascii: ".") { return true }
    var first = last
    for byte in host.reversed() {
      if byte == UInt8(ascii: ".") { break }
      first = byte
    }
    return (0x30...0x39).contains(first)
  }

  /// Four decimal numbers without leading zeros, the form of nearly every IPv4 address, read without an allocation.
  static func plainDotted(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> UInt32? {
    guard (7...15).contains(bytes.count) else { return nil }
    var value: UInt32 = 0
    var part: UInt32 = 0
    var digits = 0
    var parts = 1
    for byte in bytes {
      if byte == UInt8(ascii: ".") {
        guard digits > 0, parts < 4 else { return nil }
        value = value << 8 | part
        (part, digits, parts) = (0, 0, parts + 1)
      } else {
        guard (0x30...0x39).contains(byte), digits == 0 || part > 0 else { return nil }
        part = part * 10 + UInt32(byte - 0x30)
        digits += 1
        guard part <= 255 else { return nil }
      }
    }
    return digits > 0 && parts == 4 ? value << 8 | part : nil
  }

  private static func number(_ text: Substring) -> UInt64? {
    var digits = text.utf8[...]
    var radix: UInt64 = 10
    if digits.first == 0x30, digits.count > 1 {
      digits = digits.dropFirst()
      radix = 8
      if let mark = digits.first, mark | 0x20 == UInt8(ascii: "x") {
        digits = digits.dropFirst()
        radix = 16
        // The resolver takes `0x` alone as zero.
        if digits.isEmpty { return 0 }
      }
    }
    guard !digits.isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in digits {
      guard let digit = digit(byte, radix: radix), value <= UInt64(UInt32.max) else { return nil }
      value = value * radix + digit
    }
    return value <= UInt64(UInt32.max) ? value : nil
  }

  private static func digit(_ byte: UInt8, radix: UInt64) -> UInt64? {
    let value: UInt64
    switch byte {
    case 0x30...0x39: value = UInt64(byte - 0x30)
    case 0x41...0x46, 0x61...0x66: value = UInt64((byte | 0x20) - 0x61 + 10)
    default: return nil
    }
    return value < radix ? value : nil
  }

  /// Four decimal numbers.
  private static func dotted(_ bytes: ArraySlice<UInt8>) -> UInt32? {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.count), part.allSatisfy({ (0x30...0x39).contains($0) }),
        part.count == 1 || part.first != 0x30
      else { return nil }
      let number = part.reduce(0) { $0 * 10 + UInt32($1 - 0x30) }
      guard number <= 255 else { return nil }
      value = value << 8 | number
    }
    return value
  }

  /// IPv6 (RFC 4291 §2.2), without a zone.
  private init?(v6 bytes: [UInt8]) {
    var groups: [UInt16] = []
    var gap: Int?
    var rest = bytes[...]
    if rest.starts(with: "::".utf8) {
      gap = 0
      rest = rest.dropFirst(2)
    }
    while !rest.isEmpty {
      let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
      let group = rest[..<end]
      if end == rest.endIndex, group.contains(UInt8(ascii: ".")) {
        guard let value = Self.dotted(group) else { return nil }
        groups += [UInt16(value >> 16), UInt16(truncatingIfNeeded: value)]
        break
      }
      guard (1...4).contains(group.count) else { return nil }
      var value: UInt64 = 0
      for byte in group {
        guard let digit = Self.digit(byte, radix: 16) else { return nil }
        value = value << 4 | digit
      }
      groups.append(UInt16(value))
      guard end < rest.endIndex else { break }
      rest = rest[(end + 1)...]
      if rest.first == UInt8(ascii: ":") {
        guard gap == nil else { return nil }
        gap = groups.count
        rest = rest.dropFirst()
      } else if rest.isEmpty {
        return nil
      }
      guard groups.count <= 8 else { return nil }
    }
    if let gap {
      guard groups.count <= 7 else { return nil }
      groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
    }
    guard groups.count == 8 else { return nil }
    self.init(
      high: groups[..<4].reduce(0) { $0 << 16 | UInt64($1) }, low: groups[4...].reduce(0) { $0 << 16 | UInt64($1) })
  }
}

extension IPAddress: CustomStringConvertible {
  /// IPv4 as four decimal numbers, IPv6 as in RFC 5952, without brackets.
  public var description: String {
    if let v4 { return (0..<4).map { "\(v4 >> UInt32(24 - 8 * $0) & 0xFF)" }.joined(separator: ".") }
    let groups = (0..<8).map { index in
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4)))
    }
    var longest = 0..<0
    var start = 0
    while start < 8 {
      let end = groups[start...].firstIndex { $0 != 0 } ?? 8
      if end - start > max(1, longest.count) { longest = start..<end }
      start = max(end, start) + 1
    }
    func text(_ slice: ArraySlice<UInt16>) -> String {
      slice.map { String($0, radix: 16) }.joined(separator: ":")
    }
    return longest.isEmpty
      ? text(groups[...]) : "\(text(groups[..<longest.lowerBound]))::\(text(groups[longest.upperBound...]))"
  }
}
