import RedialCore
import Testing

@testable import RedialModel

@Suite("Tallies of calls")
struct CallTallyTests {
  private static func tally(_ ends: [StoredState], attempts: [(Duration, Bool)]) -> CallTally {
    var tally = CallTally()
    for state in ends { tally.countEnd(state, isRetried: state == .succeeded) }
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
