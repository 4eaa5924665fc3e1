@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("The failures that are usual for a target")
struct SavedUsualTests {
  /// An engine that has seen half of the calls to its target fail, and then stops.
  private func flaky() -> EngineProbe {
    var probe = EngineProbe()
    var policy = RetryPolicy.test
    policy.maxAttempts = 1
    for number in 0..<200 { probe.end(probe.submit(policy), status: number % 2 == 0 ? 200 : 500) }
    probe.hear(.drain)
    probe.commit()
    return probe
  }

  private func usual(_ probe: EngineProbe) -> UsualFailures? {
    probe.engine.roster.place(of: EngineProbe.target).map { probe.engine.roster.targets[$0].breaker.usual }
  }

  private func successor(_ record: TargetRecord) -> EngineProbe {
    EngineProbe(recovered: RecoveredState(targets: [(EngineProbe.target, record)]))
  }

  @Test("are known to the next process, also while the breaker is open")
  func recovery() throws {
    let probe = flaky()
    let learned = try #require(usual(probe))
    #expect(learned.share > 0.3)
    var record = try #require(probe.stored(of: EngineProbe.target))
    #expect(record.usual == UsualShare(learned))
    #expect(usual(successor(record))?.share == record.usual?.share)
    record.breaker = OpenBreaker(until: probe.now + .seconds(5), trips: 1)
    #expect(usual(successor(record))?.share == record.usual?.share)
  }

  @Test("are forgotten, also on disk, when an operator resets the target")
  func reset() throws {
    var probe = successor(try #require(flaky().stored(of: EngineProbe.target)))
    probe.control(.release)
    #expect(usual(probe)?.share ?? 0 > 0.3)
    probe.control(.reset)
    #expect(usual(probe)?.share == 0 && probe.stored(of: EngineProbe.target)?.usual == nil)
  }
}
