@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Accepting calls")
struct AcceptTests {
  @Test("a call is on disk, counted as begun, before it is started and acknowledged")
  func commitFirst() {
    var probe = EngineProbe()
    let reply = probe.submitOnly()
    #expect(probe.actions.isEmpty)
    #expect(probe.requests.count == 1)
    probe.commit()
    #expect(probe.starts.count == 1)
    guard case .accepted(let record) = probe.reply(to: reply) else {
      Issue.record("the client got no reply")
      return
    }
    #expect(probe.state(record.id) == .running)
    #expect(probe.progress(record.id)?.attempts == 1)
    #expect(probe.starts[0].timeout == .seconds(10))
  }

  @Test("a call that is to start soon waits in memory until then, and no longer")
  func startsSoon() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(3))
    #expect(probe.state(id) == .held)
    probe.advance(.milliseconds(2999))
    #expect(probe.starts.isEmpty)
    probe.advance(.milliseconds(1))
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a call that is to start later waits in the store, and is taken from there shortly before")
  func startsLater() throws {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(60))
    #expect(probe.state(id) == .scheduled)
    #expect(probe.report()?.held == 0)
    probe.advance(.seconds(58))
    #expect(probe.requests.isEmpty)
    probe.advance(.seconds(1))
    guard case .claimDue = probe.requests.first?.body else {
      Issue.record("the call was not asked for")
      return
    }
    let record = try #require(probe.record(id))
    probe.hear(.claimedDue(Claim(calls: [record], nextDue: nil)))
    #expect(probe.starts.isEmpty)
    probe.advance(.seconds(1))
    #expect(probe.starts(of: id) == 1)
  }

  @Test("an attempt may take no longer than the call's deadline leaves")
  func timeoutWithinDeadline() {
    var probe = EngineProbe()
    var policy = RetryPolicy.test
    policy.deadline = .seconds(4)
    probe.submit(policy)
    #expect(probe.starts[0].timeout == .seconds(4))
  }

  @Test("no more attempts are in flight to a target than it may have, and other targets are not held up by it")
  func limitPerTarget() {
    var settings = EngineSettings(maxInFlight: 4, maxInFlightPerTarget: 2)
    // None of them has answered yet.
    settings.unprovenShare = 1
    var probe = EngineProbe(settings)
    let ids = (0..<3).map { _ in probe.submit() }
    let other = probe.submit(to: "http://other.example")
    #expect(probe.starts.map(\.call.id) == [ids[0], ids[1], other])
    probe.end(ids[0], status: 200)
    #expect(probe.starts(of: ids[2]) == 1)
  }

  @Test("beyond the most calls that may be unfinished, a call is refused")
  func fullBacklog() {
    var probe = EngineProbe(EngineSettings(maxUnfinished: 1))
    let first = probe.submit()
    let reply = probe.submitOnly()
    #expect(probe.refusal(of: reply)?.code == .backlogFull)
    probe.end(first, status: 200)
    #expect(probe.submit().rawValue > 0)
  }

  // The store is closed then: calls were reported as failed, and failed again after the next start.
  @Test("once it has drained, the engine ends no call, and changes nothing")
  func drained() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(3))
    probe.hear(.drain)
    probe.commit()
    #expect(probe.actions.contains { if case .drained = $0 { true } else { false } })
    let written = probe.written.count
    let replies = [probe.command(.cancel, id), probe.command(.retry, id)]
    let pause = probe.control(.pause)
    probe.advance(.seconds(3600))
    #expect(replies.allSatisfy { probe.refusal(of: $0)?.code == .draining })
    #expect(probe.refusal(of: pause)?.code == .draining)
    #expect(probe.written.count == written && probe.starts(of: id) == 0)
  }

  @Test("while it drains, the engine starts nothing more, and says so when the last attempt is on disk")
  func draining() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.hear(.drain)
    let reply = probe.submitOnly()
    #expect(probe.refusal(of: reply)?.code == .draining)
    probe.commit()
    #expect(!probe.actions.contains { if case .drained = $0 { true } else { false } })
    probe.end(id, status: 503)
    #expect(probe.state(id) == .held)
    #expect(probe.actions.contains { if case .drained = $0 { true } else { false } })
    probe.advance(.seconds(5))
    #expect(probe.starts(of: id) == 1)
  }
}
