@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

/// Whose turn it is the store knows; here the test is the store. That both do together what they should is shown by
/// the simulation.
@Suite("Ordering keys")
struct OrderingTests {
  /// The store answers a claim with these calls, given their turn.
  private func giveTurn(_ probe: inout EngineProbe, to ids: CallID...) {
    let claim = probe.requests.firstIndex { if case .claimDue = $0.body { true } else { false } }
    guard let claim else {
      Issue.record("no claim was asked for")
      return
    }
    probe.requests.remove(at: claim)
    probe.hear(.claimedDue(Claim(calls: ids.compactMap { withTurn(probe, $0) }, nextDue: nil)))
    probe.commit()
  }

  private func withTurn(_ probe: EngineProbe, _ id: CallID) -> CallRecord? {
    guard var record = probe.record(id) else { return nil }
    record.progress.state = .held
    record.progress.waiting = .startTime
    record.progress.due = record.progress.roundStartedAt
    return record
  }

  private func awaited(_ probe: EngineProbe) -> [CallID] {
    probe.written.compactMap { if case .awaitTurn(let id, _, _) = $0 { id } else { nil } }
  }

  private func passed(_ probe: EngineProbe) -> [CallID] {
    probe.written.compactMap { if case .passTurn(let id) = $0 { id } else { nil } }
  }

  @Test("a call with a key goes into the store to await its turn, found there when its time is up")
  func awaits() {
    var probe = EngineProbe()
    let id = probe.submit(orderingKey: "a")
    #expect(probe.starts.isEmpty)
    #expect(probe.state(id) == .queued && probe.progress(id)?.due == probe.record(id)?.deadline)
    #expect(awaited(probe) == [id])
    #expect(probe.wait(of: id) == CallView.Wait(reason: .ordering, until: nil))
    #expect(probe.report()?.held == 0)
    giveTurn(&probe, to: id)
    #expect(probe.starts(of: id) == 1)
  }

  @Test("what the store sets aside is no longer unfinished, and the turn that it may have had is looked for")
  func setAside() {
    var probe = EngineProbe()
    let first = probe.submit(orderingKey: "a")
    let second = probe.submit(orderingKey: "a")
    #expect(probe.report()?.unfinished == 2)
    giveTurn(&probe)
    probe.hear(.setAside(1, in: .default))
    probe.commit()
    #expect(probe.report()?.unfinished == 1)
    giveTurn(&probe, to: second)
    #expect(probe.starts(of: first) == 0 && probe.starts(of: second) == 1)
  }

  @Test("calls without a key are not held up by those with one")
  func others() {
    var probe = EngineProbe()
    probe.submit(orderingKey: "a")
    let other = probe.submit()
    #expect(probe.starts(of: other) == 1)
  }

  @Test("every end passes the turn on, in the transaction of the end", arguments: [200, 400])
  func ends(status: Int) throws {
    var probe = EngineProbe()
    let id = probe.submit(callback: true, orderingKey: "a")
    giveTurn(&probe, to: id)
    probe.end(id, status: status, thenCommit: false)
    let commits = probe.requests.compactMap { if case .commit(let writes, _) = $0.body { writes } else { nil } }
    let ending = try #require(commits.first)
    let isEnd = { (write: StoreWrite) in
      if case .update(id, let progress, _) = write { progress.state.isFinal } else { false }
    }
    let isWebhook = { (write: StoreWrite) in if case .insert = write { true } else { false } }
    #expect(ending.contains(where: isEnd))
    #expect(ending.firstIndex(where: isWebhook) == (ending.firstIndex(where: isEnd) ?? -2) + 1)
    probe.commit()
    #expect(passed(probe) == [id])
    #expect(probe.requests.contains { if case .claimDue = $0.body { true } else { false } })
  }

  @Test("a call that waits between attempts keeps its turn")
  func keepsTurn() {
    var probe = EngineProbe()
    let id = probe.submit(orderingKey: "a")
    giveTurn(&probe, to: id)
    probe.end(id, status: 500)
    #expect(passed(probe).isEmpty)
    probe.advance(.seconds(1))
    #expect(probe.starts(of: id) == 2)
  }

