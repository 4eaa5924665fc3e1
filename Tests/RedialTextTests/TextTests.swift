import RedialCore
import RedialText
import Testing

@Suite("Durations, times and percent-encoding as text")
struct TextTests {
  @Test(
    "durations are read in every unit and written in one form",
    arguments: [
      ("500ms", "500ms"), ("1.5s", "1.5s"), ("1500ms", "1.5s"), ("60s", "1m"), ("15m", "15m"), ("90m", "90m"),
      ("24h", "1d"), ("7d", "7d"), ("2w", "14d"), ("1h30m", "90m"), ("0s", "0s"), ("12.4ms", "12.4ms"),
      ("250us", "0.25ms"),
      ("PT5M", "5m"), ("P1DT2H", "26h"), ("PT1.5S", "1.5s"), ("P2W", "14d"), ("PT0S", "0s"), ("1m30s", "90s"),
    ])
  func durations(text: String, canonical: String) throws {
    let span = try #require(DurationText.parse(text))
    #expect(DurationText.format(span) == canonical)
    #expect(DurationText.parse(canonical) == span)
  }

  @Test(
    "a text that is not a duration is refused",
    arguments: [
      "", "15", "s", "-1s", "+1s", "1 s", "1S", "1.s", ".5s", "1e3s", "1s1m", "1s1s", "5M", "P", "PT", "P1M", "P1Y",
      "PT5",
      "P1H", "PTT1S", "P1DT", "infs", "nans", "99999999999999999999d", "1é", "0x10s",
    ])
  func noDurations(text: String) {
    #expect(DurationText.parse(text) == nil)
  }

  @Test("every duration is read back from its text, to the microsecond")
  func durationRoundTrip() {
    var random = RandomSource(seed: 5)
    for _ in 0..<20_000 {
      let span = Duration.microseconds(Int64(random.next() >> (random.next() % 40 + 21)))
      guard span <= .seconds(100_000 * 86_400) else { continue }
      #expect(DurationText.parse(DurationText.format(span)) == span, "\(span)")
    }
  }

  @Test("instants are written in UTC with milliseconds and read with any offset")
  func instants() {
    let time = Timestamp(microseconds: 1_790_000_000_123_456)
    #expect(TimestampText.format(time) == "2026-09-21T14:13:20.123Z")
    for text in [
      "2026-09-21T14:13:20.123456Z", "2026-09-21t16:13:20.123456+02:00", "2026-09-21T04:43:20.1234569-09:30",
    ] {
      #expect(TimestampText.parse(text) == time, "\(text)")
    }
    for text in ["9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00.000Z"] {
      #expect(TimestampText.parse(text).map(TimestampText.format) == text)
    }
    #expect(TimestampText.format(Timestamp(microseconds: -1)) == "1969-12-31T23:59:59.999Z")
    for text in [
      "", "2026-09-21", "2026-09-21T14:13:20", "2026-09-21 14:13:20Z", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
      "2026-09-21T24:00:00Z", "2026-09-21T14:13:20.Z", "2026-09-21T14:13:20+2:00", "2026-09-21T14:13:20Zx", "tomorrow",
      // In UTC these years do not fit four digits.
      "9999-12-31T23:59:59-23:59", "9999-12-31T23:59:60Z", "0000-01-01T00:00:00+00:01",
    ] { #expect(TimestampText.parse(text) == nil, "\(text)") }
  }

  @Test("a time to the microsecond has more digits only where it needs them")
  func exact() {
    #expect(TimestampText.exact(Timestamp(microseconds: 1_790_000_000_123_456)) == "2026-09-21T14:13:20.123456Z")
    #expect(TimestampText.exact(Timestamp(microseconds: 1_790_000_000_123_000)) == "2026-09-21T14:13:20.123Z")
    #expect(TimestampText.exact(Timestamp(microseconds: -1)) == "1969-12-31T23:59:59.999999Z")
    #expect(TimestampText.format(Timestamp(microseconds: 300_000_000_000_000_000)) == "11476-08-15T05:20:00.000Z")
    var random = RandomSource(seed: 6)
    for _ in 0..<20_000 {
      let time = Timestamp(microseconds: Int64(random.next() >> 13))
      guard CivilTime(time).year <= 9999 else { continue }
      #expect(TimestampText.parse(TimestampText.exact(time)) == time, "\(time)")
    }
  }

  @Test(
    "percent-encoding is undone, and invalid encoding is refused",
    arguments: [
      ("plain", "plain"), ("a%20b", "a b"), ("%e2%82%AC", "€"), ("+", "+"), ("%", nil), ("%2", nil), ("%zz", nil),
      ("%+1", nil), ("%ff", nil), ("%ef%bf%bd", "\u{FFFD}"), ("%c0%80", nil), ("%00", "\0"), ("", ""),
    ])
  func percent(text: String, expected: String?) {
    #expect(PercentCoding.decode(text[...]) == expected)
  }

  @Test("bytes of a URL that are not ASCII are encoded as they are, and nothing else is")
  func asciiURL() {
    #expect(PercentCoding.asciiURL([0x2F, 0xE9, 0x25, 0x32, 0x30, 0x20, 0x7F, 0x80, 0xFF]) == "/%E9%20 \u{7F}%80%FF")
    #expect(PercentCoding.asciiURL("/é?é#é".utf8) == "/%C3%A9?%C3%A9#%C3%A9")
  }

  @Test("a text that is percent-encoded holds unreserved characters alone, and comes back")
  func percentRoundTrip() {
    #expect(
      PercentCoding.encode("https://a.example/b c?d=é&~._-") == "https%3A%2F%2Fa.example%2Fb%20c%3Fd%3D%C3%A9%26~._-")
    for scalar in 0..<0x500 {
      let text = Unicode.Scalar(scalar).map { String($0) } ?? ""
      #expect(PercentCoding.decode(PercentCoding.encode(text)[...]) == text)
    }
  }

  @Test(
    "durations are shown roughly",
    arguments: [
      (0.0004, "0s"), (0.74, "740ms"), (5.23, "5.2s"), (200, "3m20s"), (7500, "2h5m"), (86_400, "1d"), (90_000, "1d1h"),
      (3605, "1h"),
    ])
  func roughly(seconds: Double, text: String) {
    #expect(Duration(clampingSeconds: seconds).roughly == text)
  }
}
