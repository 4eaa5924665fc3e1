@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

/// A service that dies and is started again, with what its calls are on disk.
private struct Service {
  var probe: EngineProbe
  private let settings: EngineSettings
  private var disk: [CallID: CallRecord] = [:]
  private(set) var attempts: [CallID: [AttemptRecord]] = [:]

  init(_ settings: EngineSettings = EngineSettings()) {
    self.settings = settings
    probe = EngineProbe(settings)
  }

  /// What the last process has written.
  private mutating func read() {
    for write in probe.written {
      switch write {
      case .insert(let record): disk[record.id] = record
      case .update(let id, let progress, let attempt):
        disk[id]?.progress = progress
        if let attempt { attempts[id, default: []].append(attempt) }
      default: break
      }
    }
    probe.written = []
  }

  /// The process dies, and the next one has taken over after these seconds.
  mutating func die(thenWait seconds: Int = 0) {
    read()
    let unfinished = disk.values.filter { !$0.progress.state.isFinal }.sorted { $0.id < $1.id }.map { record in
      var record = record
      if record.progress.state == .running { return record }
      record.progress.state = .held
      return record
    }
    let running = unfinished.filter { $0.progress.state == .running }.map { record in
      var record = record
      record.progress.state = .held
      return record
    }
    let waiting = unfinished.filter { $0.progress.state == .held }
    probe = EngineProbe(
      settings,
      recovered: RecoveredState(
        running: running, nextDue: waiting.isEmpty ? nil : .epoch, unfinished: unfinished.count,
        lastID: disk.keys.max() ?? CallID(rawValue: 0)))
    if !waiting.isEmpty {
      probe.requests.removeAll { if case .claimDue = $0.body { true } else { false } }
      probe.hear(.claimedDue(Claim(calls: waiting, nextDue: nil)))
      probe.commit()
    }
    probe.advance(.seconds(seconds))
  }

  mutating func record(_ id: CallID) -> CallRecord? {
    read()
    return disk[id]
  }

  mutating func progress(_ id: CallID) -> CallProgress? { record(id)?.progress }

  /// Calls with an attempt in flight.
  var running: [CallID] {
    probe.engine.calls.values.filter(\.isRunning).map(\.record.id).sorted()
  }
}

@Suite("A call that ends the process")
struct SuspectTests {
  private static let patient = {
    var policy = RetryPolicy.patient(attempts: 100)
    policy.attemptTimeout = .seconds(600)
    return policy
  }()

  /// Ends what runs, one after the other, until nothing is left but this call. Returns the most that ran at a time.
  private func end(_ service: inout Service, except id: CallID? = nil) -> Int {
    var most = 0
    for _ in 0..<1000 {
      most = max(most, service.running.count)
      guard let next = service.running.first(where: { $0 != id }) else { break }
      service.probe.end(next, status: 200)
      service.probe.advance(.milliseconds(10))
    }
    return most
  }

  @Test("that was in flight alone at two deaths is not made a third time, and what is logged and stored says so")
  func alone() throws {
    var service = Service()
    let id = service.probe.submit(Self.patient, callback: true)
    service.die(thenWait: 3)
    #expect(service.probe.starts.map(\.call.id) == [id])
    let later = service.probe.submit(Self.patient)
    service.die(thenWait: 3)
    let found = service.progress(id)
    let progress = try #require(found)
    #expect(progress.state == .failed && progress.failure == .attemptEndedTheService && progress.attempts == 2)
    let attempts = try #require(service.attempts[id])
    #expect(attempts.map(\.outcome) == [.interrupted, .interrupted])
    #expect(attempts.map(\.failure?.code) == ["interrupted", "attemptEndedTheService"])
    let notice = service.probe.notices.first { if case .callFailed(id, _, _, _, _, _) = $0 { true } else { false } }
    guard case .callFailed(_, _, _, .attemptEndedTheService, 2, _)? = notice else {
      Issue.record("nobody is told: \(String(describing: notice))")
      return
    }
    #expect(service.probe.starts.map(\.call.id).contains(later), "the other goes on")
  }

