@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Calls and targets of other engines on the same store")
struct ForeignShardTests: LeaseScene {
  // MARK: What is somebody else's

  @Test("a call for a target of somebody else is put into the store, and not held, counted or started")
  func insertsElsewhere() {
    var probe = member(everythingElse)
    let id = probe.submit()
    #expect(probe.state(id) == .scheduled)
    #expect(probe.starts.isEmpty)
    #expect(probe.report()?.held == 0 && probe.report()?.unfinished == 0)
    let ordered = probe.submit(orderingKey: "a")
    #expect(probe.state(ordered) == .queued)
    #expect(probe.written.contains { if case .awaitTurn(ordered, _, "a") = $0 { true } else { false } })
  }

  @Test("the bound on calls that have not ended holds for those in the shards of others, too")
  func boundsElsewhere() {
    var settings = Self.settings
    settings.maxUnfinished = 3
    var probe = EngineProbe(settings)
    probe.grant(everythingElse)
    let mine = target(otherThan: EngineProbe.target)
    probe.submit(to: mine)
    probe.submit()
    probe.submit(orderingKey: "a")
    #expect(probe.refusalOfSubmission()?.code == .backlogFull)
    #expect(probe.refusalOfSubmission(to: mine)?.code == .backlogFull)
    // Others may have put more there, or may have ended some, as the next renewal tells.
    probe.advance(.seconds(1))
    probe.grant(.none, elsewhere: [(.default, 1)])
    #expect(probe.refusalOfSubmission() == nil)
    #expect(probe.refusalOfSubmission()?.code == .backlogFull)
    probe.commit()
    // What could not be written counts no more.
    probe.advance(.seconds(1))
    probe.grant(.none, elsewhere: [(.default, 1)])
    _ = probe.submitOnly()
    probe.fail()
    probe.advance(.seconds(1))
    #expect(probe.refusalOfSubmission() == nil)
  }

  @Test("a namespace's share of the backlog counts its calls in all shards")
  func boundsNamespacesElsewhere() throws {
    var settings = Self.settings
    settings.maxUnfinished = 8
    var probe = EngineProbe(settings)
    let other = try #require(Namespace("other"))
    probe.grant(everythingElse, elsewhere: [(.default, 4), (other, 0)])
    probe.hear(.namespaces([.default, other]))
    #expect(probe.refusalOfSubmission()?.code == .namespaceBacklogFull)
    probe.advance(.seconds(1))
    probe.grant(.none, elsewhere: [(.default, 3), (other, 0)])
    #expect(probe.refusalOfSubmission() == nil)
  }

  @Test("the webhook of an end goes into the store with it, whoever has the receiver's target")
  func webhooksElsewhere() throws {
    var probe = member(.all.subtracting(shard("webhook:http://receiver.example")))
    let id = probe.submit(callback: true)
    probe.end(id, status: 200)
    let webhook = try #require(probe.webhooks.last)
    #expect(probe.state(webhook.id) == .scheduled && probe.starts.count == 1)
  }

  @Test("an operation on a call of somebody else, and a control of its target, are refused with when to come back")
  func ownedElsewhere() {
    var probe = member(everythingElse)
    let id = probe.submit()
    let reply = probe.token(for: CallCommand.Reply.self)
    let operation = CallCommand(.cancel, id, reply: reply)
    probe.hear(.command(operation))
    probe.hear(.fetched(operation, probe.record(id)))
    #expect(probe.refusal(of: reply)?.code == .ownedElsewhere)
    let control = probe.control(.pause)
    #expect(probe.refusal(of: control)?.code == .ownedElsewhere)
    #expect(probe.refusal(of: control)?.status == 503 && probe.refusal(of: control)?.retryAfter == 1)
  }

  @Test("what others have put there is counted with the next renewal, beside what has changed since it was asked for")
  func recounts() {
    var probe = member()
    probe.submit()
    probe.advance(.seconds(1))
    // Accepted behind the request: the store's count does not have it.
    probe.submit()
    probe.grant(state: RecoveredState(unfinished: 3, namespaces: [(.default, 3)]))
    #expect(probe.report()?.unfinished == 4)
  }

  @Test("a call of another instance that has ended before the next renewal leaves no count below 0 in the report")
  func endsUncounted() {
    var probe = member()
    let record = EngineProbe.record(id: CallID(rawValue: 1 << 40), at: probe.now)
    probe.hear(.claimedDue(Claim(calls: [record], nextDue: nil)))
    probe.commit()
    probe.end(record.id, status: 200)
    #expect(probe.report()?.unfinished == 0)
    probe.advance(.seconds(1))
    probe.grant(state: RecoveredState(namespaces: [(.default, 0)]))
    #expect(probe.engine.roster.unfinished == 0)
  }
}
