@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("What is in memory and what is in the store")
struct MemoryTests {
  /// A target whose breaker is open for five seconds.
  private func tripped(_ settings: EngineSettings) -> EngineProbe {
    var probe = EngineProbe(settings)
    for id in (0..<2).map({ _ in probe.submit() }) { probe.end(id, status: 502, head: "Retry-After: 30\r\n") }
    probe.requests = []
    return probe
  }

  private func isQueueClaim(_ request: StoreRequest) -> Bool {
    if case .claimQueued = request.body { true } else { false }
  }

  @Test("calls beyond what may wait for a target in memory wait for it in the store")
  func queues() {
    var probe = tripped(.tripsAfterTwo(maxReadyPerTarget: 2))
    let ids = (0..<4).map { _ in probe.submit() }
    #expect(ids.map { probe.state($0) } == [.held, .held, .queued, .queued])
    #expect(probe.report()?.targets.first?.waiting == 4)
  }

  @Test("slow targets leave room in memory for each other, however many calls they have")
  func shares() {
    var settings = EngineSettings()
    settings.maxHeld = 1000
    settings.target.maxInFlight = 1
    var probe = EngineProbe(settings)
    for _ in 0..<600 { probe.submit(to: "https://a.example.com") }
    // One more than half: the first is running, and the rest of memory is as large as what waits.
    #expect(probe.report().map { (490...510).contains($0.held) } == true, "\(probe.report()?.held ?? -1)")
    for _ in 0..<600 { probe.submit(to: "https://b.example.com") }
    // Half is taken; of the quarter that is divided among those who wait, the second has its part.
    #expect(probe.report().map { (615...640).contains($0.held) } == true, "\(probe.report()?.held ?? -1)")
    probe.submit(to: "https://c.example.com")
    #expect(probe.report()?.targets.first { $0.key == "https://c.example.com" }?.inFlight == 1)
  }

  // Found by the simulation: the claim came before the commit, found nothing, and the call was forgotten.
  @Test("a target's queue is asked for behind the writes that put calls there")
  func claimsBehindWrites() throws {
    var settings = EngineSettings()
    settings.maxReadyPerTarget = 1
    settings.maxInFlight = 1
    var probe = EngineProbe(settings)
    let first = probe.submit()
    let second = probe.submit()
    let reply = probe.token(for: SubmissionReply.self)
    let result = AttemptResult(outcome: .answered, status: 200, duration: .zero)
    let cancel = CallCommand(.cancel, second, reply: probe.token())
    probe.hear([.submit(EngineProbe.descriptor(), reply), .command(cancel), .attemptEnded(first, number: 1, result)])
    let claim = try #require(probe.requests.firstIndex(where: isQueueClaim))
    let isBehind = probe.requests[..<claim].contains {
      if case .commit(let writes, _) = $0.body {
        writes.contains { if case .insert(let record) = $0 { record.progress.state == .queued } else { false } }
      } else {
        false
      }
    }
    #expect(isBehind)
  }

  @Test("calls of a queue in the store run in their order")
  func refills() {
    var settings = EngineSettings()
    settings.target.maxInFlight = 1
    settings.maxReadyPerTarget = 2
    var probe = EngineProbe(settings)
    let ids = (0..<5).map { _ in probe.submit() }
    #expect(ids.suffix(2).map { probe.state($0) } == [.queued, .queued])
    for id in ids {
      #expect(probe.starts.last?.call.id == id)
      probe.end(id, status: 200)
      if let claim = probe.requests.firstIndex(where: isQueueClaim) {
        guard case .claimQueued(let target, let limit) = probe.requests.remove(at: claim).body else { return }
        let calls = ids.filter { probe.state($0) == .queued }.prefix(limit).compactMap { probe.record($0) }
        probe.hear(.claimedQueued(target: target, calls: calls, complete: calls.count < limit))
        probe.commit()
      }
    }
  }

  // Found by the simulation: with the queue in the store and no room for it, the engine asked for its next step at
  // once, forever.
  @Test("a target that may be tried again while memory is full does not keep the engine busy")
  func fullMemory() {
    var probe = tripped(.tripsAfterTwo(maxHeld: 3))
    probe.advance(.seconds(1))
    for _ in 0..<3 { probe.submit(to: "http://other.example", after: .milliseconds(4900)) }
    let id = probe.submit()
    #expect(probe.state(id) == .queued)
    var steps = 0
    let end = probe.now + .milliseconds(4800)
    while let wake = probe.wakeAt, wake < end, steps < 1000 {
      probe.now = max(probe.now, wake)
      probe.hear()
      steps += 1
    }
    #expect(steps > 1 && steps < 100)
  }

