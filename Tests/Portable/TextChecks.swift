extension Checks {
  static func texts() {
    // The example of RFC 9110, section 5.6.7.
    let example = Timestamp(microseconds: 784_111_777_000_000)
    let earlier = example + .seconds(-90)
    for text: StaticString in [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", " Sun Nov  6 08:49:37 1994\t", " 90 ",
    ] {
      expect(RetryAfter.parse(bytes(text), at: earlier) == .seconds(90))
    }
    // Beyond 32 bits, and beyond 64.
    expect(RetryAfter.parse(bytes("4294967296"), at: now) == .seconds(4_294_967_296 as Int64))
    expect(RetryAfter.parse(bytes("99999999999999999999"), at: now) == .longest)
    expect(
      RetryAfter.parse(bytes("Fri, 31 Dec 9999 23:59:59 GMT"), at: now) ?? .zero > .seconds(250_000_000_000 as Int64))
    for time in times {
      let civil = CivilTime(time)
      expect(civil.month >= 1 && civil.month <= 12 && civil.hour < 24)
      expect(civil.timestamp <= time || time == Timestamp(microseconds: .min))
    }
    var fields = RateLimitFields()
    fields.note(bytes("x-ratelimit-remaining"), bytes("99999999999"), at: now)
    expect(fields.remaining == .max || Int.bitWidth == 64)
    fields.note(bytes("ratelimit"), bytes("\"default\";r=0;t=4294967296"), at: now)
    expect(fields.wait == .seconds(4_294_967_296 as Int64))
  }

  private static func bytes(_ text: StaticString) -> ArraySlice<UInt8> {
    text.withUTF8Buffer { ArraySlice(Array($0)) }
  }
}
