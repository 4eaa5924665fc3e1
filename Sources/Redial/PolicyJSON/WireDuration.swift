internal import RedialText

/// Durations that the service accepts.
package enum WireDuration {
  /// The longest that the service accepts.
  package static let longest = BackoffParts.longest

  /// The text of a duration within the service's range.
  package static func text(_ span: Duration, in range: ClosedRange<Duration>, part: String) throws -> String {
    DurationText.format(try UnsupportedByService.check(span, in: range, part: part))
  }
}
