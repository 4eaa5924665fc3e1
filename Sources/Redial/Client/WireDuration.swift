/// Durations in the service's form: a number and a unit.
enum WireDuration {
  /// The longest that the service accepts.
  static let longest = Duration.seconds(366 * 86_400)

  /// The text of a duration, to the microsecond.
  static func text(_ duration: Duration) -> String {
    let total = duration.wholeMicroseconds
    if total % 1_000_000 == 0 { return "\(total / 1_000_000)s" }
    return total % 1000 == 0 ? "\(total / 1000)ms" : "\(total)us"
  }

  /// The text of a duration within the service's range.
  static func text(_ duration: Duration, in range: ClosedRange<Duration>, part: String) throws -> String {
    text(try UnsupportedByService.check(duration, in: range, part: part))
  }

  /// Reads `12.4ms`, or several from large to small (`1h30m`); nil for anything else.
  static func duration(_ text: String) -> Duration? {
    var rest = Substring(text)
    var seconds = 0.0
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(digits.count)
      let letters = rest.prefix { $0.isASCII && $0.isLetter }
      rest = rest.dropFirst(letters.count)
      guard let amount = Double(digits), let unit = unit(letters) else { return nil }
      seconds += amount * unit
    }
    return Duration(clampingSeconds: seconds)
  }

  private static func unit(_ letters: Substring) -> Double? {
    switch letters {
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
}
