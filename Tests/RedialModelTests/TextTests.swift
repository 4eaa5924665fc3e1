import Foundation
import RedialCore
import Testing

@testable import RedialModel

@Suite("Durations, instants, base 64 and ids as text")
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

  @Test("base 64 agrees with Foundation's, and is stricter than none")
  func base64() {
    var random = RandomSource(seed: 9)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let text = Base64.encode(bytes)
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decode(text) == bytes)
    }
    for text in ["A", "AA", "AAA", "AAA=A", "A===", "AA=A", "====", "QUJD\n", "QQ-_", "QR==", "QUF=", "Q Q="] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }

  @Test("ids are read back from their text, in either case, and sort in their order")
  func ids() {
    var source = CallIDSource(instance: 3)
    let now = Timestamp(microseconds: 1_790_000_000_123_456)
    // More than a millisecond's sequence, and a clock that goes back.
    let ids = (0..<3000).map { number in
      source.next(at: number % 100 == 99 ? Timestamp(microseconds: now.microseconds - 50_000) : now)
    }
    #expect(Set(ids).count == 3000)
    #expect(ids == ids.sorted())
    #expect(ids.map(\.description) == ids.map(\.description).sorted())
    for id in ids {
      #expect(CallID(id.description) == id)
      #expect(CallID("call_" + id.characters.lowercased()) == id)
    }
    #expect(ids[0].createdAt == Timestamp(microseconds: 1_790_000_000_123_000))
    for text in [
      "", "call_", "1M7YBET2A0000", "call_1M7YBET2A000", "call_1M7YBET2A00000", "call_1M7YBET2A000U",
      "msg_1M7YBET2A0000",
      "call_ZZZZZZZZZZZZZ", "call_1M7YBET2A00é",
    ] { #expect(CallID(text) == nil, "\(text)") }
    #expect(CallID("call_7ZZZZZZZZZZZZ")?.rawValue == .max)
  }

  @Test("a source continues above the last id")
  func after() {
    let last = CallID(rawValue: 1_900_000_000_000 << 20)
    var source = CallIDSource(after: last)
    #expect(source.next(at: Timestamp(microseconds: 1_790_000_000_000_000)) > last)
  }
}
