import RedialCore
import Testing

/// Random histories of a budget, checked against a plain account of what happened.
@Suite("Retry budgets over random events")
struct RetryBudgetPropertyTests {
  private struct History {
    var random: RandomSource
    var budget: RetryBudget
    var now = Timestamp(microseconds: 1_790_000_000_000_000)
    var waiting: [RetryBudget.Withdrawal] = []
    var firstTries = 0
    var begun: [Timestamp] = []
    var lent: [Timestamp] = []
    var returned = 0

    init(_ rule: RetryBudget.Rule, seed: UInt64) {
      random = RandomSource(seed: seed)
      budget = RetryBudget(rule)
    }

    enum Step { case began, ended, lent, refused }

    mutating func step() -> Step {
      now = now + .milliseconds(Int.random(in: 0...400, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        budget.begin(at: now)
        firstTries += 1
        begun.append(now)
        return .began
      case 1:
        guard let withdrawal = budget.withdraw(for: Bool.random(using: &random) ? .transient : .throttling, at: now)
        else { return .refused }
        waiting.append(withdrawal)
        lent.append(now)
        return .lent
      default:
        let outcome = RetryBudget.Outcome.allCases.randomElement(using: &random) ?? .success
        if firstTries > 0, Bool.random(using: &random) {
          firstTries -= 1
          budget.end(outcome, at: now)
        } else if !waiting.isEmpty {
          let withdrawal = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
          budget.end(outcome, of: withdrawal, at: now)
          if outcome == .neverSent, let index = lent.firstIndex(of: withdrawal.withdrawnAt) { lent.remove(at: index) }
        }
        return .ended
      }
    }
  }

  @Test("a bucket is never below zero or above its capacity, and allows retries exactly while its balance is enough")
  func tokens() throws {
    for seed in UInt64(0)..<600 {
      var random = RandomSource(seed: ~seed)
      let capacity = Int.random(in: 0...60, using: &random)
      func amount(_ most: Double) -> Tokens { Tokens(Double.random(in: 0...most, using: &random)) }
      let rule = TokenRule(
        capacity: Tokens(Double(capacity)), threshold: amount(20), failureCost: amount(3), transientCost: amount(14),
        throttlingCost: amount(5), firstSuccess: amount(3),
        retrySuccess: Bool.random(using: &random) ? .refund : .deposit(amount(3)))
      var history = History(.tokens(rule), seed: seed)
      for _ in 0..<200 {
        let before = history.budget.balance(at: history.now)
        let step = history.step()
        let after = history.budget.balance(at: history.now)
        try #require(after >= 0 && after <= Double(capacity), "seed \(seed)")
        switch step {
        case .lent: try #require(Tokens(before) > rule.threshold && after <= before, "seed \(seed)")
        case .refused:
          try #require(before == after, "seed \(seed)")
          let dearest = max(rule.transientCost, rule.throttlingCost)
          try #require(Tokens(before) <= rule.threshold || Tokens(before) < dearest, "seed \(seed)")
        case .began: try #require(before == after, "seed \(seed)")
        case .ended: break
        }
      }
    }
  }

  @Test("within a window there are never more retries than the share of its requests and the minimum")
  func ratio() throws {
    var refusals = 0
    for seed in UInt64(0)..<600 {
      var random = RandomSource(seed: ~seed)
      let percent = Int.random(in: 0...100, using: &random)
      let perSecond = Int.random(in: 0...2, using: &random)
      var history = History(
        .ratio(share: Double(percent) / 100, minimumPerSecond: perSecond, window: .seconds(10)), seed: seed)
      for _ in 0..<300 {
        let step = history.step()
        let balance = history.budget.balance(at: history.now)
        try #require(balance >= 0, "seed \(seed)")
        // Buckets of a second: the window holds the current one and the nine before it.
        let oldest = history.now.microseconds / 1_000_000 - 9
        let requests = history.begun.count { $0.microseconds / 1_000_000 >= oldest }
        let retries = history.lent.count { $0.microseconds / 1_000_000 >= oldest }
        let allowed = requests * percent / 100 + perSecond * 10
        try #require(balance == Double(max(0, allowed - retries)), "seed \(seed)")
        switch step {
        case .lent: try #require(retries <= allowed, "seed \(seed)")
        case .refused:
          refusals += 1
          try #require(retries >= allowed, "seed \(seed)")
        case .began, .ended: break
        }
      }
    }
    try #require(refusals > 1000, "the histories come to the limit")
  }

  @Test("there are never more retries in flight than the share of active requests, or the minimum")
  func concurrent() throws {
    var refusals = 0
    for seed in UInt64(0)..<600 {
      var random = RandomSource(seed: ~seed)
      let percent = Int.random(in: 0...100, using: &random)
      let minimum = Int.random(in: 0...4, using: &random)
      var history = History(.concurrent(share: Double(percent) / 100, minimum: minimum), seed: seed)
      for _ in 0..<200 {
        let step = history.step()
        let retries = history.waiting.count
        let active = history.firstTries + retries
        let allowed = max(minimum, active * percent / 100)
        try #require(history.budget.balance(at: history.now) == Double(max(0, allowed - retries)), "seed \(seed)")
        switch step {
        // The retry itself was not active yet when it was judged.
        case .lent: try #require(retries <= max(minimum, (active - 1) * percent / 100), "seed \(seed)")
        case .refused:
          refusals += 1
          try #require(retries >= allowed, "seed \(seed)")
        case .began, .ended: break
        }
      }
    }
    try #require(refusals > 1000, "the histories come to the limit")
  }

  @Test("the same history gives the same budget")
  func determinism() throws {
    for rule in [RetryBudget.Rule.gRPC, .aws, .finagle, .envoy, .unlimited] {
      for seed in UInt64(0)..<50 {
        var histories = [History(rule, seed: seed), History(rule, seed: seed)]
        for _ in 0..<100 {
          let steps = histories.indices.map { histories[$0].step() }
          try #require(steps[0] == steps[1], "seed \(seed)")
        }
        try #require(histories[0].budget == histories[1].budget, "seed \(seed)")
        try #require(histories[0].budget.hashValue == histories[1].budget.hashValue, "seed \(seed)")
      }
    }
  }
}
