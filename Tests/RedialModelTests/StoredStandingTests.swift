import RedialCore
import RedialModel
import Testing

@Suite("What a store knows of a target")
struct StoredStandingTests {
  private let now = Timestamp(microseconds: 1_000_000_000)

  @Test("is a breaker that is open, or half-open once its time is over, unless an operator holds it open")
  func breaker() {
    var stored = StoredStanding(openUntil: now + .seconds(1))
    #expect(stored.standing(at: now).breaker == .open(until: now + .seconds(1)))
    #expect(stored.standing(at: now + .seconds(1)).breaker == .halfOpen)
    stored.isTripped = true
    #expect(stored.standing(at: now).breaker == .tripped)
    #expect(StoredStanding().standing(at: now) == TargetStanding())
    #expect(StoredStanding(askedUntil: now).standing(at: now) == TargetStanding(retryAfterUntil: now))
    #expect(StoredStanding(isPaused: true).standing(at: now) == TargetStanding(isPaused: true))
  }

  @Test("is a limited pace for as long as its next owner would use it")
  func pace() {
    let stored = StoredStanding(limitedAt: now)
    #expect(stored.standing(at: now + .seconds(299)).isPaced)
    #expect(!stored.standing(at: now + .seconds(300)).isPaced)
  }
}
