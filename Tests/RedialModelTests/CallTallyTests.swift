import RedialCore
import Testing

@testable import RedialModel

@Suite("Tallies of calls")
struct CallTallyTests {
  private static func tally(_ ends: [StoredState], attempts: [(Duration, Bool)]) -> CallTally {
    var tally = CallTally()
    for state in ends { tally.countEnd(state, isRetried: state == .succeeded, after: .seconds(2)) }
    for (duration, succeeded) in attempts { tally.countAttempt(duration, succeeded: succeeded, ended: succeeded) }
    return tally
  }

  @Test("the numbers of a tally contain all of it")
  func numbers() {
    var tally = Self.tally(
      [.succeeded, .succeeded, .failed, .cancelled, .held],
      attempts: [(.milliseconds(1), true), (.seconds(3), false), (.zero, true)])
    tally.countBacklog(7, for: .seconds(10))
    #expect(CallTally(numbers: tally.numbers) == tally)
    #expect((tally.succeeded, tally.retried, tally.failed, tally.cancelled) == (2, 2, 1, 1))
    #expect(tally.successRate == 2.0 / 3)
    #expect(tally.timesToSuccess.total == 2 && tally.timesToSuccess.microseconds == 4_000_000)
    // What earlier builds have stored: without a backlog, without times, and without retried calls.
    #expect(CallTally(numbers: Array(tally.numbers.dropLast()))?.timesToSuccess == tally.timesToSuccess)
    let earlier = CallTally(numbers: Array(tally.numbers.prefix(44)))
    #expect(earlier?.succeeded == 2 && earlier?.retried == 2 && earlier?.timesToSuccess == DurationTally())
    #expect(CallTally(numbers: Array(tally.numbers.prefix(43)))?.retried == 0)
    #expect(CallTally(numbers: Array(tally.numbers.dropLast(2))) == nil)
  }

  @Test("other numbers are not a tally", arguments: [[], [1, 2, 3], [-1] + Array(repeating: 0, count: 42)])
  func nonsense(numbers: [Int64]) {
    #expect(CallTally(numbers: numbers) == nil)
  }

  @Test("the backlog is an average over time, of all that counted it")
  func backlog() {
    var (one, other) = (CallTally(), CallTally())
    #expect(one.averageBacklog(over: .seconds(60)) == 0 && one.isEmpty)
    one.countBacklog(600, for: .seconds(10))
    other.countBacklog(60, for: .seconds(60))
    one.add(other)
    #expect(one.averageBacklog(over: .seconds(60)) == 160 && !one.isEmpty)
    #expect(one.averageBacklog(over: .zero) == 0)
    // Nothing overflows, and nothing counts backwards.
    one.countBacklog(.max, for: .seconds(1_000_000))
    one.add(one)
    #expect(CallTally(numbers: one.numbers) == one)
    other.countBacklog(-1, for: .seconds(-1))
    #expect(other.averageBacklog(over: .seconds(60)) == 60)
  }

  @Test("tallies add up, and an empty one has no rate")
  func sums() {
    let (one, other) = (Self.tally([.failed], attempts: [(.seconds(1), false)]), Self.tally([.succeeded], attempts: []))
    var sum = one
    sum.add(other)
    #expect(sum == Self.tally([.failed, .succeeded], attempts: [(.seconds(1), false)]))
    #expect(CallTally().successRate == nil && CallTally().isEmpty && !sum.isEmpty)
  }
}
