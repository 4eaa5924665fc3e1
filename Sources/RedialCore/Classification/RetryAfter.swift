/// Reads the value of a `Retry-After` field: delay-seconds or one of the three
/// forms of an HTTP-date (RFC 9110 §10.2.3, §5.6.7).
public enum RetryAfter {
  /// The wait that the value requests, from `now`; blanks around it do not count.
  ///
  /// A date that has passed is 0. A number that is too large is `Duration.longest`. Anything else (a sign, a fraction,
  /// an exponent, hex, `inf`, an empty text) is not a value.
  public static func parse(_ value: ArraySlice<UInt8>, at now: Timestamp) -> Duration? {
    let value = value.withoutBlanks
    guard let first = value.first else { return nil }
    if isDigit(first) { return delaySeconds(value) }
    guard let date = HTTPDate.parse(value, at: now) else { return nil }
    return max(.zero, date - now)
  }

  /// The longest wait that a field's value requests, from `now`: of a list, and with seconds that have a fraction, which
  /// are not valid but clear. An invalid wait is ignored.
  ///
  /// A response has one `Retry-After`, but a proxy may add one, and two are joined with a comma. A wait that is too long
  /// costs less than a request that the target does not want yet.
  public static func longest(in value: ArraySlice<UInt8>, at now: Timestamp) -> Duration? {
    var found: Duration?
    var rest = value
    while !rest.isEmpty {
      let comma = rest.firstIndex(of: 0x2C) ?? rest.endIndex
      var end = comma
      var wait = parse(rest[..<comma], at: now) ?? fraction(rest[..<comma])
      // A date may contain one comma.
      if wait == nil, comma < rest.endIndex {
        let next = rest[(comma + 1)...].firstIndex(of: 0x2C) ?? rest.endIndex
        wait = parse(rest[..<next], at: now)
        if wait != nil { end = next }
      }
      if let wait { found = max(found ?? .zero, wait) }
      rest = rest[end...].dropFirst()
    }
    return found
  }

  /// Seconds with decimals, of which the first six count.
  private static func fraction(_ value: ArraySlice<UInt8>) -> Duration? {
    let value = value.withoutBlanks
    guard let point = value.firstIndex(of: 0x2E), let seconds = delaySeconds(value[..<point]), point > value.startIndex,
      point + 1 < value.endIndex
    else { return nil }
    var micros: Int64 = 0
    var unit: Int64 = 100_000
    for byte in value[(point + 1)...] {
      guard isDigit(byte) else { return nil }
      micros += Int64(byte &- 0x30) * unit
      unit /= 10
    }
    return seconds == .longest ? seconds : seconds + .microseconds(micros)
  }

  private static func delaySeconds(_ value: ArraySlice<UInt8>) -> Duration? {
    // Beyond 10^12 seconds a wait is practically endless, and no sum with it can overflow.
    let bound: Int64 = 1_000_000_000_000
    var seconds: Int64 = 0
    for byte in value {
      guard isDigit(byte) else { return nil }
      seconds = min(bound, seconds * 10 + Int64(byte &- 0x30))
    }
    return seconds == bound ? .longest : .seconds(seconds)
  }
}

