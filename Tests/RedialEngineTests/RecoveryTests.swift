@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Recovery")
struct RecoveryTests {
  private static let id = CallID(rawValue: 1_796_083_000_000 << 20)

  private func cutOff(attempts: Int, interruptions: Int = 0, callback: Bool = false) -> RecoveredState {
    let began = Timestamp(microseconds: 1_796_083_199_000_000)
    return RecoveredState(
      running: [
        CallRecord(
          id: Self.id, kind: .call, spec: .test(callback: callback), body: [], createdAt: began,
          progress: CallProgress(
            state: .held, due: began, attempts: attempts, interruptions: interruptions, roundStartedAt: began))
      ],
      unfinished: 1, lastID: Self.id)
  }

  private func update(_ probe: EngineProbe) -> (CallProgress, AttemptRecord?)? {
    for case .update(Self.id, let progress, let attempt) in probe.written { return (progress, attempt) }
    return nil
  }

  @Test("an attempt that the last process was making is recorded as interrupted, not charged, and made again")
  func interrupted() throws {
    var probe = EngineProbe(recovered: cutOff(attempts: 3))
    #expect(probe.notices == [.recovered(unfinished: 1, interrupted: 1)])
    let (progress, attempt) = try #require(update(probe))
    #expect(progress.state == .held)
    #expect(progress.chargedAttempts == 2)
    #expect(attempt?.outcome == .interrupted)
    #expect(attempt?.number == 3)
    probe.advance(.seconds(1))
    #expect(probe.starts.map(\.number) == [4])
  }

  @Test("a call whose attempts are cut off again and again is given up in the end")
  func givesUp() throws {
    let probe = EngineProbe(
      EngineSettings(maxInterruptions: 2), recovered: cutOff(attempts: 3, interruptions: 2, callback: true))
    let (progress, _) = try #require(update(probe))
    #expect(progress.failure == .attemptsExhausted)
    #expect(probe.webhooks.count == 1)
  }

  @Test("identities go on above the highest of the last process")
  func identities() {
    let last = CallID(rawValue: Int64.max >> 4)
    var probe = EngineProbe(recovered: RecoveredState(lastID: last))
    #expect(probe.submit() > last)
  }

  @Test("what waited in a target's queue is taken from there in batches; without a share, new calls wait behind it")
  func queued() {
    var settings = EngineSettings(claimBatch: 10)
    settings.target.newCallShare = 0
    var probe = EngineProbe(
      settings,
      recovered: RecoveredState(queued: [(EngineProbe.target, 25)], unfinished: 25))
    guard case .claimQueued(EngineProbe.target, 10) = probe.requests.first?.body else {
      Issue.record("the queue was not asked for")
      return
    }
    let id = probe.submit()
    #expect(probe.state(id) == .queued)
  }

  @Test("calls that are due are taken at once")
  func due() {
    let due = Timestamp(microseconds: 1_796_083_100_000_000)
    let probe = EngineProbe(recovered: RecoveredState(nextDue: due, unfinished: 1))
    guard case .claimDue(let before, _) = probe.requests.first?.body else {
      Issue.record("what is due was not asked for")
      return
    }
    #expect(before > due)
  }
}
