/// What a target delivers while it has as much as it can take, as an average of the last few hundred requests.
struct CapacityEstimate: Sendable, Hashable {
  /// Requests per second; 0 if unknown.
  private(set) var rate = 0.0
  private var weight = 0.0

  private static let mostWeight = 400.0
  /// A larger difference is another capacity, not chance.
  private static let chance = 0.2

  mutating func learn(_ flow: Double, of count: Int) {
    if abs(flow - rate) > Self.chance * rate { self = CapacityEstimate() }
    weight = min(Self.mostWeight, weight + Double(max(1, count)))
    rate += (flow - rate) * min(1, Double(max(1, count)) / weight)
  }
}

/// Counts what a target accepts between two refusals. At both of them it is full, so that is its capacity, however many
/// it accepts at once.
struct RefusalCycle: Sendable, Hashable {
  private var from: Timestamp?
  private var accepted = 0
  /// The last full cycle: requests per second, and their number.
  private(set) var result: Result?

  struct Result: Sendable, Hashable {
    var flow: Double
    var count: Int
  }

  /// Shorter cycles are continued, in seconds.
  private static let shortest = 2.0

  mutating func start() { accepted += 1 }

  mutating func refused(isLimited: Bool, at now: Timestamp) {
    accepted -= 1
    if let from {
      let length = (now - from).inSeconds
      guard length >= Self.shortest || length < 0 else { return }
      if accepted > 0, length > 0 { result = Result(flow: Double(accepted) / length, count: accepted) }
    }
    from = isLimited ? now : nil
    accepted = 0
  }

  /// Not all that the target can take was sent, so this cycle says nothing.
  mutating func interrupt() { from = nil }

  /// Takes the last cycle's result.
  mutating func take() -> Result? {
    defer { result = nil }
    return result
  }
}
