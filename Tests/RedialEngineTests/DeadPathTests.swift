@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("A dead path holds no other")
struct DeadPathTests {
  /// What tells callers apart.
  private enum Mark: CaseIterable {
    case path, credential, stored, label

    /// How "dead" is shown.
    var shown: FailingPart.Mark {
      switch self {
      case .path: .path("/dead")
      case .credential: .credential("authorization")
      case .stored: .credential("dead")
      case .label: .label(CallSpec.Label(name: "tenant", value: "dead"))
      }
    }

    func spec(_ caller: String, _ policy: RetryPolicy = .hour) -> CallSpec {
      let origin = EngineProbe.target.bare
      return switch self {
      case .path: .test(policy, url: "\(origin)/\(caller)")
      case .credential: .test(policy, url: "\(origin)/all", headers: [HeaderField("authorization", caller)])
      case .stored: .test(policy, url: "\(origin)/all", credential: caller)
      case .label: .test(policy, url: "\(origin)/all", labels: [CallSpec.Label(name: "tenant", value: caller)])
      }
    }
  }

  @Test("what fails is known for as long as it does, in at most so many parts")
  func parts() throws {
    var scene = Scene()
    for number in 0..<40 { _ = scene.submit(Mark.path.spec("dead" + String(repeating: "x", count: number % 20))) }
    scene.pass(.seconds(6))
    _ = scene.submit(Mark.path.spec("well"))
    scene.pass(.seconds(120))
    _ = scene.submit(Mark.path.spec("well"))
    #expect(scene.failing.count == FailingPart.mostParts)
    scene.isMended = true
    for _ in 0..<20 {
      _ = scene.submit(Mark.path.spec("well"))
      scene.pass(.seconds(60))
    }
    #expect(scene.failing.isEmpty)
    #expect(scene.probe.engine.roster.targets[0].failing.isEmpty)
  }

  @Test("a path is not blamed for what failed on it before it did", arguments: [Mark.credential, .label])
  private func known(_ mark: Mark) {
    var scene = Scene()
    for _ in 0..<40 { _ = scene.submit(mark.spec("dead")) }
    scene.pass(.seconds(6))
    _ = scene.submit(mark.spec("well"))
    scene.pass(.seconds(1))
    // Other paths get through, and on this one only those that fail are called.
    for _ in 0..<20 {
      for _ in 0..<2 { _ = scene.submit(mark.spec("dead")) }
      _ = scene.submit(Mark.path.spec("well"))
      scene.pass(.seconds(10))
    }
    #expect(scene.failing.map(\.mark) == [mark.shown])
    // The path fails for everyone.
    for number in 0..<20 {
      _ = scene.submit(mark.spec("dead\(number)"))
      _ = scene.submit(Mark.path.spec("well"))
      scene.pass(.seconds(10))
    }
    #expect(scene.failing.map(\.mark) == [mark.shown, .path("/all")])
  }

  // All kinds had failed, and the probe hung: nothing else was sent for as long as its attempt took.
  @Test("a probe that hangs keeps the breaker from closing for two seconds only")
  func hangs() throws {
    var probe = EngineProbe(
      EngineSettings(
        breaker: CircuitBreakerSettings(
          consecutiveFailures: 3, significance: 1e-6, openInterval: .seconds(10), openMultiplier: 1.1)))
    let origin = EngineProbe.target.bare
    func spec(_ path: String, _ policy: RetryPolicy = .patient()) -> CallSpec {
      .test(policy, url: "\(origin)/\(path)")
    }
    for path in ["hang", "well", "hang", "well"] {
      probe.end(probe.submit(spec(path, .patient(attempts: 1))), status: 500)
    }
    // Both have failed in the outage: neither is tried before the interval is over.
    for path in ["well", "hang", "well", "hang"] {
      let id = probe.submit(spec(path, .patient(attempts: 1)))
      for _ in 0..<600 where probe.starts.last?.call.id != id { probe.advance(.milliseconds(100)) }
      probe.end(id, status: 500)
    }
    for _ in 0..<5 { _ = probe.submit(spec("hang")) }
    let began = probe.starts.count
    for _ in 0..<1000 where probe.starts.count == began { probe.advance(.milliseconds(100)) }
    for _ in 0..<5 { _ = probe.submit(spec("well")) }
    #expect(probe.starts.count == began + 1)
    var waited = 0
    while probe.starts.last?.call.spec.url.hasSuffix("/well") != true, waited < 600 {
      probe.advance(.milliseconds(100))
      waited += 1
    }
    #expect((20...120).contains(waited), "\(waited * 100) ms")
    let well = try #require(probe.starts.last)
    probe.end(well.call.id, status: 200)
    #expect(probe.engine.roster.targets[0].breaker.state == .closed)
  }

