/// A backoff in the words of the API.
struct WireBackoff: Encodable {
  private let backoff: Backoff

  private static let durations = Duration.zero...WireDuration.longest
  private static let maxima = Duration.milliseconds(1)...WireDuration.longest
  private static let scheduleLengths = 1...100
  private static let part = "policy.backoff"

  private enum Key: String, CodingKey {
    case strategy, initial, max, multiplier, increment, exponent, offset, first, doublings, schedule, then, jitter,
      factor
    case spread, cap
  }

  private typealias Members = KeyedEncodingContainer<Key>

  init(_ backoff: Backoff) { self.backoff = backoff }

  /// - Throws: ``UnsupportedByService``, naming the part that the service does not support.
  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try encodeCurve(to: &members)
    let maximum = min(backoff.maximum, WireDuration.longest)
    try members.encode(WireDuration.text(maximum, in: Self.maxima, part: "\(Self.part).maximum"), forKey: .max)
    try encodeJitter(to: &members)
    let cap =
      switch backoff.cap {
      case .keepingSpread: "keepingSpread"
      case .afterJitter: "afterJitter"
      case .beforeJitter: "beforeJitter"
      }
    try members.encode(cap, forKey: .cap)
  }

  private func encodeCurve(to members: inout Members) throws {
    switch backoff.curve {
    case .constant(let wait): try begin("constant", wait, &members)
    case .linear(let initial, let increment):
      try begin("linear", initial, &members)
      try encode(increment, .increment, &members)
    case .exponential(let initial, let multiplier):
      try begin("exponential", initial, &members)
      try encode(multiplier, in: 1...100, .multiplier, &members)
    case .polynomial(let unit, let exponent, let offset, let first):
      try begin("polynomial", unit, &members)
      try encode(exponent, in: 0...10, .exponent, &members)
      try encode(offset, .offset, &members)
      try members.encode(
        UnsupportedByService.check(first, in: 0...1000, part: "\(Self.part).curve.first"), forKey: .first)
    case .fibonacci(let initial): try begin("fibonacci", initial, &members)
    case .power(let base): try begin("power", base, &members)
    case .doublingsThenLinear(let initial, let doublings):
      try begin("doublingsThenLinear", initial, &members)
      try members.encode(
        UnsupportedByService.check(doublings, in: 0...100, part: "\(Self.part).curve.doublings"), forKey: .doublings)
    case .schedule(let waits, let then):
      guard Self.scheduleLengths.contains(waits.count) else {
        throw UnsupportedByService(
          "\(Self.part).curve.schedule", "a schedule of \(waits.count) waits; it has 1 to 100 of them")
      }
      try members.encode("schedule", forKey: .strategy)
      try members.encode(
        waits.map { try WireDuration.text($0, in: Self.durations, part: "\(Self.part).curve.schedule") },
        forKey: .schedule)
      try members.encode(then == .repeatLast ? "repeatLast" : "stop", forKey: .then)
    case .decorrelated(let base): try begin("decorrelated", base, &members)
    case .decorrelatedSmooth(let median): try begin("decorrelatedSmooth", median, &members)
    }
  }

  private func begin(_ strategy: String, _ initial: Duration, _ members: inout Members) throws {
    guard initial <= backoff.maximum else {
      throw UnsupportedByService(
        "\(Self.part).curve.initial", "\(initial) is longer than the longest wait, \(backoff.maximum)")
    }
    try members.encode(strategy, forKey: .strategy)
    try encode(initial, .initial, &members)
  }

  private func encode(_ duration: Duration, _ key: Key, _ members: inout Members) throws {
    try members.encode(
      WireDuration.text(duration, in: Self.durations, part: "\(Self.part).curve.\(key.rawValue)"), forKey: key)
  }

  private func encode(_ number: Double, in range: ClosedRange<Double>, _ key: Key, _ members: inout Members) throws {
    try members.encode(
      UnsupportedByService.check(number, in: range, part: "\(Self.part).curve.\(key.rawValue)"), forKey: key)
  }

  private func encodeJitter(to members: inout Members) throws {
    switch backoff.curve {
    // Random themselves, they have no jitter, as in the service.
    case .decorrelated, .decorrelatedSmooth: return
    default: break
    }
    switch backoff.jitter {
    case .none: try members.encode("none", forKey: .jitter)
    case .full: try members.encode("full", forKey: .jitter)
    case .equal: try members.encode("equal", forKey: .jitter)
    case .proportional(let factor):
      try members.encode("proportional", forKey: .jitter)
      try members.encode(
        UnsupportedByService.check(factor, in: 0...1, part: "\(Self.part).jitter.factor"), forKey: .factor)
    case .additive(let spread): try encode(additive: "additive", spread, &members)
    case .additivePerRetry(let spread): try encode(additive: "additivePerRetry", spread, &members)
    }
  }

  private func encode(additive word: String, _ spread: Duration, _ members: inout Members) throws {
    try members.encode(word, forKey: .jitter)
    try members.encode(
      WireDuration.text(spread, in: Self.durations, part: "\(Self.part).jitter.spread"), forKey: .spread)
  }
}
