/// A date and time of day in UTC, in the proleptic Gregorian calendar.
///
/// The conversions are those of Howard Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms" (days_from_civil, civil_from_days).
public struct CivilTime: Sendable, Hashable {
  /// The year; 1970 for the epoch.
  public var year: Int
  /// The month, 1...12.
  public var month: Int
  /// The day of the month, 1...31.
  public var day: Int
  /// The hour, 0...23.
  public var hour: Int
  /// The minute, 0...59.
  public var minute: Int
  /// The second, 0...60, since a leap second may be written.
  public var second: Int

  /// Creates a time, or nil when a part is out of range for its month.
  public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    guard (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second), (-9999...99999).contains(year)
    else { return nil }
    self.year = year
    self.month = month
    self.day = day
    self.hour = hour
    self.minute = minute
    self.second = second
  }

  /// The civil time of an instant, its microseconds dropped.
  public init(_ time: Timestamp) {
    let seconds = Self.floorDivide(time.microseconds, 1_000_000)
    let days = Self.floorDivide(seconds, 86_400)
    let rest = Int(seconds - days * 86_400)
    let shifted = days + 719_468
    let era = Self.floorDivide(shifted, 146_097)
    let dayOfEra = Int(shifted - era * 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + Int(era) * 400 + (month <= 2 ? 1 : 0)
    hour = rest / 3600
    minute = rest / 60 % 60
    second = rest % 60
  }

  /// The instant; a leap second is the instant after it. Years beyond those of ``Timestamp`` give its ends.
  public var timestamp: Timestamp {
    let shiftedYear = min(max(year, -300_000), 300_000) - (month <= 2 ? 1 : 0)
    let era = Self.floorDivide(Int64(shiftedYear), 400)
    let yearOfEra = shiftedYear - Int(era) * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + Int64(dayOfEra) - 719_468
    let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return Timestamp(microseconds: overflow ? seconds < 0 ? .min : .max : microseconds)
  }

  /// How many days a month has.
  public static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    a >= 0 ? a / b : (a + 1) / b - 1
  }
}
