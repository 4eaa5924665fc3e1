import RedialCore

@main struct CoreCommand {
  static func main() {
    let policy = RetryPolicy(maxAttempts: 5)
    var random = RandomSource(seed: 7)
    let now = Timestamp(microseconds: 1_790_000_000_000_000)
    let end = AttemptEnd(outcome: .answered, status: 503, retryAfter: nil, attempts: 1, startedAt: now)
    print(policy.decide(end, at: now, using: &random).action)
  }
}
