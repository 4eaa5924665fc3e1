internal import RedialText

/// A backoff in the words of the API.
struct WireBackoff: Encodable {
  private let backoff: Backoff

  private static let part = "policy.backoff"

  private typealias Key = BackoffParts.Member
  private typealias Members = KeyedEncodingContainer<Key>

  init(_ backoff: Backoff) { self.backoff = backoff }

  /// - Throws: ``UnsupportedByService``, naming the part that the service does not support.
  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try encodeCurve(to: &members)
    let maximum = min(backoff.maximum, BackoffParts.longest)
    try members.encode(WireDuration.text(maximum, in: BackoffParts.maxima, part: "\(Self.part).maximum"), forKey: .max)
    try encodeJitter(to: &members)
    try members.encode(PolicyVocabulary.word(of: backoff.cap), forKey: .cap)
  }

  private func encodeCurve(to members: inout Members) throws {
    try members.encode(PolicyVocabulary.strategy(of: backoff.curve), forKey: .strategy)
    switch backoff.curve {
    case .constant(let wait): try begin(wait, &members)
    case .linear(let initial, let increment):
      try begin(initial, &members)
      try encode(increment, .increment, &members)
    case .exponential(let initial, let multiplier):
      try begin(initial, &members)
      try encode(multiplier, in: BackoffParts.multipliers, .multiplier, &members)
    case .polynomial(let unit, let exponent, let offset, let first):
      try begin(unit, &members)
      try encode(exponent, in: BackoffParts.exponents, .exponent, &members)
      try encode(offset, .offset, &members)
      try members.encode(
        UnsupportedByService.check(first, in: BackoffParts.firsts, part: "\(Self.part).curve.first"), forKey: .first)
    case .fibonacci(let initial): try begin(initial, &members)
    case .power(let base): try begin(base, &members)
    case .doublingsThenLinear(let initial, let doublings):
      try begin(initial, &members)
      try members.encode(
        UnsupportedByService.check(doublings, in: BackoffParts.doublingCounts, part: "\(Self.part).curve.doublings"),
        forKey: .doublings)
    case .schedule(let waits, let then):
      guard BackoffParts.scheduleLengths.contains(waits.count) else {
        throw UnsupportedByService(
          "\(Self.part).curve.schedule", "a schedule of \(waits.count) waits; it has 1 to 100 of them")
      }
      try members.encode(
        waits.map { try WireDuration.text($0, in: BackoffParts.durations, part: "\(Self.part).curve.schedule") },
        forKey: .schedule)
      try members.encode(PolicyVocabulary.word(of: then), forKey: .then)
    case .decorrelated(let base): try begin(base, &members)
    case .decorrelatedSmooth(let median): try begin(median, &members)
    }
  }

  private func begin(_ initial: Duration, _ members: inout Members) throws {
    guard initial <= backoff.maximum else {
      throw UnsupportedByService(
        "\(Self.part).curve.initial", "\(initial) is longer than the longest wait, \(backoff.maximum)")
    }
    try encode(initial, .initial, &members)
  }

  private func encode(_ duration: Duration, _ key: Key, _ members: inout Members) throws {
    try members.encode(
      WireDuration.text(duration, in: BackoffParts.durations, part: "\(Self.part).curve.\(key.stringValue)"),
      forKey: key)
  }

  private func encode(_ number: Double, in range: ClosedRange<Int>, _ key: Key, _ members: inout Members) throws {
    try members.encode(
      UnsupportedByService.check(
        number, in: Double(range.lowerBound)...Double(range.upperBound), part: "\(Self.part).curve.\(key.stringValue)"),
      forKey: key)
  }

  private func encodeJitter(to members: inout Members) throws {
    // Random curves have no jitter, as in the service.
    if PolicyVocabulary.isRandom(backoff.curve) { return }
    try members.encode(PolicyVocabulary.name(of: backoff.jitter), forKey: .jitter)
    switch backoff.jitter {
    case .none, .full, .equal: break
    case .proportional(let factor):
      try members.encode(
        UnsupportedByService.check(factor, in: 0...1, part: "\(Self.part).jitter.factor"), forKey: .factor)
    case .additive(let spread), .additivePerRetry(let spread):
      try members.encode(
        WireDuration.text(spread, in: BackoffParts.durations, part: "\(Self.part).jitter.spread"), forKey: .spread)
    }
  }
}