  @Test("a call that is cancelled while it awaits its turn ends, and one whose claim was on its way does not come back")
  func cancelled() {
    var probe = EngineProbe()
    let id = probe.submit(orderingKey: "a")
    let claim = withTurn(probe, id)
    let reply = probe.command(.cancel, id)
    probe.requests.removeAll { if case .fetch = $0.body { true } else { false } }
    var held = probe.record(id)
    held?.progress.state = .held
    probe.hear(.fetched(CallCommand(.cancel, id, reply: reply), held))
    probe.commit()
    #expect(probe.isDone(reply) && probe.state(id) == .cancelled && passed(probe) == [id])
    probe.hear(.claimedDue(Claim(calls: [claim].compactMap { $0 }, nextDue: nil)))
    probe.commit()
    #expect(probe.starts.isEmpty)
    #expect(probe.report()?.unfinished == 0)
  }

  @Test("a call with its turn that has ended does not come back with a claim that was on its way")
  func endsDuringClaim() {
    var probe = EngineProbe()
    let id = probe.submit(orderingKey: "a")
    let claim = withTurn(probe, id)
    probe.control(.pause)
    giveTurn(&probe, to: id)
    // Its end has another claim go out only once this one is answered.
    probe.submit(orderingKey: "a")
    let reply = probe.command(.cancel, id)
    #expect(probe.isDone(reply) && probe.state(id) == .cancelled)
    probe.hear(.claimedDue(Claim(calls: [claim].compactMap { $0 }, nextDue: nil)))
    probe.control(.resume)
    #expect(probe.starts.isEmpty)
  }

  @Test("a call whose deadline passes while it awaits its turn ends there, unless it is given it before")
  func deadline() throws {
    for isGiven in [false, true] {
      var probe = EngineProbe()
      let id = probe.submit(orderingKey: "a")
      giveTurn(&probe)
      probe.advance(.milliseconds(59_500))
      // Taken from the store since its deadline is near.
      var late = try #require(probe.record(id))
      late.progress.state = .held
      probe.hear(.claimedDue(Claim(calls: [late], nextDue: nil)))
      if isGiven {
        probe.hear(.claimedDue(Claim(calls: [withTurn(probe, id)].compactMap { $0 }, nextDue: nil)))
        probe.commit()
      }
      #expect(probe.starts(of: id) == (isGiven ? 1 : 0))
      probe.advance(.milliseconds(500))
      if !isGiven { #expect(probe.progress(id)?.failure == .deadlineExceeded && passed(probe) == [id]) }
    }
  }

  @Test("a call that a client retries now still awaits its turn, and its start no more")
  func retryNow() throws {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(30), orderingKey: "a")
    let reply = probe.command(.retry, id)
    var held = try #require(probe.record(id))
    held.progress.state = .held
    probe.hear(.fetched(CallCommand(.retry, id, reply: reply), held))
    probe.commit()
    #expect(probe.isDone(reply) && probe.starts.isEmpty)
    #expect(awaited(probe) == [id, id])
    #expect(probe.progress(id)?.roundStartedAt == probe.now)
  }

  // Found by the simulation: the second answer shows the call as it was before the first retry.
  @Test("an ended call that two clients run again at once awaits one turn")
  func runAgain() throws {
    var probe = EngineProbe()
    let id = probe.submit(orderingKey: "a")
    giveTurn(&probe, to: id)
    probe.end(id, status: 400)
    let replies = (0..<2).map { _ in probe.command(.retry, id) }
    let ended = try #require(probe.record(id))
    for reply in replies { probe.hear(.fetched(CallCommand(.retry, id, reply: reply), ended)) }
    probe.commit()
    #expect(awaited(probe) == [id, id])
    #expect(probe.report()?.unfinished == 1)
  }

  @Test("a call that could not be stored awaits nothing, and whoever is behind it is looked for")
  func refused() {
    var probe = EngineProbe()
    let reply = probe.submitOnly(orderingKey: "a")
    probe.fail()
    #expect(probe.refusal(of: reply)?.status == 503)
    probe.advance(.seconds(1))
    #expect(awaited(probe).isEmpty)
    #expect(probe.written.contains { if case .discard = $0 { true } else { false } })
    #expect(probe.requests.contains { if case .claimDue = $0.body { true } else { false } })
  }
}
