import RedialCore
import Testing

@testable import RedialPostgres

@Suite("From when on due calls are looked for")
struct ClaimFloorTests {
  private let began = ContinuousClock.now
  private var floor = ClaimFloor()

  private func second(_ number: Int64) -> Timestamp { Timestamp(microseconds: number * 1_000_000) }

  /// One look, from `start` on for `took`, that claims what is due before `time`.
  private mutating func look(
    after time: Duration, _ took: Duration, claimed: Timestamp?, next: Timestamp? = nil
  ) -> Timestamp? {
    let start = floor.begin(at: began + time)
    floor.end(next: next, claimed: claimed, at: began + time + took)
    return start
  }

  @Test("as long as looks at all calls are cheap, each is one")
  mutating func cheap() {
    for number in 0..<5 {
      #expect(look(after: .milliseconds(20 * number), .milliseconds(20), claimed: second(100)) == nil)
    }
  }

  @Test("after a look at all calls that took long, others begin where it left nothing, for twenty times as long")
  mutating func rest() {
    #expect(look(after: .zero, .milliseconds(100), claimed: second(100)) == nil)
    #expect(look(after: .milliseconds(100), .milliseconds(100), claimed: second(101)) == second(98))
    #expect(look(after: .milliseconds(2099), .zero, claimed: second(102)) == second(99))
    #expect(look(after: .milliseconds(2100), .seconds(5), claimed: second(103)) == nil)
    #expect(look(after: .milliseconds(17_099), .zero, claimed: second(104)) == second(101))
    #expect(look(after: .milliseconds(17_100), .zero, claimed: second(105)) == nil)
  }

  @Test("calls that a look has left are found by the next one")
  mutating func left() {
    _ = look(after: .zero, .seconds(1), claimed: second(100), next: second(40))
    #expect(look(after: .seconds(1), .zero, claimed: second(100), next: second(60)) == second(40))
    #expect(look(after: .seconds(1), .zero, claimed: second(100), next: second(200)) == second(60))
    #expect(floor.begin(at: began + .seconds(1)) == second(98))
  }

  @Test("a look that claims nothing changes nothing, unless it finds a call that is due earlier")
  mutating func other() {
    _ = look(after: .zero, .seconds(1), claimed: second(100))
    _ = look(after: .seconds(1), .zero, claimed: nil, next: second(200))
    #expect(look(after: .seconds(1), .zero, claimed: nil, next: second(50)) == second(98))
    #expect(floor.begin(at: began + .seconds(1)) == second(50))
  }

  @Test("calls that are stored with an earlier due time are found, also if they are stored behind a claim in flight")
  mutating func stored() {
    _ = look(after: .zero, .seconds(1), claimed: second(100))
    floor.store(due: second(70))
    floor.store(due: second(80))
    #expect(floor.begin(at: began + .seconds(1)) == second(70))
    floor.store(due: second(30))
    floor.end(next: nil, claimed: second(100), at: began + .seconds(1))
    #expect(look(after: .seconds(1), .zero, claimed: second(100)) == second(30))
    #expect(floor.begin(at: began + .seconds(1)) == second(98))
  }

  @Test("after a failure the next look is at all calls")
  mutating func forgotten() {
    _ = look(after: .zero, .seconds(1), claimed: second(100))
    floor.forget()
    #expect(floor.begin(at: began + .seconds(1)) == nil)
  }
}
