import Glibc

/// The `Date` field line (RFC 9110 section 6.6.1), updated once a second, followed by the lines that every answer has.
struct DateText {
  private(set) var line: [UInt8] = []
  private var second = Int.min
  private let commonLines: [UInt8]

  /// - Parameter commonHeaders: Fields of every answer. A field with an invalid name or value is left out.
  init(commonHeaders: [HTTPHeader] = []) {
    commonLines = commonHeaders.flatMap { header -> [UInt8] in
      let isSendable =
        !header.name.isEmpty && header.name.utf8.allSatisfy { ASCII.isToken($0) }
        && header.value.utf8.allSatisfy { ASCII.isFieldValue($0) }
      return isSendable ? Array("\(header.name): \(header.value)\r\n".utf8) : []
    }
  }

  /// Updates the line to the wall clock.
  mutating func refresh() {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    if time.tv_sec != second { set(secondsSinceEpoch: time.tv_sec) }
  }

  /// Sets the line to a time.
  mutating func set(secondsSinceEpoch: Int) {
    second = secondsSinceEpoch
    var text = Array("Date: ".utf8)
    Self.append(secondsSinceEpoch, to: &text)
    text += [ASCII.carriageReturn, ASCII.lineFeed]
    line = text + commonLines
  }

  /// Appends an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
  static func append(_ secondsSinceEpoch: Int, to text: inout [UInt8]) {
    let days = Int((Double(secondsSinceEpoch) / 86_400).rounded(.down))
    let time = secondsSinceEpoch - days * 86_400
    // Civil from days: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let weekday = ((days + 4) % 7 + 7) % 7
    let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    text += Array(weekdays[weekday].utf8) + Array(", ".utf8)
    appendTwoDigits(day, to: &text)
    text += Array(" \(months[month - 1]) ".utf8)
    appendTwoDigits(year / 100, to: &text)
    appendTwoDigits(year % 100, to: &text)
    text.append(ASCII.space)
    appendTwoDigits(time / 3600, to: &text)
    text.append(ASCII.colon)
    appendTwoDigits(time / 60 % 60, to: &text)
    text.append(ASCII.colon)
    appendTwoDigits(time % 60, to: &text)
    text += Array(" GMT".utf8)
  }

  private static func appendTwoDigits(_ number: Int, to text: inout [UInt8]) {
    text.append(UInt8(0x30 + number / 10 % 10))
    text.append(UInt8(0x30 + number % 10))
  }
}