  @Test("a queued call that is claimed because its deadline is near ends there, and does not go back and forth")
  func nearDeadline() throws {
    var probe = tripped(.tripsAfterTwo(maxReadyPerTarget: 1))
    var policy = RetryPolicy.test
    policy.deadline = .seconds(3)
    probe.submit()
    let id = probe.submit(policy)
    #expect(probe.state(id) == .queued)
    probe.advance(.seconds(2))
    var record = try #require(probe.record(id))
    record.progress.state = .held
    probe.requests = []
    probe.hear(.claimedDue(Claim(calls: [record], nextDue: nil)))
    #expect(probe.requests.isEmpty)
    probe.advance(.seconds(1))
    #expect(probe.progress(id)?.failure == .deadlineExceeded)
  }

  // Found by the simulation: each target was given all of the room, since none of the answers had come.
  @Test("calls that are requested for many targets at once fit together")
  func claimsShareRoom() {
    let probe = EngineProbe(
      EngineSettings(maxHeld: 10, claimBatch: 4),
      recovered: RecoveredState(
        nextDue: Timestamp(microseconds: 0), queued: (0..<5).map { ("http://target\($0).example", 100) },
        unfinished: 500))
    let limits = probe.requests.map { request in
      switch request.body {
      case .claimDue(_, let limit), .claimQueued(_, let limit): limit
      default: 0
      }
    }
    #expect(limits.reduce(0, +) <= 10)
    #expect(limits.count { $0 > 0 } == 4)
  }

  // Found by the simulation: each call that could be started at once, and failed, stayed in memory.
  @Test("calls that fail while memory is full wait in the store, however short the wait")
  func failsIntoStore() {
    var probe = EngineProbe(EngineSettings(maxHeld: 2, maxHeldBytes: 1000))
    let ids = (0..<4).map { _ in probe.submit() }
    #expect(probe.starts.count == 4)
    for id in ids { probe.end(id, status: 503) }
    #expect(ids.map { probe.state($0) } == [.held, .held, .scheduled, .scheduled])
    #expect(probe.report()?.held == 2)
  }

  @Test("targets that are idle and well are forgotten when there are too many")
  func forgetsTargets() {
    var probe = EngineProbe(EngineSettings(maxTargets: 2))
    for number in 0..<5 {
      let id = probe.submit(to: "http://target\(number).example")
      probe.end(id, status: 200)
    }
    #expect((probe.report()?.targets.count ?? 0) <= 2)
  }

  @Test("targets that failed, and were left alone since, are forgotten as well, with a breaker that was open")
  func forgetsFailedTargets() throws {
    var settings = EngineSettings.tripsAfterTwo()
    settings.maxTargets = 4
    var probe = EngineProbe(settings)
    var once = RetryPolicy.test
    once.maxAttempts = 1
    for number in 0..<4 {
      for _ in 0..<(number == 0 ? 2 : 1) {
        probe.end(probe.submit(once, to: "http://target\(number).example"), status: 503)
      }
    }
    // What has just failed is remembered, whoever comes.
    probe.end(probe.submit(to: "http://new.example"), status: 200)
    #expect(probe.report()?.targets.count == 5)
    probe.advance(.seconds(70))
    probe.submit(to: "http://newer.example")
    // The open one begins slowly, as any that closes; that over, it is forgotten when there are too many again.
    #expect(probe.report()?.targets.map(\.key) == ["http://target0.example", "http://newer.example"])
    probe.advance(.seconds(70))
    for number in 0..<4 { probe.submit(to: "http://newest\(number).example") }
    #expect(probe.report()?.targets.contains { $0.key == "http://target0.example" } == false)
    // The open one is closed on disk, too, or a restart would bring it back.
    #expect(probe.stored(of: "http://target0.example")?.breaker == .some(nil))
  }

  @Test("calls to new targets are refused when twice as many as are remembered are in use, and others are not")
  func boundsTargets() {
    var probe = EngineProbe(EngineSettings(maxTargets: 2))
    for number in 0..<4 { probe.submit(to: "http://target\(number).example") }
    let refused = probe.submitOnly(to: "http://target4.example")
    #expect(probe.refusal(of: refused)?.code == .tooManyTargets)
    #expect(probe.refusal(of: refused)?.status == 503)
    #expect(probe.refusal(of: probe.submitOnly(to: "http://target3.example")) == nil)
    let acme = TargetKey("http://t.example", in: Namespace("acme") ?? .default)
    #expect(probe.refusal(of: probe.submitOnly(to: acme)) == nil)
    probe.commit()
    for start in probe.starts { probe.end(start.call.id, status: 200) }
    probe.advance(.seconds(2))
    #expect(probe.refusal(of: probe.submitOnly(to: "http://target4.example")) == nil)
  }

