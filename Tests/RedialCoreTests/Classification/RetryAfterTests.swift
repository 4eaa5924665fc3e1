import RedialCore
import Testing

@Suite("Retry-After and HTTP-dates")
struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110 section 5.6.7.
  static let example = Timestamp(microseconds: 784_111_777_000_000)

  private func parse(_ text: String, at now: Timestamp = example) -> Duration? {
    RetryAfter.parse(ArraySlice(text.utf8), at: now)
  }

  @Test(
    "seconds are read, and saturate",
    arguments: [
      ("0", Duration.zero), ("120", .seconds(120)), ("007", .seconds(7)), ("99999999999999999999999999", .longest),
    ])
  func seconds(text: String, expected: Duration) {
    #expect(parse(text) == expected)
  }

  @Test(
    "the three forms of a date are one instant",
    arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
  func dates(text: String) {
    #expect(HTTPDate.parse(ArraySlice(text.utf8), at: Self.example) == Self.example)
    let earlier = Timestamp(microseconds: Self.example.microseconds - 90_000_000)
    #expect(parse(text, at: earlier) == .seconds(90))
    #expect(parse(text, at: Self.example + .seconds(1)) == .zero, "a date that has passed is 0")
  }

  @Test("a two-digit year more than 50 years ahead is of the past century (RFC 9110 section 5.6.7)")
  func century() throws {
    let now = Timestamp(microseconds: 1_790_000_000_000_000)
    let soon = try #require(HTTPDate.parse(ArraySlice("Friday, 06-Nov-76 08:49:37 GMT".utf8), at: now))
    #expect(CivilTime(soon).year == 2076)
    let past = try #require(HTTPDate.parse(ArraySlice("Friday, 06-Nov-77 08:49:37 GMT".utf8), at: now))
    #expect(CivilTime(past).year == 1977)
  }

  @Test(
    "anything else is not a value",
    arguments: [
      "", "-1", "+1", "1.0", "1e3", "0x10", "inf", "nan", "1s", " ", "\t \t", "1 2", "1\r\n", "soon",
      "Sun, 06 Nov 1994 08:49:37",
      "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 2027 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
      "Sun Nov 6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 GMTx", "1994-11-06T08:49:37Z", "Sun,", "Sun", "é",
    ])
  func junk(text: String) {
    #expect(parse(text) == nil)
  }

  @Test(
    "of several waits the longest counts, and what is none does not",
    arguments: [
      ("5", 5000), ("1, 2", 2000), ("2 ,1", 2000), ("1.5", 1500), ("0.0000001, .5, 5.", 0), ("soon, 3", 3000),
      ("3, -9", 3000),
      ("", nil), (",", nil), ("soon", nil), ("1.5.5", nil), ("1.2345678", 1234.567),
      ("Sun, 06 Nov 1994 08:49:47 GMT, 3", 10_000), ("3, Sun, 06 Nov 1994 08:49:47 GMT", 10_000),
      ("12, Sun Nov  6 08:49:47 1994", 12_000),
      ("Sun, 06 Nov 1994 08:49:47 GMT, Sunday, 06-Nov-94 08:49:57 GMT", 20_000), ("Sun, 06 Nov 1994 08:49:27 GMT", 0),
    ] as [(String, Double?)])
  func several(text: String, milliseconds: Double?) {
    let found = RetryAfter.longest(in: ArraySlice(text.utf8), at: Self.example)
    #expect(found == milliseconds.map { .microseconds(Int64(($0 * 1000).rounded())) })
  }

  @Test("a wait without an end is the longest")
  func endless() {
    #expect(RetryAfter.longest(in: ArraySlice("5, 99999999999999999999.5".utf8), at: Self.example) == .longest)
  }

  @Test("blanks and tabs around the value do not count", arguments: [" 7", "7 ", "\t7", " \t 7 \t "])
  func blanks(text: String) {
    #expect(parse(text) == .seconds(7))
    let earlier = Timestamp(microseconds: Self.example.microseconds - 90_000_000)
    for date in ["  Sun, 06 Nov 1994 08:49:37 GMT\t", " Sun Nov  6 08:49:37 1994 "] {
      #expect(parse(date, at: earlier) == .seconds(90))
    }
    #expect(RetryDirective.parse(ArraySlice(text.replacing("7", with: "stop").utf8)) == .stop)
  }

  @Test("no bytes make it trap")
  func fuzz() {
    let seeds = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "120"]
    var random = RandomSource(seed: 3)
    for _ in 0..<20_000 {
      var bytes = Array(seeds[Int(random.next() % 4)].utf8)
      for _ in 0...(random.next() % 3) {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        }
        if bytes.isEmpty { bytes = [0x30] }
      }
      if let wait = RetryAfter.parse(bytes[...], at: Self.example) { #expect(wait >= .zero) }
    }
  }

  @Test("civil times and timestamps agree, over eight thousand years")
  func civil() {
    var random = RandomSource(seed: 11)
    for _ in 0..<20_000 {
      let seconds = Int64(random.next() % 253_402_300_800) - 62_135_596_800
      let time = Timestamp(microseconds: seconds * 1_000_000)
      let civil = CivilTime(time)
      #expect(civil.timestamp == time)
      #expect(CivilTime.days(in: civil.month, of: civil.year) >= civil.day)
    }
    #expect(CivilTime(Timestamp(microseconds: 951_782_400_000_000)).day == 29, "2000 was a leap year")
    #expect(CivilTime(year: 2100, month: 2, day: 29, hour: 0, minute: 0, second: 0) == nil)
  }

  @Test(
    "a date begins with the name of a day",
    arguments: ["Xyz, 06 Nov 2094 08:49:37 GMT", "Blahblah, 06-Nov-94 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT"])
  func weekdays(text: String) {
    #expect(parse(text) == nil)
  }
}
