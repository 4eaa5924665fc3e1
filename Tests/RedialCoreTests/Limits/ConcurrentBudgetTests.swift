import RedialCore
import Testing

@Suite("Concurrent budgets")
struct ConcurrentBudgetTests {
  private let now = Timestamp.epoch

  @Test("Envoy: retries are a fifth of what is active, and three if that is more")
  func envoy() {
    for (active, retries) in [(0, 3), (5, 3), (16, 3), (17, 4), (20, 4), (80, 19), (100, 24)] {
      var budget = RetryBudget(.envoy)
      for _ in 0..<active { budget.begin(at: now) }
      var lent = 0
      while lent < 1000, budget.withdraw(for: .transient, at: now) != nil { lent += 1 }
      // Retries are active too, once lent: the r-th is if r ≤ 0.2 · (active + r − 1).
      #expect(lent == retries, "\(active) active")
      #expect(budget.balance(at: now) == 0)
    }
  }

  @Test("a retry keeps its place from its withdrawal to its end, whatever that is")
  func places() throws {
    for outcome in RetryBudget.Outcome.allCases {
      var budget = RetryBudget(.envoy)
      let first = try budget.lend(for: .transient, at: now)
      _ = budget.withdraw(for: .transient, at: now)
      _ = budget.withdraw(for: .throttling, at: now)
      #expect(budget.withdraw(for: .transient, at: now) == nil)
      budget.end(outcome, of: first, at: now)
      #expect(budget.withdraw(for: .transient, at: now) != nil, "\(outcome)")
      #expect(budget.withdraw(for: .transient, at: now) == nil, "\(outcome)")
    }
  }

  @Test("first attempts that end remove their share")
  func shrinking() {
    var budget = RetryBudget(.concurrent(share: 0.5, minimum: 0))
    #expect(budget.withdraw(for: .transient, at: now) == nil)
    for _ in 0..<4 { budget.begin(at: now) }
    #expect(budget.balance(at: now) == 2)
    for _ in 0..<3 { budget.end(.failure, at: now) }
    #expect(budget.balance(at: now) == 0)
  }

  @Test("a share of what is active does not shrink to nothing when all fails")
  func allFails() {
    var budget = RetryBudget(.envoy)
    for _ in 0..<20 { budget.begin(at: now) }
    for _ in 0..<20 { budget.end(.failure, at: now) }
    for _ in 0..<100 {
      let retries = (0..<4).compactMap { _ in budget.withdraw(for: .transient, at: now) }
      #expect(retries.count == 3)
      for retry in retries { budget.end(.failure, of: retry, at: now) }
    }
  }

  @Test("ends without a beginning change nothing")
  func unbalanced() throws {
    var budget = RetryBudget(.envoy)
    let withdrawal = try budget.lend(for: .transient, at: now)
    for _ in 0..<9 { budget.end(.success, of: withdrawal, at: now) }
    for _ in 0..<9 { budget.end(.success, at: now) }
    #expect(budget == RetryBudget(.envoy))
  }
}
