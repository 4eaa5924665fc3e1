import RedialCore
import Testing

@Suite("Token budgets")
struct TokenBudgetTests {
  private let now = Timestamp(microseconds: 1_790_000_000_000_000)

  @Test("an amount is cut to three decimal places and clamped to 0...1000")
  func amounts() {
    let table: [(Double, Int)] = [
      (0.57, 570), (3.4567, 3456), (0.0009, 0), (1000, 1_000_000), (1001, 1_000_000), (-1, 0), (.nan, 0),
      (.infinity, 1_000_000), (-.infinity, 0), (0.1, 100), (0.29, 290), (1.001, 1001),
    ]
    for (tokens, thousandths) in table { #expect(Tokens(tokens).thousandths == thousandths, "\(tokens)") }
  }

  @Test("gRPC: a bucket of ten allows retries until the fifth failure, and again after the first success")
  func gRPC() {
    var budget = RetryBudget(.gRPC)
    for failure in 1...5 {
      budget.end(.failure, at: now)
      #expect((budget.withdraw(for: .transient, at: now) != nil) == (failure < 5), "failure \(failure)")
    }
    #expect(budget.balance(at: now) == 5)
    budget.end(.success, at: now)
    #expect(budget.balance(at: now) == 5.1)
    #expect(budget.withdraw(for: .throttling, at: now)?.cost == 0)
    #expect(budget.balance(at: now) == 5.1)
  }

  @Test("gRPC: a bucket of one thousand takes five hundred failures, and ten successes pay for one")
  func gRPCLargest() {
    var budget = RetryBudget(.tokens(.gRPC(capacity: 5000, tokenRatio: 0.1)))
    for _ in 0..<499 { budget.end(.failure, at: now) }
    #expect(budget.withdraw(for: .transient, at: now) != nil)
    budget.end(.failure, at: now)
    #expect(budget.balance(at: now) == 500)
    #expect(budget.withdraw(for: .transient, at: now) == nil)
    for _ in 0..<10 { budget.end(.success, at: now) }
    #expect(budget.balance(at: now) == 501)
  }

  @Test("gRPC: the success of a retry brings what the success of a first try brings")
  func gRPCRetrySuccess() throws {
    var budget = RetryBudget(.tokens(.gRPC(capacity: 10, tokenRatio: 0.5)))
    for _ in 0..<3 { budget.end(.failure, at: now) }
    let withdrawal = try budget.lend(for: .transient, at: now)
    budget.end(.success, of: withdrawal, at: now)
    #expect(budget.balance(at: now) == 7.5)
  }

  @Test(
    "AWS: 500 tokens are 35 retries at 14, or 100 at 5",
    arguments: [(RetryBudget.Cause.transient, 35, 10.0), (.throttling, 100, 0)])
  func aws(cause: RetryBudget.Cause, retries: Int, rest: Double) {
    var budget = RetryBudget(.aws)
    var lent = 0
    while lent < 1000, budget.withdraw(for: cause, at: now) != nil { lent += 1 }
    #expect(lent == retries)
    #expect(budget.balance(at: now) == rest)
  }

  @Test("AWS: the balance may be too small for one cause and enough for the other")
  func awsMixed() {
    var budget = RetryBudget(.aws)
    for _ in 0..<35 { _ = budget.withdraw(for: .transient, at: now) }
    let before = budget
    #expect(budget.withdraw(for: .transient, at: now) == nil)
    #expect(budget == before, "a refusal changes nothing")
    #expect(budget.withdraw(for: .throttling, at: now)?.cost == 5)
    #expect(budget.balance(at: now) == 5)
  }

  @Test("AWS: a retry that succeeds gets back what that retry cost, and no more of what went before")
  func awsRefund() throws {
    var budget = RetryBudget(.aws)
    budget.end(.failure, at: now)
    #expect(budget.balance(at: now) == 500)
    let first = try budget.lend(for: .transient, at: now)
    #expect(budget.balance(at: now) == 486, "paid before the wait")
    budget.end(.failure, of: first, at: now)
    #expect(budget.balance(at: now) == 486)
    let second = try budget.lend(for: .throttling, at: now)
    #expect(budget.balance(at: now) == 481)
    budget.end(.success, of: second, at: now)
    #expect(budget.balance(at: now) == 486)
    budget.end(.success, at: now)
    #expect(budget.balance(at: now) == 487, "a first try that succeeds brings one")
  }

  @Test("an unsent retry is given back, an ignored one stays spent, and neither changes anything else")
  func withoutVerdict() throws {
    var budget = RetryBudget(.aws)
    budget.end(.ignored, at: now)
    budget.end(.neverSent, at: now)
    #expect(budget == RetryBudget(.aws))
    let spent = try budget.lend(for: .transient, at: now)
    budget.end(.ignored, of: spent, at: now)
    #expect(budget.balance(at: now) == 486)
    let returned = try budget.lend(for: .transient, at: now)
    budget.end(.neverSent, of: returned, at: now)
    #expect(budget.balance(at: now) == 486)
  }

  @Test("a full bucket stays full, and an empty one empty")
  func bounds() {
    var full = RetryBudget(.aws)
    full.end(.success, at: now)
    #expect(full.balance(at: now) == 500)
    var empty = RetryBudget(.gRPC)
    for _ in 0..<20 { empty.end(.failure, at: now) }
    #expect(empty.balance(at: now) == 0)
  }

  @Test("an unlimited budget always allows retries, without cost")
  func unlimited() {
    var budget = RetryBudget(.unlimited)
    for _ in 0..<1000 { #expect(budget.withdraw(for: .transient, at: now)?.cost == 0) }
    #expect(budget.balance(at: now) == .infinity)
  }
}
