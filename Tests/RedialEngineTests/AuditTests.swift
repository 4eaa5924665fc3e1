import RedialModel
import Testing

@testable import RedialEngine

@Suite("Calls that only the store has in memory")
struct AuditTests {
  private func audit(_ probe: inout EngineProbe, _ ids: [CallID]) -> [CallID]? {
    probe.ask { $0.missing(among: ids.map { HeldCall($0, at: EngineProbe.target) }).map(\.id) }
  }

  /// The store answers with what it has of a call, which is in memory from then on.
  private func reclaim(_ probe: inout EngineProbe, _ id: CallID) throws -> ReplyToken<CallCommand.Reply> {
    let reply = probe.command(.reclaim, id)
    let request = try #require(
      probe.requests.lazy.compactMap { if case .fetch(let command) = $0.body { command } else { nil } }.last)
    var record = try #require(probe.record(id))
    if !record.progress.state.isFinal { record.progress.state = .held }
    probe.hear(.fetched(request, record))
    probe.commit()
    return reply
  }

  @Test("only calls that are not in memory are missing")
  func missing() {
    var probe = EngineProbe()
    let (here, elsewhere) = (probe.submit(after: .seconds(3)), probe.submit(after: .seconds(60)))
    #expect(audit(&probe, [here, elsewhere]) == [elsewhere])
    probe.hear(.drain)
    #expect(audit(&probe, [here, elsewhere]) == [])
  }

  @Test("a reclaimed call runs when it is due")
  func reclaimed() throws {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    probe.advance(.seconds(57))
    let reply = try reclaim(&probe, id)
    #expect(probe.isDone(reply))
    #expect(audit(&probe, [id]) == [])
    #expect(probe.starts(of: id) == 0)
    probe.advance(.seconds(3))
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a call in memory is not reclaimed, nor is one that has ended")
  func notReclaimed() throws {
    var probe = EngineProbe()
    let waiting = probe.submit(after: .seconds(3))
    let first = probe.command(.reclaim, waiting)
    #expect(probe.refusal(of: first)?.code == .callInMemory)
    let ended = probe.submit()
    probe.end(ended, status: 200)
    let second = try reclaim(&probe, ended)
    #expect(probe.refusal(of: second)?.code == .callEnded)
    #expect(probe.starts(of: ended) == 1)
  }
}
