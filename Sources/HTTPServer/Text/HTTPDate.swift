/// Reads the dates of HTTP, RFC 9110 section 5.6.7; ``DateText`` writes them.
enum HTTPDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Seconds since 1970 of an IMF-fixdate, an asctime-date or an rfc850-date; nil for anything else.
  ///
  /// A two-digit year is one of 1970 to 2069, which agrees with RFC 9110 until that rule looks back beyond 1970.
  static func seconds(_ text: String) -> Int? {
    let parts = text.split(separator: " ")
    switch parts.count {
    // Sun, 06 Nov 1994 08:49:37 GMT
    case 6 where parts[0].hasSuffix(",") && parts[5] == "GMT":
      return seconds(day: parts[1], month: parts[2], year: number(parts[3], digits: 4), time: parts[4])
    // Sunday, 06-Nov-94 08:49:37 GMT
    case 4 where parts[0].hasSuffix(",") && parts[3] == "GMT":
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false)
      guard date.count == 3, let short = number(date[2], digits: 2) else { return nil }
      return seconds(day: date[0], month: date[1], year: short + (short < 70 ? 2000 : 1900), time: parts[2])
    // Sun Nov  6 08:49:37 1994
    case 5:
      let day = parts[2].utf8.count == 1 ? "0" + parts[2] : parts[2]
      return seconds(day: day, month: parts[1], year: number(parts[4], digits: 4), time: parts[3])
    default: return nil
    }
  }

  private static func seconds(day: Substring, month: Substring, year: Int?, time: Substring) -> Int? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let year, let month = months.firstIndex(where: { $0 == month }),
      let day = number(day, digits: 2), day >= 1, day <= days(month: month, year: year),
      let hour = number(clock[0], digits: 2), hour < 24, let minute = number(clock[1], digits: 2), minute < 60,
      // A leap second is accepted.
      let second = number(clock[2], digits: 2), second <= 60
    else { return nil }
    // Days from civil: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    let shifted = month + 1 > 2 ? month - 2 : month + 10
    let marchYear = month + 1 > 2 ? year : year - 1
    let era = marchYear / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * shifted + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return ((era * 146_097 + dayOfEra - 719_468) * 24 + hour) * 3600 + minute * 60 + second
  }

  private static func days(month: Int, year: Int) -> Int {
    if month == 1 { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28 }
    return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
  }

  private static func number(_ text: Substring, digits: Int) -> Int? {
    guard text.utf8.count == digits, text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return Int(text)
  }
}