  @Test("what this side cannot do is shown as that, until an attempt says something about the target")
  func ownSide() {
    var probe = EngineProbe()
    let ids = (0..<4).map { _ in probe.submit(Mark.path.spec("well")) }
    var failing: [FailingPart] { probe.engine.roster.targets[0].snapshot(at: probe.now).failing }
    for (place, id) in ids.prefix(3).enumerated() {
      #expect(failing.isEmpty, "\(place)")
      probe.end(id, .localFault, code: "proxyUnreachable")
    }
    #expect(failing.map(\.text) == ["Redial cannot call it"] && failing.first?.cause == "proxyUnreachable")
    #expect(failing.first?.calls == 3)
    probe.end(ids[3], status: 503)
    #expect(failing.isEmpty)
  }

  /// A target whose callers named "dead…" get 503, those named "hang…" no answer for 30 s, and others 200 after a
  /// millisecond.
  private struct Scene {
    var probe: EngineProbe
    /// The attempts that have begun, when, and whose they are.
    var begun: [(at: Timestamp, caller: String)] = []
    private var seen = 0
    private var pending: [(end: Timestamp, id: CallID, caller: String)] = []
    /// Whether nobody gets through.
    var isDown = false
    /// Whether those that were dead get through.
    var isMended = false
    var succeeded: [CallID: Timestamp] = [:]

    init(_ settings: EngineSettings = .inMemory) { probe = EngineProbe(settings) }

    private static func caller(_ spec: CallSpec) -> String {
      spec.labels.first?.value ?? spec.credential ?? spec.headers.first?.value
        ?? String(spec.url.split { $0 == "/" || $0 == "=" }.last ?? "")
    }

    private mutating func look() {
      for case .start(let start) in probe.actions[seen...] {
        let caller = Self.caller(start.call.spec)
        begun.append((probe.now, caller))
        let takes: Duration = caller.hasPrefix("hang") ? .seconds(30) : .milliseconds(1)
        pending.append((probe.now + takes, start.call.id, caller))
      }
      seen = probe.actions.count
    }

    mutating func submit(_ spec: CallSpec) -> CallID {
      let id = probe.submit(spec)
      look()
      return id
    }

    /// Time passes, from one thing that happens to the next.
    mutating func pass(_ time: Duration) {
      let end = probe.now + time
      while probe.now < end {
        let wake = max(probe.wakeAt ?? end, probe.now + .milliseconds(1))
        let next = min(end, wake, pending.map(\.end).min() ?? end)
        probe.advance(max(.zero, next - probe.now))
        look()
        for (_, id, caller) in pending.filter({ $0.end <= probe.now }) {
          if caller.hasPrefix("hang") {
            probe.end(id, .maybeSent, code: AttemptFailure.timeout, took: .seconds(30))
          } else if caller.hasPrefix("dead") && !isMended || isDown {
            probe.end(id, status: 503, took: .milliseconds(1))
          } else {
            probe.end(id, status: 200, took: .milliseconds(1))
            succeeded[id] = probe.now
          }
        }
        pending.removeAll { $0.end <= probe.now }
        look()
      }
    }

    var openings: Int { probe.notices.count { if case .breakerOpened = $0 { true } else { false } } }
    var isOpen: Bool { probe.engine.roster.targets[0].breaker.state != .closed }
    var failing: [FailingPart] { probe.engine.roster.targets[0].snapshot(at: probe.now).failing }
    func starts(of caller: String) -> Int { begun.count { $0.caller == caller } }
  }

  @Test("forty calls of a dead caller do not delay one of another", arguments: Mark.allCases)
  private func deadCaller(_ mark: Mark) throws {
    var scene = Scene()
    for _ in 0..<40 { _ = scene.submit(mark.spec("dead")) }
    scene.pass(.seconds(6))
    #expect(scene.isOpen)
    let (id, from) = (scene.submit(mark.spec("well")), scene.probe.now)
    scene.pass(.seconds(2))
    let done = try #require(scene.succeeded[id])
    #expect(done - from <= .milliseconds(600), "\(done - from)")
    #expect(!scene.isOpen)
  }

