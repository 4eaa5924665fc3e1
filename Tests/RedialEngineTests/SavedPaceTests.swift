@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("What a pace has learned")
struct SavedPaceTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  private func paces(_ probe: EngineProbe) -> [SavedPace] {
    var paces: [SavedPace] = []
    for case .target(EngineProbe.target, let record) in probe.written {
      if let pace = record.pace, pace != paces.last { paces.append(pace) }
    }
    return paces
  }

  private func pace(_ probe: EngineProbe) -> AdaptivePace? {
    probe.engine.roster.place(of: EngineProbe.target).flatMap { probe.engine.roster.targets[$0].limits.pace }
  }

  private func recovered(limited: Bool, _ age: Duration, breaker: OpenBreaker? = nil) -> EngineProbe {
    let pace = SavedPace(
      delivered: 80, isLimited: limited, at: Timestamp(microseconds: Self.start.microseconds - age.wholeMicroseconds))
    let state = RecoveredState(targets: [(EngineProbe.target, TargetRecord(breaker: breaker, pace: pace))])
    return EngineProbe(recovered: state)
  }

  @Test("begins the pace of the next owner at what was delivered, if there was a limit within five minutes")
  func limit() {
    #expect(pace(recovered(limited: true, .seconds(299)))?.rate == 80)
    #expect(pace(recovered(limited: true, .seconds(301)))?.rate == nil)
    #expect(pace(recovered(limited: false, .seconds(1)))?.rate == nil)
  }

  @Test("is what an outage across the restart ends with")
  func outage() {
    let open = OpenBreaker(until: Self.start + .seconds(5), trips: 1)
    var probe = recovered(limited: false, .seconds(1000), breaker: open)
    #expect(pace(probe)?.rate == nil)
    let id = probe.submit()
    probe.advance(.seconds(6))
    probe.end(id, status: 200)
    #expect(pace(probe)?.rate == 80)
    #expect(paces(probe).last?.isLimited == true)
  }

  @Test("is saved when a limit is new or lifted, when the breaker changes, and else every ten seconds with a limit")
  func occasions() {
    func saved(_ seconds: Int, isLimited: Bool, delivered: Double = 5) -> SavedPace {
      SavedPace(delivered: delivered, isLimited: isLimited, at: Self.start + .seconds(seconds))
    }
    let limited = saved(0, isLimited: true)
    #expect(PaceOccasion.attempt.isDue(limited, after: nil))
    #expect(!PaceOccasion.attempt.isDue(saved(9, isLimited: true), after: limited))
    #expect(PaceOccasion.attempt.isDue(saved(10, isLimited: true), after: limited))
    #expect(PaceOccasion.attempt.isDue(saved(1, isLimited: false), after: limited))
    #expect(!PaceOccasion.attempt.isDue(saved(60, isLimited: false), after: nil))
    #expect(PaceOccasion.change.isDue(saved(1, isLimited: true), after: limited))
    #expect(!PaceOccasion.change.isDue(saved(1, isLimited: false, delivered: 0), after: nil))
  }

  @Test("is saved as a limit when an outage ends, and for the next owner when the service stops")
  func changes() {
    var probe = EngineProbe(.tripsAfterTwo())
    for id in (0..<2).map({ _ in probe.submit() }) { probe.end(id, status: 502) }
    let id = probe.submit()
    probe.advance(.seconds(6))
    #expect(paces(probe).isEmpty)
    probe.end(id, status: 200)
    #expect(paces(probe).map(\.isLimited) == [true])
    probe.advance(.seconds(1))
    probe.hear(.drain)
    probe.commit()
    #expect(paces(probe).map(\.isLimited) == [true, true])
  }

  @Test(
    "of a breaker that an operator closes, it limits nothing", arguments: [TargetCommand.Kind.reset, .release])
  func operators(_ kind: TargetCommand.Kind) {
    var probe = EngineProbe(.tripsAfterTwo())
    for id in (0..<2).map({ _ in probe.submit() }) { probe.end(id, status: 502) }
    #expect(pace(probe)?.rate == nil)
    probe.advance(.seconds(6))
    probe.hear(.targetCommand(TargetCommand(kind, EngineProbe.target, reply: ReplyToken(rawValue: 999))))
    probe.commit()
    #expect(pace(probe)?.rate == nil)
    #expect(paces(probe).allSatisfy { !$0.isLimited })
  }
}
