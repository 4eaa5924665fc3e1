internal import RedialCore

/// Durations as text: `500ms`, `1.5s`, `15m`, `24h`, `7d`; ISO 8601 (`PT5M`) is read too.
///
/// Written in one canonical form: whole days, else whole hours, else whole
/// minutes, else seconds, and milliseconds below one second.
package enum DurationText {
  private static let microsecondsPerSecond: Int64 = 1_000_000

  /// The canonical text of a duration; a negative one is written as zero.
  package static func format(_ duration: Duration) -> String {
    let total = max(0, duration.wholeMicroseconds)
    if total == 0 { return "0s" }
    if total < microsecondsPerSecond { return decimal(total, per: 1000, digits: 3) + "ms" }
    // Not in a loop: from a loop the compiler makes one of two binaries, by chance, and builds are to be reproducible.
    return whole(total, seconds: 86_400, "d") ?? whole(total, seconds: 3600, "h") ?? whole(total, seconds: 60, "m")
      ?? decimal(total, per: microsecondsPerSecond, digits: 6) + "s"
  }

  /// The text of a duration that is a whole number of a unit; nil for others.
  private static func whole(_ microseconds: Int64, seconds: Int64, _ unit: String) -> String? {
    let (count, rest) = microseconds.quotientAndRemainder(dividingBy: seconds * microsecondsPerSecond)
    return rest == 0 ? "\(count)\(unit)" : nil
  }

  /// Reads a duration: a number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), or several from large to small
  /// (`1h30m`), or an ISO 8601 duration of weeks, days, hours, minutes and seconds (`P1DT2H`).
  ///
  /// Nil for anything else: no sign, no bare number, no months or years, whose length varies, and nothing over 100,000
  /// days.
  package static func parse(_ text: String) -> Duration? {
    if let duration = quickly(text) { return duration }
    let bytes = Array(text.utf8)
    guard bytes.count <= 64, let first = bytes.first else { return nil }
    let seconds = first == UInt8(ascii: "P") ? isoSeconds(bytes.dropFirst()) : unitSeconds(bytes[...])
    guard let seconds, seconds <= 100_000 * 86_400 else { return nil }
    return Duration(clampingSeconds: seconds)
  }

  /// The duration of up to nine digits and one short unit, the form of nearly every duration; nil for others.
  private static func quickly(_ text: String) -> Duration? {
    var number: Int64 = 0
    var digits = 0
    var unit: UInt32 = 0
    for byte in text.utf8 {
      if byte >= 0x30, byte <= 0x39, unit == 0, digits < 9 {
        number = number * 10 + Int64(byte - 0x30)
        digits += 1
      } else if digits > 0, unit <= 0xFF {
        unit = unit << 8 | UInt32(byte)
      } else {
        return nil
      }
    }
    switch unit {
    case 0x6D73: return .milliseconds(number)
    case UInt32(UInt8(ascii: "s")): return .seconds(number)
    case UInt32(UInt8(ascii: "m")) where digits < 9: return .seconds(number * 60)
    default: return nil
    }
  }

  private static func unitSeconds(_ text: ArraySlice<UInt8>) -> Double? {
    var rest = text
    var total = 0.0
    var last = Double.infinity
    while !rest.isEmpty {
      guard let amount = takeNumber(&rest) else { return nil }
      let letters = rest.prefix { $0 >= 0x61 && $0 <= 0x7A }
      guard let unit = unitLength(String(decoding: letters, as: UTF8.self)), unit < last else { return nil }
      rest = rest.dropFirst(letters.count)
      total += amount * unit
      last = unit
    }
    return total
  }

  private static func unitLength(_ unit: String) -> Double? {
    switch unit {
    case "us": 1e-6
    case "ms": 1e-3
    case "s": 1
    case "m": 60
    case "h": 3600
    case "d": 86_400
    case "w": 604_800
    default: nil
    }
  }

  private static func isoSeconds(_ text: ArraySlice<UInt8>) -> Double? {
    var rest = text
    var total = 0.0
    var last = Double.infinity
    var inTime = false
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      if rest.first == UInt8(ascii: "T") {
        guard !inTime else { return nil }
        inTime = true
        rest = rest.dropFirst()
      }
      guard let amount = takeNumber(&rest), let letter = rest.popFirst() else { return nil }
      let unit: Double
      switch (letter, inTime) {
      case (UInt8(ascii: "W"), false): unit = 604_800
      case (UInt8(ascii: "D"), false): unit = 86_400
      case (UInt8(ascii: "H"), true): unit = 3600
      case (UInt8(ascii: "M"), true): unit = 60
      case (UInt8(ascii: "S"), true): unit = 1
      default: return nil
      }
      guard unit < last else { return nil }
      total += amount * unit
      last = unit
    }
    return total
  }

  /// Takes `digits [. digits]` from the front.
  private static func takeNumber(_ rest: inout ArraySlice<UInt8>) -> Double? {
    func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }
    let whole = rest.prefix(while: isDigit)
    guard !whole.isEmpty else { return nil }
    var length = whole.count
    if rest.dropFirst(length).first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst(length + 1).prefix(while: isDigit)
      guard !fraction.isEmpty else { return nil }
      length += 1 + fraction.count
    }
    let number = Double(String(decoding: rest.prefix(length), as: UTF8.self))
    rest = rest.dropFirst(length)
    return number
  }

  /// `total / scale` in decimal, without trailing zeros.
  private static func decimal(_ total: Int64, per scale: Int64, digits: Int) -> String {
    var text = "\(total / scale)"
    var fraction: [UInt8] = []
    fraction.appendDecimal(Int(total % scale), width: digits)
    while fraction.last == 0x30 { fraction.removeLast() }
    if !fraction.isEmpty { text += "." + String(decoding: fraction, as: UTF8.self) }
    return text
  }
}
