package import RedialCore

/// Times as text: RFC 3339, written in UTC with milliseconds.
package enum TimestampText {
  /// `2026-12-01T09:00:00.000Z`. A year that four digits cannot say, which no clock will show, has more.
  package static func format(_ time: Timestamp) -> String {
    let parts = Parts(time)
    guard parts.hasUsualYear else { return "\(parts.civil.year)" + text(20, parts.writeRest) }
    return text(Parts.usualLength, parts.write)
  }

  /// As ``format(_:)``, with six digits of fraction where three do not say all: `2026-12-01T09:00:00.000250Z`.
  package static func exact(_ time: Timestamp) -> String {
    let text = format(time)
    let rest = ((time.microseconds % 1000) + 1000) % 1000
    guard rest > 0 else { return text }
    var digits: [UInt8] = []
    digits.appendDecimal(Int(rest), width: 3)
    return text.dropLast() + String(decoding: digits, as: UTF8.self) + "Z"
  }

  private static func text(_ length: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) -> String {
    String(unsafeUninitializedCapacity: length) { buffer in
      guard let place = buffer.baseAddress else { return 0 }
      write(place)
      return length
    }
  }

  /// A time in its parts, to be written in place.
  package struct Parts {
    /// How many bytes the text of a time has whose year has four digits.
    package static var usualLength: Int { 24 }

    let civil: CivilTime
    private let milliseconds: Int

    /// The parts of a time.
    package init(_ time: Timestamp) {
      civil = CivilTime(time)
      let remainder = time.microseconds % 1_000_000
      milliseconds = Int((remainder < 0 ? remainder + 1_000_000 : remainder) / 1000)
    }

    /// Whether four digits say the year.
    package var hasUsualYear: Bool { (0...9999).contains(civil.year) }

    /// Writes ``usualLength`` bytes, if four digits say the year.
    package func write(to place: UnsafeMutablePointer<UInt8>) {
      Self.put(civil.year / 100, place)
      Self.put(civil.year % 100, place + 2)
      writeRest(to: place + 4)
    }

    /// Writes the 20 bytes after the year.
    func writeRest(to place: UnsafeMutablePointer<UInt8>) {
      place[0] = UInt8(ascii: "-")
      Self.put(civil.month, place + 1)
      place[3] = UInt8(ascii: "-")
      Self.put(civil.day, place + 4)
      place[6] = UInt8(ascii: "T")
      Self.put(civil.hour, place + 7)
      place[9] = UInt8(ascii: ":")
      Self.put(civil.minute, place + 10)
      place[12] = UInt8(ascii: ":")
      Self.put(civil.second, place + 13)
      place[15] = UInt8(ascii: ".")
      place[16] = UInt8(truncatingIfNeeded: 0x30 + milliseconds / 100)
      Self.put(milliseconds % 100, place + 17)
      place[19] = UInt8(ascii: "Z")
    }

    /// Writes a number from 0 to 99 as two digits.
    @inline(__always)
    private static func put(_ number: Int, _ place: UnsafeMutablePointer<UInt8>) {
      place[0] = UInt8(truncatingIfNeeded: 0x30 + number / 10)
      place[1] = UInt8(truncatingIfNeeded: 0x30 + number % 10)
    }
  }

  /// Reads an RFC 3339 date-time with `Z` or a numeric offset, and any number of fraction digits, of which six count;
  /// nil if the text is not one, or the time is not in the years 0 to 9999 in UTC.
  package static func parse(_ text: String) -> Timestamp? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74, bytes[13] == 0x3A,
      bytes[16] == 0x3A,
      let year = digits(bytes[0..<4]), let month = digits(bytes[5..<7]), let day = digits(bytes[8..<10]),
      let hour = digits(bytes[11..<13]), let minute = digits(bytes[14..<16]), let second = digits(bytes[17..<19]),
      let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    var rest = bytes[19...]
    var microseconds = 0
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix { $0 >= 0x30 && $0 <= 0x39 }
      guard !fraction.isEmpty else { return nil }
      let padded = Array(fraction.prefix(6)) + Array(repeating: 0x30, count: max(0, 6 - fraction.count))
      microseconds = digits(padded[...]) ?? 0
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard let offset = offsetSeconds(Array(rest)) else { return nil }
    let time = civil.timestamp + .microseconds(microseconds) + .seconds(-offset)
    // An offset, or a leap second, may lead to a year that does not fit four digits, and could not be read again.
    return (0...9999).contains(CivilTime(time).year) ? time : nil
  }

  /// Seconds east of UTC of `Z`, `+hh:mm` or `-hh:mm`.
  private static func offsetSeconds(_ zone: [UInt8]) -> Int? {
    if zone.count == 1, zone[0] | 0x20 == UInt8(ascii: "z") { return 0 }
    guard zone.count == 6, zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"), zone[3] == UInt8(ascii: ":"),
      let hours = digits(zone[1..<3]), let minutes = digits(zone[4..<6]), hours < 24, minutes < 60
    else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return zone[0] == UInt8(ascii: "-") ? -seconds : seconds
  }

  private static func digits(_ field: ArraySlice<UInt8>) -> Int? {
    var number = 0
    for byte in field {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      number = number * 10 + Int(byte - 0x30)
    }
    return number
  }
}