  @Test("the same events at the same times give the same effects")
  func deterministic() {
    let reports = (0..<2).map { _ in
      var probe = EngineProbe()
      for number in 0..<50 { probe.submit(to: "http://target\(number).example") }
      return probe.report()?.targets.map(\.key) ?? []
    }
    #expect(reports[0] == reports[1])
    #expect(reports[0] == (0..<50).map { "http://target\($0).example" })
  }

  @Test("a target that goes down keeps few calls in memory, and all of them run when it is well again")
  func parks() {
    var settings = EngineSettings.tripsAfterTwo()
    settings.target.maxInFlight = 2
    settings.maxParkedPerTarget = 3
    var probe = EngineProbe(settings)
    let ids = (0..<10).map { _ in probe.submit() }
    #expect(ids.dropFirst(2).map { probe.state($0) } == Array(repeating: .held, count: 8))
    // The first end lets the third call start; the second opens the breaker.
    for id in ids.prefix(2) { probe.end(id, status: 502, head: "Retry-After: 30\r\n") }
    let expected: [StoredState] = [.running, .held, .held, .held, .queued, .queued, .queued, .queued]
    #expect(ids.dropFirst(2).map { probe.state($0) } == expected)
    #expect(probe.report()?.targets.first?.waiting == 7)
    let late = probe.submit()
    #expect(probe.state(late) == .queued)
    probe.advance(.seconds(5))
    #expect(probe.starts.last?.call.id == ids[3], "the oldest is the probe")
  }

  // MARK: Shares

  private func body(_ size: Int, to target: TargetKey) -> CallDescriptor {
    CallDescriptor(spec: .test(to: target), body: Array(repeating: 0x78, count: size), start: .after(.zero))
  }

  private func isDueClaim(_ request: StoreRequest) -> Bool {
    if case .claimDue = request.body { true } else { false }
  }

  /// Whether what is due in the store for a target that is well is still asked for.
  private func claimsWhatIsDue(_ probe: inout EngineProbe) -> Bool {
    probe.submit(to: "http://well.example", after: .seconds(20))
    probe.requests = []
    probe.advance(.seconds(19.5))
    return probe.requests.contains(where: isDueClaim)
  }

  @Test("two targets that are down, with large bodies, leave room for what is due for others")
  func largeBodies() {
    var settings = EngineSettings.tripsAfterTwo(maxHeld: 1000)
    settings.maxHeldBytes = 1000
    var probe = EngineProbe(settings)
    let down = (0..<2).map { TargetKey("http://down\($0).example", in: .default) }
    for target in down { probe.control(.trip, target) }
    for _ in 0..<20 {
      for target in down { probe.hear(.submit(body(100, to: target), probe.token())) }
      probe.commit()
    }
    #expect(probe.engine.roster.occupancy.heldBytes <= 750)
    #expect(probe.report()?.targets.reduce(0) { $0 + $1.waiting } == 40)
    #expect(claimsWhatIsDue(&probe))
  }

  @Test("however many targets are down, they leave room for what is due for others")
  func manyTargetsDown() {
    var settings = EngineSettings.tripsAfterTwo(maxHeld: 100)
    settings.maxTargets = 1000
    var probe = EngineProbe(settings)
    for number in 0..<200 {
      let target: TargetKey = "http://down\(number).example"
      probe.control(.trip, target)
      for _ in 0..<3 { probe.submit(to: target) }
    }
    #expect(probe.engine.calls.count <= 75)
    #expect(probe.report()?.unfinished == 600)
    #expect(claimsWhatIsDue(&probe))
  }

  @Test("calls that a pause leaves in memory are as few as those of a target that is down")
  func pausing() {
    var settings = EngineSettings()
    settings.target.maxInFlight = 1
    settings.maxParkedPerTarget = 2
    var probe = EngineProbe(settings)
    let ids = (0..<6).map { _ in probe.submit() }
    probe.control(.pause)
    #expect(ids.dropFirst().map { probe.state($0) } == [.held, .held, .queued, .queued, .queued])
  }

  @Test("attempts in flight take no room from waiting calls")
  func runningTakesNoRoom() {
    var probe = EngineProbe(EngineSettings(maxHeld: 2))
    for _ in 0..<10 { probe.submit() }
    #expect(probe.starts.count == 10)
    #expect(probe.engine.roster.room(expecting: probe.engine.desk.claims.expected) == 2)
  }

  @Test("a call that the store has set aside is counted no more, and its ordering key goes on")
  func setAside() {
    var probe = EngineProbe()
    probe.submit(after: .seconds(3600))
    #expect(probe.report()?.unfinished == 1)
    probe.requests = []
    probe.hear(.setAside(1, in: .default))
    #expect(probe.report()?.unfinished == 0)
    #expect(probe.requests.contains(where: isDueClaim))
  }
}
