internal import RedialText

/// Durations that the service accepts.
enum WireDuration {
  /// The longest that the service accepts.
  static let longest = Duration.seconds(366 * 86_400)

  /// The text of a duration within the service's range.
  static func text(_ span: Duration, in range: ClosedRange<Duration>, part: String) throws -> String {
    DurationText.format(try UnsupportedByService.check(span, in: range, part: part))
  }
}
