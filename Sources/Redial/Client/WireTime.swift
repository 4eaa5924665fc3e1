internal import Foundation

/// Times in the service's form: RFC 3339 in UTC, to the microsecond.
enum WireTime {
  /// `2026-12-01T09:00:00.000Z`, with three digits of fraction or six; nil outside the years 0 to 9999.
  static func text(_ date: Date) -> String? {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    // Some ten thousand years on either side of the epoch; a value that is not a number is outside, too.
    guard abs(microseconds) < 3.2e17 else { return nil }
    let time = Timestamp(microseconds: Int64(microseconds))
    let civil = CivilTime(time)
    guard (0...9999).contains(civil.year) else { return nil }
    let rest = ((time.microseconds % 1_000_000) + 1_000_000) % 1_000_000
    let fraction = rest % 1000 == 0 ? padded(Int(rest / 1000), 3) : padded(Int(rest), 6)
    return "\(padded(civil.year, 4))-\(padded(civil.month, 2))-\(padded(civil.day, 2))T\(padded(civil.hour, 2))"
      + ":\(padded(civil.minute, 2)):\(padded(civil.second, 2)).\(fraction)Z"
  }

  /// Reads a text that ends in `Z`, with any number of fraction digits; nil for anything else.
  static func date(_ text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A,
      bytes[16] == 0x3A, bytes.last == 0x5A,
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
      let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    var microseconds = 0
    let fraction = bytes[19..<(bytes.count - 1)]
    if !fraction.isEmpty {
      let digits = fraction.dropFirst().prefix(6)
      guard fraction.first == 0x2E, let value = number(digits) else { return nil }
      microseconds = (0..<(6 - digits.count)).reduce(value) { value, _ in value * 10 }
    }
    let time = civil.timestamp + .microseconds(microseconds)
    return Date(timeIntervalSince1970: Double(time.microseconds) / 1_000_000)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var number = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int(digit - 0x30)
    }
    return digits.isEmpty ? nil : number
  }
}

extension KeyedDecodingContainer {
  func time(forKey key: Key) throws -> Date {
    let text = try decode(String.self, forKey: key)
    guard let date = WireTime.date(text) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(text) is no RFC 3339 time")
    }
    return date
  }

  func timeIfPresent(forKey key: Key) throws -> Date? {
    try decodeIfPresent(String.self, forKey: key) == nil ? nil : time(forKey: key)
  }

  func duration(forKey key: Key) throws -> Duration {
    let text = try decode(String.self, forKey: key)
    guard let duration = WireDuration.duration(text) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(text) is no duration")
    }
    return duration
  }

  func durationIfPresent(forKey key: Key) throws -> Duration? {
    try decodeIfPresent(String.self, forKey: key) == nil ? nil : duration(forKey: key)
  }
}
