import RedialCore
import Testing

@testable import RedialModel

@Suite("Tallies of durations")
struct DurationTallyTests {
  @Test("a quantile is off by at most a fifth, from a millisecond to 12 days")
  func quantiles() throws {
    var random = RandomSource(seed: 7)
    for _ in 0..<200 {
      let length = pow2(random.unitInterval() * 29 - 9)
      var tally = DurationTally()
      tally.count(Duration(clampingSeconds: length))
      let median = try #require(tally.quantile(0.5)).inSeconds
      #expect(abs(median / length - 1) < 0.21, "\(length) \(median)")
    }
    var tally = DurationTally()
    for second in 1...1000 { tally.count(.seconds(second)) }
    for share in [0.5, 0.95, 0.99] {
      let found = try #require(tally.quantile(share)).inSeconds
      #expect(abs(found / (1000 * share) - 1) < 0.2, "\(share) \(found)")
    }
    #expect(DurationTally().quantile(0.5) == nil)
  }

  private func pow2(_ exponent: Double) -> Double {
    Double(sign: .plus, exponent: Int(exponent.rounded(.down)), significand: 1 + exponent - exponent.rounded(.down))
  }

  @Test("a bound belongs to its slot, and what is shorter or longer than all counts in the first or the last")
  func bounds() {
    func slot(_ time: Duration) -> Int? {
      var tally = DurationTally()
      tally.count(time)
      return tally.counts.firstIndex(of: 1)
    }
    // 2^0 s is the slot with the number 0 of a native histogram.
    #expect(
      slot(.seconds(1)) == -ExponentialBuckets.firstIndex
        && slot(.microseconds(1_000_001)) == 1 - ExponentialBuckets.firstIndex)
    #expect(
      slot(.milliseconds(708)) == -ExponentialBuckets.firstIndex
        && slot(.milliseconds(707)) == -ExponentialBuckets.firstIndex - 1
    )
    #expect(slot(.zero) == 0 && slot(.seconds(-5)) == 0 && slot(.microseconds(976)) == 0)
    #expect(slot(.seconds(400 * 86_400)) == 60)
  }

  @Test("the numbers contain all of it, and tallies add up without an overflow")
  func numbers() {
    var tally = DurationTally()
    #expect(DurationTally(numbers: tally.numbers) == tally)
    for time in [Duration.zero, .seconds(3), .seconds(3), .seconds(1_000_000)] { tally.count(time) }
    #expect(DurationTally(numbers: tally.numbers) == tally && tally.total == 4)
    #expect(DurationTally(numbers: [1, 2]) == nil)
    #expect(DurationTally(numbers: [-1] + Array(repeating: 0, count: 61)) == nil)
    var sum = tally
    sum.add(tally)
    #expect(sum.total == 8 && sum.microseconds == 2 * tally.microseconds)
    let most = DurationTally(numbers: [.max] + Array(repeating: Int64(UInt32.max), count: 61))
    sum.add(most ?? DurationTally())
    #expect(sum.microseconds == .max && sum.counts.allSatisfy { $0 == .max })
  }

  @Test("a target's successes count for a quarter of an hour, and its ends always")
  func ends() {
    let start = Timestamp(microseconds: 1_796_083_200_000_000)
    var ends = TargetEnds()
    ends.countStart(isRetry: false)
    ends.countStart(isRetry: true)
    ends.count(.succeeded, after: .seconds(4), at: start)
    ends.count(.failed, after: .seconds(100), at: start)
    ends.count(.succeeded, after: .seconds(60), at: start + .seconds(600))
    #expect(ends.timesToSuccess(at: start + .seconds(600)).total == 2)
    #expect(ends.timesToSuccess(at: start + .seconds(1000)).total == 1)
    ends.count(.cancelled, after: .zero, at: start + .seconds(1700))
    #expect(ends.timesToSuccess(at: start + .seconds(1700)).total == 0)
    #expect((ends.succeeded, ends.failed, ends.cancelled, ends.retries, ends.total) == (2, 1, 1, 1, 4))
  }

  @Test("calls are counted by how they ended and how long that took, each bucket with its last call")
  func durations() throws {
    var durations = CallDurations()
    let end = Timestamp(microseconds: 1_796_083_200_000_000)
    for (number, seconds) in [0.01, 0.011, 300, 301, 700_000].enumerated() {
      durations.count(
        .succeeded,
        CallDurations.Example(
          call: CallID(rawValue: Int64(number + 1)), traceparent: nil, time: Duration(clampingSeconds: seconds), at: end
        ))
    }
    let ends = try #require(durations[.succeeded])
    let counted = ends.counts.enumerated().filter { $0.element > 0 }.map(\.offset)
    #expect(counted == [0, 1, 12, 13, CallDurations.bounds.count] && ends.tally.total == 5)
    #expect(ends.examples[12]?.call.rawValue == 3 && ends.examples[5] == nil)
    #expect(durations[.failed]?.tally.total == 0 && durations[.running] == nil)
  }
}
