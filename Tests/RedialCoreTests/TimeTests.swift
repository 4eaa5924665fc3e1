import RedialCore
import Testing

@Suite("Time saturates")
struct TimeTests {
  @Test("no sum of an instant and a wait traps")
  func sums() {
    let times = [Int64.min, -1, 0, 1, .max].map { Timestamp(microseconds: $0) }
    let waits: [Duration] = [.longest, .seconds(Int64.max), .seconds(Int64.min), .zero, .microseconds(-1)]
    for time in times {
      for wait in waits {
        let sum = time + wait
        if wait > .zero { #expect(sum >= time) } else { #expect(sum <= time) }
      }
      for other in times { #expect((time - other >= .zero) == (time >= other)) }
    }
    #expect(Timestamp(microseconds: 5) + .seconds(2) == Timestamp(microseconds: 2_000_005))
  }

  @Test(
    "seconds are clamped before a Duration exists",
    arguments: [
      (1e30, Duration.longest), (.infinity, .longest), (.nan, .zero), (-1, .zero), (0, .zero),
      (1.5, .milliseconds(1500)),
      (0.000_000_4, .zero), (0.000_000_6, .microseconds(1)),
    ])
  func clamping(seconds: Double, expected: Duration) {
    #expect(Duration(clampingSeconds: seconds) == expected)
  }

  @Test("the earliest and the latest instant have a date")
  func dates() {
    #expect(CivilTime(Timestamp(microseconds: .min)).year < -290_000)
    #expect(CivilTime(.distantFuture).year > 290_000)
    #expect(CivilTime(Timestamp(microseconds: -1)).year == 1969)
    #expect(CivilTime(Timestamp(microseconds: .min)).timestamp == Timestamp(microseconds: .min))
    var never = CivilTime(.epoch)
    never.year = .max
    #expect(never.timestamp == .distantFuture)
  }

  @Test("whole microseconds are clamped, too")
  func microseconds() {
    for whole in [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max] {
      #expect(Duration.microseconds(whole).wholeMicroseconds == whole)
    }
    #expect((Duration.longest - .nanoseconds(1)).wholeMicroseconds == .max - 1)
    #expect((Duration.seconds(Int64.max) * 10).wholeMicroseconds == .max)
    #expect((Duration.seconds(Int64.min) * 10).wholeMicroseconds == .min)
    #expect(Duration.nanoseconds(-1999).wholeMicroseconds == -1)
    #expect(Duration.seconds(Int64.max).wholeMicroseconds == .max)
    #expect(Duration.seconds(Int64.min).wholeMicroseconds == .min)
    #expect(Duration.nanoseconds(1999).wholeMicroseconds == 1)
  }
}
