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

  /// The process dies, and the next one takes over.
  mutating func die(_ crash: CrashRecord? = nil) {
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
        lastID: disk.keys.max() ?? CallID(rawValue: 0), crash: crash))
    if !waiting.isEmpty {
      probe.requests.removeAll { if case .claimDue = $0.body { true } else { false } }
      probe.hear(.claimedDue(Claim(calls: waiting, nextDue: nil)))
      probe.commit()
    }
    probe.advance(.zero)
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
    // Without a bound, as most have: then each wait has a minimum.
    var policy = RetryPolicy.patient(attempts: .max)
    policy.attemptTimeout = .seconds(600)
    return policy
  }()

  /// A service with so many calls in flight.
  private func service(_ count: Int) -> (Service, [CallID]) {
    var service = Service()
    let ids = (0..<count).map { _ in
      service.probe.advance(.milliseconds(1))
      return service.probe.submit(Self.patient)
    }
    return (service, ids)
  }

  /// Ends what runs, one after the other, until nothing runs; a call that is lethal ends the process instead. Returns how
  /// many processes have died, and the most that ran at a time.
  private func run(
    _ service: inout Service, lethal: Set<CallID>, crash: (CallID) -> CrashRecord? = { _ in nil }
  ) -> (deaths: Int, most: Int) {
    var (deaths, most) = (0, 0)
    while deaths < 30 {
      let running = service.running
      most = max(most, running.count)
      if let killer = running.first(where: lethal.contains) {
        service.die(crash(killer))
        deaths += 1
        // What ran at the death does not count: only those of the next process.
        continue
      }
      guard let next = running.first else { break }
      service.probe.end(next, status: 200)
      service.probe.advance(.milliseconds(10))
    }
    return (deaths, most)
  }

  private func failures(_ service: inout Service, _ ids: [CallID]) -> [CallID] {
    ids.filter { service.progress($0)?.failure == .attemptEndedTheService }
  }

  @Test("without a trace is found at the third death while it is alone, and what is logged and stored says so")
  func kills() throws {
    var (service, ids) = service(1)
    let (deaths, _) = run(&service, lethal: [ids[0]])
    // At the first nobody knew that it was to be watched.
    #expect(deaths == 4)
    let found = service.progress(ids[0])
    let progress = try #require(found)
    #expect(progress.state == .failed && progress.failure == .attemptEndedTheService && progress.attempts == 4)
    let attempts = try #require(service.attempts[ids[0]])
    #expect(attempts.map(\.outcome) == Array(repeating: .interrupted, count: 4))
    #expect(attempts.map(\.failure?.code) == ["interrupted", "interrupted", "interrupted", "attemptEndedTheService"])
    #expect(
      service.probe.notices.contains {
        if case .callFailed(ids[0], _, _, .attemptEndedTheService, 4, _) = $0 { true } else { false }
      })
  }

  @Test("by a crash is found at the second: of several in flight, at the third")
  func crashes() {
    for (count, expected) in [(1, 2), (9, 3)] {
      var (service, ids) = service(count)
      let (deaths, _) = run(&service, lethal: [ids[count - 1]]) { _ in CrashRecord(signal: 11) }
      #expect(deaths == expected)
      #expect(failures(&service, ids) == [ids[count - 1]])
    }
  }

  @Test("and that the crash names is found at the second, and nothing else waits for long", arguments: 0..<9)
  func named(place: Int) {
    var (service, ids) = service(9)
    let (deaths, _) = run(&service, lethal: [ids[place]]) { CrashRecord(signal: 6, call: $0) }
    #expect(deaths == 2)
    #expect(failures(&service, ids) == [ids[place]])
    for id in ids where id != ids[place] { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("is found in a crowd, wherever it is, and all others succeed", arguments: 0..<12)
  func crowd(place: Int) {
    var (service, ids) = service(12)
    let (deaths, most) = run(&service, lethal: [ids[place]])
    #expect(deaths == 4 && most == 12)
    #expect(failures(&service, ids) == [ids[place]])
    for id in ids where id != ids[place] { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("is not the neighbour of two that do: each of them is found, whichever they are", arguments: 0..<6)
  func two(place: Int) {
    var (service, ids) = service(12)
    let lethal: Set = [ids[place], ids[11 - place]]
    let (deaths, _) = run(&service, lethal: lethal)
    #expect(deaths <= 8)
    #expect(Set(failures(&service, ids)) == lethal)
    for id in ids where !lethal.contains(id) { #expect(service.progress(id)?.state == .succeeded) }
  }

  @Test("makes those that were in flight with it begin one after the other, the last first, and others wait for them")
  func oneAtATime() {
    var (service, ids) = service(4)
    service.die()
    #expect(service.running == [ids[3]])
    let new = service.probe.submit(Self.patient)
    #expect(service.running == [ids[3]])
    for id in ids.reversed() {
      #expect(service.running == [id])
      service.probe.end(id, status: 200)
      service.probe.advance(.zero)
    }
    #expect(service.running == [new])
  }

  @Test("is alone for a quarter of a second at most, and all wait for two seconds at most")
  func bounds() {
    var (service, ids) = service(20)
    service.die()
    let new = service.probe.submit(Self.patient)
    service.probe.advance(.milliseconds(99))
    #expect(service.running == [ids[19]])
    service.probe.advance(.milliseconds(1))
    #expect(service.running == [ids[18], ids[19]])
    service.probe.advance(.milliseconds(1899))
    #expect(service.running.count == 20 && !service.running.contains(new))
    service.probe.advance(.milliseconds(1))
    #expect(service.running.count == 21)
  }

  @Test("is not one that was not alone any more when the process died")
  func beside() {
    var (service, ids) = service(2)
    for _ in 0..<9 {
      service.die()
      service.probe.advance(.milliseconds(1010))
      #expect(service.running == ids)
    }
    #expect(failures(&service, ids).isEmpty)
  }

  @Test("is found if it ends the process only after some time, beside others that take long", arguments: 0..<5)
  func late(place: Int) {
    var (service, ids) = service(5)
    let lethal = ids[place]
    var deaths = 0
    repeat {
      service.die()
      deaths += 1
      var begun: Timestamp?
      for _ in 0..<1000 where begun.map({ service.probe.now - $0 < .milliseconds(600) }) ?? true {
        if begun == nil, service.running.contains(lethal) { begun = service.probe.now }
        service.probe.advance(.milliseconds(10))
      }
    } while service.running.contains(lethal) && deaths < 20
    #expect(deaths <= 8)
    #expect(failures(&service, ids) == [lethal])
  }

  @Test("is not one that the process survives now and then: kills from outside meet it by chance")
  func survived() {
    var (service, ids) = service(1)
    for _ in 0..<4 {
      service.die()
      service.die()
      #expect(service.running == ids)
      service.probe.end(ids[0], status: 500)
      service.probe.advance(.seconds(3))
    }
    #expect(failures(&service, ids).isEmpty)
  }

  @Test("by a crash is found although the process survives it now and then")
  func crashesBetween() {
    var (service, ids) = service(1)
    service.die(CrashRecord(signal: 11, call: ids[0]))
    service.probe.end(ids[0], status: 500)
    service.probe.advance(.seconds(3))
    service.die(CrashRecord(signal: 11, call: ids[0]))
    #expect(failures(&service, ids) == ids)
  }

  @Test("is not the only one in flight when the crash names another, which is not in flight any more")
  func namedElse() {
    var (service, ids) = service(1)
    for _ in 0..<6 {
      service.die(CrashRecord(signal: 11, call: CallID(rawValue: 1)))
      #expect(service.running == ids)
    }
    #expect(failures(&service, ids).isEmpty)
  }

  @Test("is not the one in flight at a stop, whoever loses patience with it")
  func stop() {
    var (service, ids) = service(1)
    for _ in 0..<6 {
      service.probe.hear(.drain)
      service.probe.commit()
      service.die()
      #expect(service.running == ids)
    }
    service.probe.end(ids[0], status: 200)
    #expect(service.progress(ids[0])?.state == .succeeded)
  }

  @Test("makes nothing wait when nothing was in flight, and nothing when it waits itself")
  func nothing() {
    var service = Service()
    service.die()
    let ids = (0..<3).map { _ in service.probe.submit(Self.patient) }
    #expect(service.running == ids)
    service.die()
    service.probe.control(.pause)
    let other = service.probe.submit(Self.patient, to: "http://other.example")
    service.probe.advance(.milliseconds(250))
    #expect(service.running.contains(other))
  }

  @Test("keeps no call from its deadline: it waits for half of its time at most")
  func deadline() {
    var (service, _) = service(12)
    var short = Self.patient
    short.deadline = .seconds(1)
    service.die()
    let new = service.probe.submit(short)
    service.probe.advance(.milliseconds(400))
    #expect(!service.running.contains(new))
    service.probe.advance(.milliseconds(100))
    #expect(service.running.contains(new) && service.running.count == 13)
  }

  @Test("is made again if somebody retries it, with its strikes anew")
  func retried() throws {
    var (service, ids) = service(1)
    _ = run(&service, lethal: [ids[0]])
    let found = service.record(ids[0])
    let record = try #require(found)
    #expect(record.whenRepeated { [] } == .notRerun)
    let command = CallCommand(.retry, ids[0], reply: service.probe.token(for: CallCommand.Reply.self))
    service.probe.hear(.command(command))
    service.probe.requests.removeAll { if case .fetch = $0.body { true } else { false } }
    service.probe.hear(.fetched(command, record))
    service.probe.commit()
    #expect(service.running == ids)
    let (deaths, _) = run(&service, lethal: [ids[0]])
    #expect(deaths == 4 && failures(&service, ids) == ids)
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

  @Test("begin one after the other there, and are blamed only while nothing else of that instance is in flight")
  func oneAtATime() throws {
    var probe = asking()
    let records = running(3, at: probe.now)
    probe.grant(.all, RecoveredState(running: records, unfinished: 3, namespaces: [(.default, 3)]))
    probe.commit()
    #expect(probe.starts.count == 1)
    let first = probe.starts[0].call.id
    func isAlone(_ id: CallID) -> Bool { probe.engine.calls[id]?.record.progress.isAlone == true }
    #expect(isAlone(first))
    probe.advance(.milliseconds(250))
    #expect(probe.starts.count == 2)
    #expect(!isAlone(first) && !isAlone(probe.starts[1].call.id))
    let written = probe.written.last { if case .update(first, _, _) = $0 { true } else { false } }
    guard case .update(_, let progress, nil)? = written else { throw Failure.notWritten }
    #expect(progress.state == .running && !progress.isAlone, "that is on disk before the other begins")
  }

  private enum Failure: Error { case notWritten }
}
