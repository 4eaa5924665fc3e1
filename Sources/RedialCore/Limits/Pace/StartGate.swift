/// Spaces starts evenly at a rate that changes.
///
/// A few starts may come at once, so that a timer is not needed for each of them: as many as fit into 5 ms, of a rate
/// above 200 per second.
struct StartGate: Sendable, Hashable {
  /// When the next start is due, in microseconds since 1970.
  private var next = 0.0

  /// The starts within this time may come at once, in microseconds.
  private static let grain = 5000.0

  /// When the next request may start; a time that has passed is at once.
  mutating func opening(rate: Double, at now: Timestamp) -> Timestamp {
    let interval = 1e6 / rate
    let early = max(0, Self.grain - interval)
    // After a faster rate, or if the clock has stepped back.
    next = min(next, Double(now.microseconds) + interval + early)
    return Timestamp(microseconds: Int64((next - early).rounded(.up)))
  }

  /// Counts a start.
  mutating func pass(rate: Double, at now: Timestamp) {
    next = max(next, Double(now.microseconds) - Self.grain) + 1e6 / rate
  }
}
