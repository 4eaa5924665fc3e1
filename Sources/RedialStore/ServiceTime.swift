package import RedialCore

/// What a store remembers of the time of the one service that has it. Its next process sees by this whether the clock has been
/// set back, and a check of the store how late work may be, whatever the wall clock says now.
package struct ServiceTime: Sendable, Hashable {
  /// The name of the stored value.
  package static let setting = "serviceTime"
  /// How old the stored time may become.
  package static let grain = Duration.seconds(60)

  /// Since when the service works without a break: its start, or its first look after time had jumped.
  package var since: Timestamp
  /// The latest time of the service.
  package var seen: Timestamp

  package init(startingAt now: Timestamp) {
    (since, seen) = (now, now)
  }

  /// Reads ``text``; nil for any other text.
  package init?(_ text: String) {
    let times = text.split(separator: " ").compactMap { Int64($0) }
    guard times.count == 2 else { return nil }
    (since, seen) = (Timestamp(microseconds: times[0]), Timestamp(microseconds: times[1]))
  }

  /// The stored text.
  package var text: String { "\(since.microseconds) \(seen.microseconds)" }

  /// The service is at work.
  ///
  /// - Parameter last: When it was the last time, which is seconds ago unless its machine slept or its clock has jumped.
  package mutating func advance(to now: Timestamp, last: Timestamp) {
    if now - last > Lateness.grace { since = now }
    seen = now
  }
}
