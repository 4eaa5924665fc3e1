import RedialCore
import Testing

@Suite("Ratio budgets")
struct RatioBudgetTests {
  private let now = Timestamp(microseconds: 1_790_000_000_000_000)

  private func drained(_ budget: inout RetryBudget, at time: Timestamp) -> Int {
    var lent = 0
    while lent < 1000, budget.withdraw(for: .transient, at: time) != nil { lent += 1 }
    return lent
  }

  @Test("Finagle: an idle client has a hundred retries in ten seconds, and a fifth of its requests more")
  func finagle() {
    for (requests, retries) in [(0, 100), (4, 100), (5, 101), (100, 120), (1000, 300), (1004, 300)] {
      var budget = RetryBudget(.finagle)
      for _ in 0..<requests { budget.begin(at: now) }
      #expect(budget.balance(at: now) == Double(retries))
      #expect(drained(&budget, at: now) == retries, "\(requests) requests")
      #expect(budget.balance(at: now) == 0)
    }
  }

  @Test("without a minimum, retries are exactly the share of the requests")
  func shares() {
    for (share, requests, retries) in [
      (0.1, 9, 0), (0.1, 10, 1), (0.57, 100, 57), (0.2, 15, 3), (2, 7, 14), (0, 99, 0),
    ] {
      var budget = RetryBudget(.ratio(share: share, minimumPerSecond: 0, window: .seconds(10)))
      for _ in 0..<requests { budget.begin(at: now) }
      #expect(drained(&budget, at: now) == retries, "\(share) of \(requests)")
    }
  }

  @Test("requests count for one window")
  func expiry() {
    var budget = RetryBudget(.ratio(share: 0.5, minimumPerSecond: 0, window: .seconds(10)))
    for _ in 0..<10 { budget.begin(at: now) }
    #expect(budget.balance(at: now + .milliseconds(9999)) == 5)
    #expect(budget.balance(at: now + .seconds(10)) == 0)
  }

  @Test("an empty budget fills up as the retries leave the window, without a debt")
  func recovery() {
    var budget = RetryBudget(.finagle)
    #expect(drained(&budget, at: now) == 100)
    #expect(drained(&budget, at: now + .seconds(9)) == 0)
    #expect(drained(&budget, at: now + .seconds(10)) == 100)

    // The requests that paid for these retries are forgotten before the retries are.
    var later = RetryBudget(.ratio(share: 1, minimumPerSecond: 1, window: .seconds(10)))
    for _ in 0..<50 { later.begin(at: now) }
    #expect(drained(&later, at: now + .seconds(9)) == 60)
    #expect(later.balance(at: now + .seconds(10)) == 0)
    #expect(later.balance(at: now + .seconds(19)) == 10)
  }

  @Test("a retry that was never sent gives its place back; one that failed, succeeded or was ignored does not")
  func giveBack() throws {
    for outcome in RetryBudget.Outcome.allCases {
      var budget = RetryBudget(.finagle)
      let withdrawal = try budget.lend(for: .throttling, at: now)
      #expect(budget.balance(at: now) == 99)
      budget.end(outcome, of: withdrawal, at: now + .seconds(2))
      #expect(budget.balance(at: now + .seconds(2)) == (outcome == .neverSent ? 100 : 99), "\(outcome)")
    }
  }

  @Test("a retry given back after its place was forgotten frees no later one")
  func lateGiveBack() throws {
    var budget = RetryBudget(.finagle)
    let withdrawal = try budget.lend(for: .transient, at: now)
    let later = now + .seconds(10)
    #expect(budget.withdraw(for: .transient, at: later) != nil)
    budget.end(.neverSent, of: withdrawal, at: later)
    #expect(budget.balance(at: later) == 99)
  }

  @Test("a clock that steps back a little forgets nothing; one that jumps a year and back starts afresh")
  func clock() {
    var budget = RetryBudget(.finagle)
    _ = drained(&budget, at: now)
    #expect(drained(&budget, at: now + .seconds(-3)) == 0)
    #expect(drained(&budget, at: now + .seconds(365 * 86400)) == 100)
    #expect(drained(&budget, at: now) == 100)
  }
}