  @Test("what works gets through beside what does not, even if nothing that is remembered tells them apart")
  func alike() {
    let origin = EngineProbe.target.bare
    for spec in [
      { CallSpec.test(.hour, url: "\(origin)/all?key=\($0)") },
      { CallSpec.test(.hour, url: "\(origin)/all", headers: [HeaderField("x-auth-token", $0)]) },
    ] as [(String) -> CallSpec] {
      var scene = Scene()
      for _ in 0..<40 { _ = scene.submit(spec("dead")) }
      scene.pass(.seconds(6))
      #expect(scene.isOpen)
      // There are always new calls that fail, and they are the oldest.
      var ids: [CallID] = []
      for second in 0..<120 {
        for _ in 0..<3 { _ = scene.submit(spec("dead")) }
        if second % 6 == 0 { ids.append(scene.submit(spec("well"))) }
        scene.pass(.seconds(1))
      }
      let late = ids.filter { scene.succeeded[$0] == nil }
      #expect(late.count < 8, "\(late.count) of \(ids.count)")
    }
  }

  @Test("nor do several dead paths, some of which hang")
  func deadPaths() throws {
    var scene = Scene()
    for number in 0..<20 {
      _ = scene.submit(Mark.path.spec("dead"))
      _ = scene.submit(Mark.path.spec(number % 4 == 0 ? "hangs" : "deadtoo"))
    }
    scene.pass(.seconds(6))
    #expect(scene.isOpen)
    let (id, from) = (scene.submit(Mark.path.spec("well")), scene.probe.now)
    scene.pass(.seconds(4))
    let done = try #require(scene.succeeded[id])
    #expect(done - from <= .milliseconds(2100), "\(done - from)")
  }

  @Test("nor does a dead path whose calls have a label each, or a dead credential that tries many paths")
  func manyKinds() throws {
    let origin = EngineProbe.target.bare
    func order(_ name: String, _ path: String) -> CallSpec {
      .test(.hour, url: "\(origin)/\(path)", labels: [CallSpec.Label(name: "order", value: name)])
    }
    func key(_ value: String, _ path: String) -> CallSpec {
      .test(.hour, url: "\(origin)/\(path)", headers: [HeaderField("authorization", value)])
    }
    let letters = "abcdefghijklmnopqrstuvwxyz".map(String.init)
    for isLabel in [true, false] {
      var scene = Scene()
      func dead(_ number: Int) -> CallSpec {
        let name = letters[number % 26] + letters[number / 26]
        return isLabel ? order("dead" + name, "broken") : key("dead", name)
      }
      for number in 0..<40 { _ = scene.submit(dead(number)) }
      scene.pass(.seconds(6))
      #expect(scene.isOpen)
      for number in 40..<100 { _ = scene.submit(dead(number)) }
      let well = isLabel ? order("well", "fine") : key("well", "aa")
      let (id, from) = (scene.submit(well), scene.probe.now)
      scene.pass(.seconds(3))
      let done = try #require(scene.succeeded[id])
      #expect(done - from <= .milliseconds(1100), "\(done - from)")
    }
  }

  @Test("a probe that hangs makes one of another kind wait for two seconds, and those of its own kind for the interval")
  func hangingProbe() {
    var scene = Scene()
    for _ in 0..<40 { _ = scene.submit(Mark.path.spec("dead")) }
    scene.pass(.seconds(6))
    for _ in 0..<10 { _ = scene.submit(Mark.path.spec("hangs")) }
    scene.pass(.milliseconds(600))
    #expect(scene.starts(of: "hangs") == 1)
    let id = scene.submit(Mark.path.spec("well"))
    scene.pass(.milliseconds(1000))
    #expect(scene.succeeded[id] == nil && scene.starts(of: "hangs") == 1)
    scene.pass(.seconds(1))
    #expect(scene.succeeded[id] != nil)
  }

  @Test(
    "a dead target gets two requests a second at most, of however many kinds its calls are, and kinds are remembered")
  func deadTarget() {
    var scene = Scene()
    for _ in 0..<40 { _ = scene.submit(Mark.path.spec("dead")) }
    scene.pass(.seconds(4))
    #expect(scene.isOpen)
    let before = scene.begun.count
    for name in 0..<400 {
      _ = scene.submit(Mark.path.spec("dead" + String(repeating: "y", count: name + 1)))
      scene.pass(.milliseconds(300))
    }
    let probes = scene.begun.suffix(from: before).map(\.at)
    let gaps = zip(probes.dropFirst(), probes).map { $0.0 - $0.1 }
    #expect(gaps.allSatisfy { $0 >= .milliseconds(499) }, "\(gaps.min() ?? .zero)")
    // As many as are remembered, and those at the end of each interval.
    #expect((100...180).contains(probes.count), "\(probes.count)")
  }

