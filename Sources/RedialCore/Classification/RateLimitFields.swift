/// A target's quota, from its `RateLimit` fields.
///
/// It reads the structured field of draft-ietf-httpapi-ratelimit-headers (`RateLimit: "default";r=0;t=30`) and its
/// widespread predecessors (`RateLimit-Remaining` and `RateLimit-Reset`, with or without `X-`). A reset above 10^9 is
/// Unix time in seconds, as at GitHub; below, it is seconds from now.
public struct RateLimitFields: Sendable, Hashable {
  /// Requests left in the window; nil if unknown.
  public var remaining: Int?
  /// The time until the quota is renewed; nil if unknown.
  public var reset: Duration?

  /// Creates a statement from its parts.
  public init(remaining: Int? = nil, reset: Duration? = nil) {
    self.remaining = remaining
    self.reset = reset
  }

  /// The wait that an exhausted quota requires, used if `Retry-After` is missing; nil if there is quota left, or it is
  /// unknown.
  public var wait: Duration? {
    remaining == 0 ? reset : nil
  }

  /// Reads one header line; lines with other names change nothing. Of several policies in a `RateLimit` field, the most
  /// exhausted counts.
  ///
  /// - Parameters:
  ///   - name: The field's name, in lower case.
  ///   - value: The field's value, as received.
  ///   - now: The time of day, for a reset that is a date.
  public mutating func note(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>, at now: Timestamp) {
    switch name.count {
    case 9 where Self.equals(name, "ratelimit"): readStructured(value)
    case 19 where Self.equals(name, "ratelimit-remaining"), 21 where Self.equals(name, "x-ratelimit-remaining"):
      remaining = Self.number(value).map { Int(clamping: $0) } ?? remaining
    case 15 where Self.equals(name, "ratelimit-reset"), 17 where Self.equals(name, "x-ratelimit-reset"):
      guard let seconds = Self.number(value) else { return }
      let isDate = seconds > 1_000_000_000
      reset = isDate ? max(.zero, Timestamp(microseconds: seconds &* 1_000_000) - now) : .seconds(seconds)
    default: break
    }
  }

  /// Members separated by commas, each with parameters `r` (remaining) and `t` (seconds to the reset).
  private mutating func readStructured(_ value: ArraySlice<UInt8>) {
    for member in value.split(separator: 0x2C, maxSplits: 32) {
      var left: Int?
      var time: Duration?
      for parameter in member.split(separator: 0x3B, maxSplits: 32).dropFirst() {
        let text = parameter.drop { $0 == 0x20 || $0 == 0x09 }
        guard text.count > 2, text[text.startIndex + 1] == 0x3D else { continue }
        let number = Self.number(text.dropFirst(2))
        if text.first == 0x72 { left = number.map { Int(clamping: $0) } }
        if text.first == 0x74 { time = number.map { .seconds($0) } }
      }
      guard let left else { continue }
      if let known = remaining, known < left || (known == left && reset ?? .zero >= time ?? .zero) { continue }
      remaining = left
      reset = time
    }
  }

  /// Only digits, except for blanks around them; at most some 30,000 years of seconds.
  private static func number(_ text: ArraySlice<UInt8>) -> Int64? {
    let digits = text.withoutBlanks
    guard !digits.isEmpty else { return nil }
    var number: Int64 = 0
    for byte in digits {
      guard byte >= 0x30, byte <= 0x39 else { return nil }
      number = min(1_000_000_000_000, number * 10 + Int64(byte &- 0x30))
    }
    return number
  }

  private static func equals(_ name: ArraySlice<UInt8>, _ known: StaticString) -> Bool {
    known.withUTF8Buffer { known in
      zip(name, known).allSatisfy { byte, wanted in (byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte) == wanted }
    }
  }
}
