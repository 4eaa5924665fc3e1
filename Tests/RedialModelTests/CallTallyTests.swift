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
    let tally = Self.tally(
      [.succeeded, .succeeded, .failed, .cancelled, .held],
      attempts: [(.milliseconds(1), true), (.seconds(3), false), (.zero, true)])
    #expect(CallTally(numbers: tally.numbers) == tally)
    #expect((tally.succeeded, tally.retried, tally.failed, tally.cancelled) == (2, 2, 1, 1))
    #expect(tally.successRate == 2.0 / 3)
    #expect(tally.timesToSuccess.total == 2 && tally.timesToSuccess.microseconds == 4_000_000)
    // What earlier builds have stored: without times, and without retried calls.
    let earlier = CallTally(numbers: Array(tally.numbers.prefix(44)))
    #expect(earlier?.succeeded == 2 && earlier?.retried == 2 && earlier?.timesToSuccess == DurationTally())
    #expect(CallTally(numbers: Array(tally.numbers.prefix(43)))?.retried == 0)
    #expect(CallTally(numbers: Array(tally.numbers.dropLast())) == nil)
  }

  @Test("other numbers are not a tally", arguments: [[], [1, 2, 3], [-1] + Array(repeating: 0, count: 42)])
  func nonsense(numbers: [Int64]) {
    #expect(CallTally(numbers: numbers) == nil)
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
