internal import Foundation
internal import RedialText

/// Times in the service's form, to the microsecond, as Foundation's dates.
enum WireTime {
  /// `2026-12-01T09:00:00.000Z`, with three digits of fraction or six; nil outside the years 0 to 9999.
  static func text(_ date: Date) -> String? {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    // Some ten thousand years on either side of the epoch; a value that is not a number is outside, too.
    guard abs(microseconds) < 3.2e17 else { return nil }
    let time = Timestamp(microseconds: Int64(microseconds))
    guard (0...9999).contains(CivilTime(time).year) else { return nil }
    return TimestampText.exact(time)
  }

  /// The same for a part of a request.
  ///
  /// - Throws: `UnsupportedByService` outside the years 0 to 9999.
  static func text(_ date: Date, part: String) throws -> String {
    guard let text = text(date) else {
      // Not as a date: Foundation's description of some of these traps.
      throw UnsupportedByService(part, "\(date.timeIntervalSince1970) s from 1970 is not in the years 0 to 9999")
    }
    return text
  }

  /// Reads an RFC 3339 time; nil for anything else.
  static func date(_ text: String) -> Date? {
    TimestampText.parse(text).map { Date(timeIntervalSince1970: Double($0.microseconds) / 1_000_000) }
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
    try duration(decode(String.self, forKey: key), of: key)
  }

  func durationIfPresent(forKey key: Key) throws -> Duration? {
    try decodeIfPresent(String.self, forKey: key) == nil ? nil : duration(forKey: key)
  }

  /// The durations of an object by their names; none if it is missing.
  func durations(forKey key: Key) throws -> [String: Duration] {
    try (decodeIfPresent([String: String].self, forKey: key) ?? [:]).mapValues { try duration($0, of: key) }
  }

  private func duration(_ text: String, of key: Key) throws -> Duration {
    guard let duration = DurationText.parse(text) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(text) is no duration")
    }
    return duration
  }
}