/// Reads an HTTP-date (RFC 9110 §5.6.7): IMF-fixdate, RFC 850 or asctime, all in GMT.
public enum HTTPDate {
  /// The time of the text, or nil if it is in none of the three forms.
  ///
  /// - Parameters:
  ///   - text: The date, with nothing around it.
  ///   - now: Decides the century of an RFC 850 date: a year that appears to be
  ///     more than 50 years ahead is of the past century.
  public static func parse(_ text: ArraySlice<UInt8>, at now: Timestamp) -> Timestamp? {
    var scanner = DateScanner(rest: text)
    guard DateScanner.isWeekday(text), let weekday = scanner.letters() else { return nil }
    if scanner.skip(", ") {
      return weekday == 3 ? imfFixdate(&scanner) : rfc850(&scanner, at: now)
    }
    return weekday == 3 && scanner.skip(" ") ? asctime(&scanner) : nil
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`, after the comma.
  private static func imfFixdate(_ s: inout DateScanner) -> Timestamp? {
    guard let day = s.digits(2), s.skip(" "), let month = s.month(), s.skip(" "), let year = s.digits(4),
      s.skip(" "), let time = s.time(), s.skip(" GMT"), s.isAtEnd
    else { return nil }
    return time.on(year, month, day)
  }

  /// `Sunday, 06-Nov-94 08:49:37 GMT`, after the comma.
  private static func rfc850(_ s: inout DateScanner, at now: Timestamp) -> Timestamp? {
    guard let day = s.digits(2), s.skip("-"), let month = s.month(), s.skip("-"), let short = s.digits(2),
      s.skip(" "), let time = s.time(), s.skip(" GMT"), s.isAtEnd
    else { return nil }
    let thisYear = CivilTime(now).year
    var year = thisYear / 100 * 100 + short
    if year > thisYear + 50 { year -= 100 }
    return time.on(year, month, day)
  }

  /// `Sun Nov  6 08:49:37 1994`, after the weekday.
  private static func asctime(_ s: inout DateScanner) -> Timestamp? {
    guard let month = s.month(), s.skip(" "), let day = s.skip(" ") ? s.digits(1) : s.digits(2), s.skip(" "),
      let time = s.time(), s.skip(" "), let year = s.digits(4), s.isAtEnd
    else { return nil }
    return time.on(year, month, day)
  }
}

/// A time of day that becomes a time.
private struct TimeOfDay {
  var hour: Int
  var minute: Int
  var second: Int

  func on(_ year: Int, _ month: Int, _ day: Int) -> Timestamp? {
    CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?.timestamp
  }
}

/// Parses an HTTP-date from the left.
private struct DateScanner {
  var rest: ArraySlice<UInt8>

  var isAtEnd: Bool { rest.isEmpty }

  /// Whether a text begins with a day's name, whole or as its first three letters.
  static func isWeekday(_ text: ArraySlice<UInt8>) -> Bool {
    let days: [StaticString] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    let count = text.prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }.count
    for day in days where count == 3 || count == day.utf8CodeUnitCount {
      if day.withUTF8Buffer({ text.prefix(count).elementsEqual($0.prefix(count)) }) { return true }
    }
    return false
  }

  /// Skips letters and returns their number; nil for none.
  mutating func letters() -> Int? {
    let count = rest.prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }.count
    rest = rest.dropFirst(count)
    return count > 0 ? count : nil
  }

  mutating func skip(_ text: StaticString) -> Bool {
    let matches = text.withUTF8Buffer { rest.starts(with: $0) }
    if matches { rest = rest.dropFirst(text.utf8CodeUnitCount) }
    return matches
  }

  mutating func digits(_ count: Int) -> Int? {
    let field = rest.prefix(count)
    guard field.count == count else { return nil }
    var number = 0
    for byte in field {
      guard isDigit(byte) else { return nil }
      number = number * 10 + Int(byte &- 0x30)
    }
    rest = rest.dropFirst(count)
    return number
  }

  mutating func time() -> TimeOfDay? {
    guard let hour = digits(2), skip(":"), let minute = digits(2), skip(":"), let second = digits(2) else { return nil }
    return TimeOfDay(hour: hour, minute: minute, second: second)
  }

  mutating func month() -> Int? {
    let names: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
    let found = names.withUTF8Buffer { all in
      (0..<12).first { rest.starts(with: all[($0 * 3)..<($0 * 3 + 3)]) }
    }
    guard let found else { return nil }
    rest = rest.dropFirst(3)
    return found + 1
  }
}

extension ArraySlice<UInt8> {
  /// Without the optional white space, blanks and tabs, that may surround a field's value (RFC 9110 §5.5, §5.6.3).
  var withoutBlanks: Self {
    var rest = drop { $0 == 0x20 || $0 == 0x09 }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    return rest
  }
}

private func isDigit(_ byte: UInt8) -> Bool {
  byte >= 0x30 && byte <= 0x39
}