  @Test("is found in a crowd by the third death at the latest, and all others succeed", arguments: 0..<12)
  func crowd(place: Int) throws {
    var service = Service()
    var ids = (0..<12).map { _ in service.probe.submit(Self.patient) }
    let killer = ids.remove(at: place)
    var deaths = 0
    while service.progress(killer)?.state.isFinal == false, deaths < 10 {
      deaths += 1
      service.die(thenWait: 3)
      // Those that go first succeed.
      _ = end(&service, except: killer)
    }
    #expect(deaths == 3)
    #expect(service.progress(killer)?.failure == .attemptEndedTheService)
    _ = end(&service)
    for id in ids { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("makes those that were in flight with it run one at a time, and nothing else wait")
  func oneAtATime() {
    var service = Service()
    let ids = (0..<20).map { _ in service.probe.submit(Self.patient) }
    service.die(thenWait: 2)
    #expect(service.running.count == 1)
    let new = (0..<5).map { _ in service.probe.submit(Self.patient) }
    #expect(Set(new).isSubset(of: service.running), "others run at once beside them")
    for id in new { service.probe.end(id, status: 200) }
    #expect(end(&service) == 1)
    for id in ids { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("is one of them for as long as it has not ended: answers between the deaths make no difference")
  func answersBetween() throws {
    var service = Service()
    let id = service.probe.submit(Self.patient)
    service.die(thenWait: 3)
    service.probe.end(id, status: 500)
    service.probe.advance(.seconds(3))
    #expect(service.running == [id])
    service.die(thenWait: 3)
    #expect(service.progress(id)?.failure == .attemptEndedTheService)
  }

  @Test("is not any that happened to be in flight at many kills")
  func bystanders() {
    var service = Service()
    let ids = (0..<20).map { _ in service.probe.submit(Self.patient) }
    service.die(thenWait: 3)
    for _ in 0..<9 {
      // Of those that wait another one is the first each time.
      let first = service.running
      #expect(first.count == 1)
      service.probe.end(first[0], status: 200)
      service.probe.advance(.milliseconds(10))
      service.die(thenWait: 3)
    }
    _ = end(&service)
    for id in ids { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("is not one of a service that is killed again and again within a second of its start")
  func killLoop() {
    var service = Service()
    let id = service.probe.submit(Self.patient)
    for _ in 0..<50 {
      service.die()
      service.probe.advance(.milliseconds(900))
    }
    service.die(thenWait: 2)
    #expect(service.running == [id])
  }

  @Test("does not wait for those that never answer: all have begun within a minute, and a death then blames none")
  func silence() {
    var service = Service()
    let ids = (0..<60).map { _ in service.probe.submit(Self.patient) }
    service.die(thenWait: 2)
    #expect(service.running.count < 4)
    service.probe.advance(.seconds(62))
    #expect(service.running == ids)
    service.die(thenWait: 3)
    for id in ids { #expect(service.progress(id)?.state.isFinal == false) }
    // Each has four times as long now.
    service.probe.advance(.seconds(60))
    #expect(service.running.count < 20)
    service.probe.advance(.seconds(200))
    #expect(service.running == ids)
  }

  @Test("is found among those that never answer, too")
  func amongSilence() throws {
    var service = Service(EngineSettings(breaker: CircuitBreakerSettings(consecutiveFailures: 0)))
    let ids = (0..<30).map { _ in service.probe.submit(Self.patient) }
    let killer = ids[17]
    service.die(thenWait: 1)
    var deaths = 1
    while service.progress(killer)?.state.isFinal == false, deaths < 10 {
      // It ends the process three seconds after its start.
      for _ in 0..<20_000 where !service.running.contains(killer) {
        service.probe.advance(.milliseconds(100))
        timeOut(&service)
      }
      service.probe.advance(.seconds(3))
      deaths += 1
      service.die()
    }
    #expect(deaths <= 6)
    #expect(service.progress(killer)?.failure == .attemptEndedTheService)
    for id in ids where id != killer { #expect(service.progress(id)?.state.isFinal == false) }
  }

  /// Ends attempts that have had no answer for half a minute.
  private func timeOut(_ service: inout Service) {
    let now = service.probe.now
    for call in service.probe.engine.calls.values where call.isRunning && now - call.record.progress.due >= .seconds(30)
    {
      service.probe.end(call.record.id, .maybeSent, code: "timeout")
    }
  }

  @Test("is not one that was in flight at a stop, whoever lost patience with it")
  func stop() {
    var service = Service()
    let id = service.probe.submit(Self.patient)
    for _ in 0..<5 {
      service.probe.hear(.drain)
      service.probe.commit()
      service.die(thenWait: 3)
      #expect(service.running == [id])
    }
    service.probe.end(id, status: 200)
    #expect(service.progress(id)?.state == .succeeded)
  }

  @Test("is made once more if somebody retries it, and not twice")
  func retried() throws {
    var service = Service()
    let id = service.probe.submit(Self.patient)
    service.die(thenWait: 3)
    service.die()
    let found = service.record(id)
    let record = try #require(found)
    #expect(record.progress.failure == .attemptEndedTheService)
    let reply = service.probe.token(for: CallCommand.Reply.self)
    let command = CallCommand(.retry, id, reply: reply)
    service.probe.hear(.command(command))
    service.probe.requests.removeAll { if case .fetch = $0.body { true } else { false } }
    service.probe.hear(.fetched(command, record))
    service.probe.commit()
    service.probe.advance(.seconds(2))
    #expect(service.running == [id])
    service.die(thenWait: 3)
    #expect(service.progress(id)?.failure == .attemptEndedTheService)
  }

  @Test("waits for its turn no longer than its deadline")
  func deadline() {
    var settings = EngineSettings()
    settings.suspectsWithin = .seconds(6000)
    var service = Service(settings)
    let first = service.probe.submit(Self.patient)
    let short = (0..<9).map { _ in service.probe.submit() }
    service.die(thenWait: 2)
    #expect(service.running == [first])
    service.probe.advance(.seconds(70))
    for id in short { #expect(service.progress(id)?.failure == .deadlineExceeded) }
  }

  @Test("can be cancelled while it waits for its turn")
  func cancelled() throws {
    var service = Service()
    let ids = (0..<10).map { _ in service.probe.submit(Self.patient) }
    service.die(thenWait: 2)
    let waiting = try #require(ids.last { !service.running.contains($0) })
    let reply = service.probe.command(.cancel, waiting)
    #expect(service.probe.isDone(reply))
    _ = end(&service)
    #expect(service.progress(waiting)?.state == .cancelled)
    for id in ids where id != waiting { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("does not end the wait of the others when its target is paused")
  func paused() {
    var service = Service()
    let other: TargetKey = "http://other.example"
    let held = service.probe.submit(Self.patient)
    let ids = (0..<10).map { _ in service.probe.submit(Self.patient, to: other) }
    service.die()
    service.probe.control(.pause)
    service.probe.advance(.seconds(3))
    #expect(end(&service) == 1)
    for id in ids { #expect(service.progress(id)?.state == .succeeded) }
    service.probe.control(.resume)
    service.probe.advance(.seconds(1))
    #expect(service.running == [held])
  }
}

@Suite("Calls of an instance that has died, taken over by another")
struct TakenSuspectTests: LeaseScene {
  private func running(_ count: Int, at now: Timestamp) -> [CallRecord] {
    (1...count).map { number in
      var record = EngineProbe.record(id: CallID(rawValue: Int64(number) << 40), at: now)
      record.progress.attempts = 1
      return record
    }
  }

  @Test("run one at a time there")
  func oneAtATime() {
    var probe = asking()
    let records = running(5, at: probe.now)
    probe.grant(.all, RecoveredState(running: records, unfinished: 5, namespaces: [(.default, 5)]))
    probe.commit()
    probe.advance(.seconds(2))
    #expect(probe.starts.count == 1)
    probe.end(probe.starts[0].call.id, status: 200)
    probe.advance(.milliseconds(10))
    #expect(probe.starts.count == 2)
  }

  @Test("end when they have ended this instance, too: the next one does not make them")
  func ends() {
    var probe = asking()
    let record = running(1, at: probe.now)[0]
    probe.grant(.all, RecoveredState(running: [record], unfinished: 1, namespaces: [(.default, 1)]))
    probe.commit()
    probe.advance(.seconds(2))
    #expect(probe.starts.map(\.number) == [2])
    var taken = record
    for case .update(record.id, let progress, _) in probe.written { taken.progress = progress }
    taken.progress.state = .held
    var next = asking()
    next.grant(.all, RecoveredState(running: [taken], unfinished: 1, namespaces: [(.default, 1)]))
    next.commit()
    #expect(
      next.notices.contains {
        if case .callFailed(record.id, _, _, .attemptEndedTheService, _, _) = $0 { true } else { false }
      })
    next.advance(.seconds(5))
    #expect(next.starts.isEmpty)
  }

  @Test("an instance that has lost its lease is not dead: what it cut off itself is suspect nowhere")
  func leaseLost() throws {
    var probe = asking()
    probe.grant(.all)
    let ids = (0..<3).map { _ in probe.submit() }
    let records = try ids.map { try #require(probe.record($0)) }
    probe.advance(.seconds(8))
    #expect(probe.hasLostLease)
    for id in ids { probe.end(id, .cancelled, code: "cancelled") }
    probe.advance(.seconds(3))
    let starts = probe.starts.count
    let found = records.map { record in
      var record = record
      record.progress.state = .held
      return record
    }
    probe.grant(.all, RecoveredState(running: found, unfinished: 3, namespaces: [(.default, 3)]))
    probe.commit()
    probe.advance(.seconds(3))
    #expect(probe.starts.count == starts + 3, "all at once")
  }
}
