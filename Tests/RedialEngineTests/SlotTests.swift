@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Slots beside targets that hang")
struct SlotTests {
  private static let patient = {
    var policy = RetryPolicy.test
    policy.deadline = .seconds(3600)
    policy.attemptTimeout = .seconds(30)
    return policy
  }()

  /// Calls to so many targets that never answer.
  private func hang(_ probe: inout EngineProbe, _ targets: Range<Int>, each calls: Int = 10, prefix: String = "hang") {
    for number in targets {
      for _ in 0..<calls { probe.submit(Self.patient, to: "http://\(prefix)\(number).example") }
    }
  }

  /// Calls to a target that answers, one after the other.
  private func prove(_ probe: inout EngineProbe, _ calls: Int = 3, to target: TargetKey = EngineProbe.target) {
    for _ in 0..<calls {
      let id = probe.submit(Self.patient, to: target)
      probe.advance(.milliseconds(5))
      probe.end(id, status: 200, took: .milliseconds(5))
    }
  }

  @Test("four targets that hang leave a new one its slots")
  func fourTargets() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 256))
    hang(&probe, 0..<4, each: 100)
    #expect(probe.engine.roster.occupancy.inFlight <= 128)
    let id = probe.submit()
    #expect(probe.starts(of: id) == 1)
  }

  @Test(
    "beside a thousand targets that hang, new targets get a slot at once, and one that answers all that it may have")
  func thousandTargets() {
    var probe = EngineProbe()
    prove(&probe)
    hang(&probe, 0..<1000)
    #expect((1000...1900).contains(probe.engine.roster.occupancy.inFlight), "\(probe.engine.roster.occupancy.inFlight)")
    #expect(probe.engine.roster.rotation.newcomers(of: 0) == 0)
    let new = probe.submit(to: "http://new.example")
    #expect(probe.starts(of: new) == 1)
    // Each answer lets one more begin, up to what the target may have.
    var running = (0..<80).map { _ in probe.submit(Self.patient) }
    var most = 0
    while let first = running.first {
      running.removeFirst()
      probe.now = probe.now + .milliseconds(1)
      probe.end(first, status: 200, took: .milliseconds(5))
      if running.count < 80, most < 64 { running.append(probe.submit(Self.patient)) }
      let index = probe.engine.roster.place(of: EngineProbe.target)
      most = max(most, index.map { probe.engine.roster.targets[$0].occupancy.inFlight } ?? 0)
    }
    #expect(most == 64)
  }

  @Test("one new target alone may have as many in flight as ever, but the last of one caller")
  func alone() {
    var probe = EngineProbe()
    for _ in 0..<100 { probe.submit(Self.patient) }
    #expect(probe.starts.count == 63)
  }

  @Test("more targets that hang than the pool has slots leave a target that answers its own")
  func poolIsEmpty() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 64))
    prove(&probe)
    hang(&probe, 0..<100, each: 1)
    #expect(probe.engine.roster.occupancy.inFlight == 32)
    for _ in 0..<5 {
      let id = probe.submit()
      #expect(probe.starts(of: id) == 1)
      probe.end(id, status: 200, took: .milliseconds(5))
    }
  }

  @Test("a new target that waits for the pool gets the next slot that is free there, before others get a second")
  func newcomer() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 64))
    // Each has one, and one that waits.
    hang(&probe, 0..<32, each: 1)
    hang(&probe, 0..<32, each: 1)
    let id = probe.submit()
    #expect(probe.starts(of: id) == 0)
    #expect(probe.wait(of: id)?.reason == .concurrency)
    let first = probe.starts[0].call.id
    probe.advance(.seconds(30))
    probe.end(first, .maybeSent, code: AttemptFailure.timeout, took: .seconds(30), phase: .request)
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a target that answered and hangs now has no more than it had when the silence is long")
  func becomesSilent() throws {
    var probe = EngineProbe(EngineSettings(maxInFlight: 64))
    prove(&probe, 10)
    for _ in 0..<3 { probe.submit(Self.patient) }
    let index = try #require(probe.engine.roster.place(of: EngineProbe.target))
    #expect(probe.engine.roster.targets[index].credit.proven > 0)
    probe.advance(.seconds(2))
    for _ in 0..<40 { probe.submit(Self.patient) }
    #expect(probe.engine.roster.targets[index].credit.proven == 0)
    #expect(probe.engine.roster.targets[index].occupancy.inFlight < 6)
    #expect(probe.engine.roster.occupancy.borrowed == probe.engine.roster.targets[index].occupancy.inFlight)
  }

  @Test("receivers of webhooks that hang take no more than other targets that do")
  func webhooks() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 64))
    prove(&probe)
    hang(&probe, 0..<100, each: 1, prefix: "webhook")
    for number in 0..<100 {
      let target: TargetKey = "webhook:http://receiver\(number).example"
      probe.submit(Self.patient, to: target)
    }
    #expect(probe.engine.roster.occupancy.inFlight == 32)
    let id = probe.submit()
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a namespace whose targets hang leaves the pool's slots for another's new targets")
  func namespaces() throws {
    let acme = try #require(Namespace("acme"))
    var probe = EngineProbe(EngineSettings(maxInFlight: 64))
    probe.hear(.namespaces([acme]))
    hang(&probe, 0..<100, each: 1)
    #expect(probe.engine.roster.occupancy.inFlight == 16)
    let key = TargetKey("http://new.example", in: acme)
    let id = probe.submit(to: key)
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a crowd that waits costs no look at all of it when calls come in or attempts end")
  func cost() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 64))
    hang(&probe, 0..<500, each: 2)
    let begun = Set(probe.starts.map(\.call.spec.target)).count
    #expect(
      probe.engine.roster.occupancy.inFlight == 32 && probe.engine.roster.rotation.newcomers(of: 0) == 500 - begun)
    #expect(probe.engine.roster.rotation.crowdedCount <= 32)
    // Nothing is left in the rotation that would be looked at in vain.
    #expect(probe.engine.roster.rotation.targets(of: 0).isEmpty)
    #expect(probe.wakeAt ?? .distantFuture > probe.now)
  }
}