  @Test(
    "what always fails is charged to itself: the target is up, and its other calls go at once", arguments: Mark.allCases
  )
  private func chargedToItself(_ mark: Mark) {
    var scene = Scene()
    for _ in 0..<40 { _ = scene.submit(mark.spec("dead")) }
    scene.pass(.seconds(6))
    _ = scene.submit(mark.spec("well"))
    scene.pass(.seconds(1))
    let openings = scene.openings
    for _ in 0..<5 {
      // Long silences between the calls of the others.
      for _ in 0..<12 {
        for _ in 0..<4 { _ = scene.submit(mark.spec("dead")) }
        scene.pass(.seconds(10))
      }
      let (id, from) = (scene.submit(mark.spec("well")), scene.probe.now)
      scene.pass(.milliseconds(500))
      #expect(scene.succeeded[id].map { $0 - from <= .milliseconds(20) } == true)
    }
    #expect(scene.openings == openings)
    #expect(scene.probe.engine.roster.targets[0].record.outage == nil)
    let parts = scene.failing
    #expect(parts.map(\.mark) == [mark.shown] && parts.first?.cause == "status 503")
    #expect(parts.first.map { (100...280).contains($0.calls) } == true, "\(parts.first?.calls ?? 0)")
    // When the others fail, too, it is an outage.
    scene.isDown = true
    for _ in 0..<40 { _ = scene.submit(mark.spec("well")) }
    scene.pass(.seconds(8))
    #expect(scene.openings > openings && scene.isOpen)
  }

  @Test("a dead caller does not make a burst of others wait for the pace")
  func burst() {
    var scene = Scene()
    for _ in 0..<200 { _ = scene.submit(Mark.path.spec("dead")) }
    scene.pass(.seconds(20))
    let ids = (0..<300).map { _ in scene.submit(Mark.path.spec("well")) }
    scene.pass(.seconds(2))
    #expect(ids.allSatisfy { scene.succeeded[$0] != nil })
  }

  @Test("after an outage a new path does not let the backlog go unpaced")
  func outage() {
    var scene = Scene()
    scene.isDown = true
    for _ in 0..<100 { _ = scene.submit(Mark.path.spec("a")) }
    scene.pass(.seconds(60))
    #expect(scene.isOpen)
    for _ in 0..<500 { _ = scene.submit(Mark.path.spec("a")) }
    scene.isDown = false
    _ = scene.submit(Mark.path.spec("b"))
    scene.pass(.seconds(2))
    #expect(!scene.isOpen)
    #expect((1...60).contains(scene.succeeded.count), "\(scene.succeeded.count)")
    scene.pass(.seconds(300))
    #expect(scene.succeeded.count == 601)
  }

  @Test("a call that goes ahead finds room in a memory that is full of others")
  func fullMemory() {
    var settings = EngineSettings(breaker: .service)
    settings.maxReadyPerTarget = 20
    var scene = Scene(settings)
    for _ in 0..<200 { _ = scene.submit(Mark.path.spec("dead")) }
    scene.pass(.seconds(6))
    for _ in 0..<200 { _ = scene.submit(Mark.path.spec("dead")) }
    let id = scene.submit(Mark.path.spec("well"))
    scene.pass(.seconds(2))
    #expect(scene.succeeded[id] != nil)
  }

  @Test("a call that does not wait for a breaker is not tripped by a dead caller")
  func onTrip() {
    var scene = Scene()
    for _ in 0..<40 { _ = scene.submit(Mark.path.spec("dead")) }
    scene.pass(.seconds(6))
    var policy = RetryPolicy.hour
    policy.onTrip = .fail
    let (id, other) = (scene.submit(Mark.path.spec("well", policy)), scene.submit(Mark.path.spec("dead", policy)))
    #expect(scene.probe.progress(other)?.failure == .tripped)
    scene.pass(.seconds(1))
    #expect(scene.succeeded[id] != nil)
  }
}

extension EngineSettings {
  /// With room for all calls in memory, however long they wait.
  fileprivate static var inMemory: EngineSettings {
    var settings = EngineSettings(breaker: .service)
    settings.holdWindow = .seconds(3600)
    settings.maxParkedPerTarget = 1000
    return settings
  }
}

extension RetryPolicy {
  /// As a service's calls have: attempts without bound, in an hour.
  fileprivate static let hour = RetryPolicy(
    maxAttempts: .max, deadline: .seconds(3600), attemptTimeout: .seconds(30),
    backoff: Backoff(initial: .milliseconds(500), multiplier: 2, jitter: .none))
}
