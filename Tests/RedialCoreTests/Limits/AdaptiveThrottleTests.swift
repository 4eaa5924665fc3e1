import RedialCore
import Testing

@Suite("Throttling by the accepted share")
struct AdaptiveThrottleTests {
  private func at(_ milliseconds: Int) -> Timestamp { .epoch + .seconds(1_000_000) + .milliseconds(milliseconds) }

  @Test("the probability is the formula's, and nothing is refused while one in k is accepted")
  func formula() {
    var throttle = AdaptiveThrottle()
    var random = RandomSource(seed: 1)
    #expect(throttle.refusalProbability(at: at(0)) == 0)
    // Those in flight do not count.
    for _ in 0..<100 { #expect(throttle.admits(at: at(0), using: &random)) }
    for number in 0..<10 { throttle.record(wasAccepted: number % 2 == 0, at: at(number)) }
    #expect(throttle.refusalProbability(at: at(10)) == 0)
    for number in 10..<30 { throttle.record(wasAccepted: false, at: at(number)) }
    // 30 wanted, 5 accepted.
    #expect(throttle.refusalProbability(at: at(30)) == 20.0 / 31)
    while throttle.admits(at: at(30), using: &random) {}
    #expect(throttle.refusalProbability(at: at(30)) == 21.0 / 32)
    // After the window all is forgotten.
    #expect(throttle.refusalProbability(at: at(200_000)) == 0)
    #expect(AdaptiveThrottle(multiplier: .nan).multiplier == 1.1 && AdaptiveThrottle(multiplier: 0).multiplier == 1.1)
  }

  /// A target that accepts five in each tenth of a second; what it accepts and refuses in the second half of a minute.
  private func run(_ wanted: Int, throttled: Bool, downUntil: Int = 0) -> (accepted: Int, refused: Int) {
    var throttle = AdaptiveThrottle(window: .seconds(10))
    var random = RandomSource(seed: 7)
    var (accepted, refused) = (0, 0)
    for step in 0..<600 {
      let capacity = step < downUntil ? 0 : 5
      var taken = 0
      for number in 0..<wanted {
        let now = at(step * 100 + number)
        guard !throttled || throttle.admits(at: now, using: &random) else { continue }
        if taken < capacity {
          taken += 1
          throttle.record(wasAccepted: true, at: now)
          if step >= 300 { accepted += 1 }
        } else {
          throttle.record(wasAccepted: false, at: now)
          if step >= 300 { refused += 1 }
        }
      }
    }
    return (accepted, refused)
  }

  @Test("an overloaded target still works at its capacity, and refuses a fraction of what it would without")
  func overload() {
    for load in [12, 20, 50] {
      let (with, without) = (run(load, throttled: true), run(load, throttled: false))
      #expect(without.accepted == 1500)
      #expect(with.accepted > 1425, "\(load): \(with)")
      // With k = 2 it gets about twice what it accepts.
      #expect(with.refused < 2000 && with.refused < without.refused, "\(load): \(with), \(without)")
    }
  }

  @Test("a target that takes its load is not throttled, nor one that was down, once it has recovered")
  func healthy() {
    #expect(run(5, throttled: true) == (1500, 0))
    // Down until ten seconds before the half: one window. After the next it gets all.
    let after = run(5, throttled: true, downUntil: 200)
    #expect(after.accepted > 1300, "\(after)")
  }
}
