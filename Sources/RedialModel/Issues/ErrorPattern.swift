/// The text of an error without what differs from call to call: ids, numbers, times, and addresses.
///
/// Two thousand failures are seldom more than a few errors. `order 4711 not found` and `order 4712 not found` are one:
/// `order {n} not found`.
enum ErrorPattern {
  /// The longest pattern, in bytes.
  static let longest = 200
  /// How much of a text is read, in bytes.
  private static let mostRead = 1000

  /// The pattern of a text.
  static func of(_ text: some StringProtocol) -> String {
    var pattern: [UInt8] = []
    var word: [UInt8] = []
    for byte in text.utf8.prefix(mostRead) {
      if pattern.count >= longest { break }
      guard isSeparator(byte) else {
        word.append(byte)
        continue
      }
      add(word, to: &pattern)
      word.removeAll(keepingCapacity: true)
      let isBlank = byte <= 0x20 || byte == 0x7f
      // One space for any run of blanks.
      if !isBlank { pattern.append(byte) } else if let last = pattern.last, last != 0x20 { pattern.append(0x20) }
    }
    add(word, to: &pattern)
    while pattern.last == 0x20 { pattern.removeLast() }
    // What is cut ends at the end of a character.
    return String(decoding: pattern.prefix(longest), as: UTF8.self).trimmingReplacement
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x7f, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"),
      UInt8(ascii: "}"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"),
      UInt8(ascii: "`"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "|"),
      UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"):
      true
    default: false
    }
  }

  /// Adds a word, or what stands for it.
  private static func add(_ word: [UInt8], to pattern: inout [UInt8]) {
    // A sentence may end with a word.
    let end = word.lastIndex { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "!") }
    guard let end else { return pattern.append(contentsOf: word) }
    let core = word[...end]
    if let placeholder = placeholder(of: core) {
      pattern.append(contentsOf: placeholder.utf8)
    } else {
      addNumbered(core, to: &pattern)
    }
    pattern.append(contentsOf: word[(end + 1)...])
  }

  /// What stands for a whole word; nil if only its numbers are replaced.
  private static func placeholder(of word: ArraySlice<UInt8>) -> String? {
    var (digits, letters, hexadecimal, dots, colons, dashes, pluses, groups) = (0, 0, 0, 0, 0, 0, 0, 0)
    var (wasDigit, wasColon, hasPair) = (false, false, false)
    for byte in word {
      let isDigit = (0x30...0x39).contains(byte)
      if isDigit {
        digits += 1
        if !wasDigit { groups += 1 }
      }
      wasDigit = isDigit
      if byte == UInt8(ascii: ":"), wasColon { hasPair = true }
      wasColon = byte == UInt8(ascii: ":")
      switch byte {
      case 0x30...0x39: hexadecimal += 1
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        hexadecimal += 1
        letters += 1
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): letters += 1
      case UInt8(ascii: "."): dots += 1
      case UInt8(ascii: ":"): colons += 1
      case UInt8(ascii: "-"): dashes += 1
      case UInt8(ascii: "+"): pluses += 1
      case UInt8(ascii: "@"): return word.first == byte || word.last == byte ? nil : "{email}"
      default: break
      }
    }
    guard digits > 0 || colons > 1 else { return nil }
    let others = word.count - digits - letters - dots - colons - dashes - pluses
    if others == 0, letters == 0, dots == 3, colons <= 1, dashes == 0, pluses == 0 { return "{address}" }
    if hasPair || colons > 3, hexadecimal + colons + dots == word.count { return "{address}" }
    // 2026-11-27, 10:15:00 and 2026-11-27T10:15:00.5+01:00.
    let marks = word.count { $0 == UInt8(ascii: "T") || $0 == UInt8(ascii: "Z") }
    if others == 0, letters == marks, dashes == 2 && groups >= 3 || colons >= 1 && groups >= 2 { return "{time}" }
    if others == 0, colons >= 2, hexadecimal + colons + dots == word.count { return "{address}" }
    if pluses == 0, hexadecimal + dashes == word.count, letters > 0 || dashes > 0, hexadecimal >= 8 { return "{id}" }
    // Such as req_8Yt3kP0a: letters and numbers in turn.
    return letters > 0 && groups >= 2 && dots == 0 && word.count >= 8 ? "{id}" : nil
  }

  /// Adds a word with `{n}` for each number of it.
  private static func addNumbered(_ word: ArraySlice<UInt8>, to pattern: inout [UInt8]) {
    var place = word.startIndex
    while place < word.endIndex {
      let byte = word[place]
      guard (0x30...0x39).contains(byte) else {
        pattern.append(byte)
        place += 1
        continue
      }
      pattern.append(contentsOf: "{n}".utf8)
      // Also the rest of a number such as 1.5.
      while place < word.endIndex, (0x30...0x39).contains(word[place]) || isPoint(word, at: place) { place += 1 }
    }
  }

  private static func isPoint(_ word: ArraySlice<UInt8>, at place: Int) -> Bool {
    word[place] == UInt8(ascii: ".") && place + 1 < word.endIndex && (0x30...0x39).contains(word[place + 1])
  }
}

extension String {
  /// Without the sign for a character that was cut at the end.
  fileprivate var trimmingReplacement: String {
    last == "\u{fffd}" ? String(dropLast()) : self
  }
}
