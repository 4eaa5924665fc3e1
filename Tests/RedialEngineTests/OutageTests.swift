@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Outages of targets")
struct OutageTests {
  private static let settings = EngineSettings(
    breaker: CircuitBreakerSettings(
      consecutiveFailures: 2, significance: 1, openInterval: .seconds(5), openMultiplier: 1, halfOpenProbes: 1))

  /// What was reported of outages, in order: their causes, and the durations of those that are over.
  private func reported(_ probe: EngineProbe) -> [String] {
    probe.notices.compactMap {
      switch $0 {
      case .targetDown(EngineProbe.target, let outage): "down \(outage.cause)"
      case .targetRecovered(EngineProbe.target, let outage) where outage.closedAt == nil: "lapsed"
      case .targetRecovered(EngineProbe.target, let outage):
        "recovered after \(((outage.closedAt ?? .epoch) - outage.since).wholeMicroseconds / 1_000_000) s"
      default: nil
      }
    }
  }

  /// Time passes, and each attempt that is in flight ends so.
  private func pass(_ seconds: Int, _ probe: inout EngineProbe, status: Int) {
    var answered = Set(
      probe.starts.filter { probe.state($0.call.id) != .running }.map { [Int($0.call.id.rawValue), $0.number] })
    for _ in 0..<seconds {
      for start in probe.starts where answered.insert([Int(start.call.id.rawValue), start.number]).inserted {
        probe.end(start.call.id, status: status, took: .milliseconds(10))
      }
      probe.advance(.seconds(1))
    }
  }

  private func openings(_ probe: EngineProbe) -> Int {
    probe.notices.count { if case .breakerOpened = $0 { true } else { false } }
  }

  @Test("however often the breaker opens, an outage is reported once, and its end once it has stayed closed")
  func once() throws {
    var probe = EngineProbe(Self.settings)
    for _ in 0..<3 { probe.submit(.patient(attempts: 1000)) }
    pass(120, &probe, status: 503)
    #expect(openings(probe) > 2)
    #expect(reported(probe) == ["down status 503"])
    #expect(probe.ask { $0.describe(EngineProbe.target)?.health } == .down)
    let began = try #require(probe.engine.roster.targets[0].record.outage?.since)
    // It works, but not for long.
    pass(15, &probe, status: 200)
    #expect(probe.ask { $0.describe(EngineProbe.target)?.health } == .degraded)
    for _ in 0..<3 { probe.submit(.patient(attempts: 1000)) }
    pass(20, &probe, status: 503)
    #expect(reported(probe) == ["down status 503"])
    pass(60, &probe, status: 200)
    #expect(reported(probe).count == 2)
    let stored = try #require(probe.stored(of: EngineProbe.target))
    #expect(stored.outage == nil && probe.ask { $0.describe(EngineProbe.target)?.outage } == .some(nil))
    #expect(stored.pastOutages.count == 1)
    #expect(probe.ask { $0.describe(EngineProbe.target)?.pastOutages } == stored.pastOutages)
    for case .targetRecovered(_, let outage) in probe.notices {
      #expect(stored.pastOutages == [outage])
      #expect(outage.since == began && outage.waited > 0)
      #expect(outage.closedAt.map { $0 - began >= .seconds(120) && $0 - began < .seconds(180) } == true)
    }
    for _ in 0..<3 { probe.submit(.patient(attempts: 1000)) }
    pass(5, &probe, status: 500)
    #expect(reported(probe).last == "down status 500" && reported(probe).count == 3)
  }

  @Test("the next process goes on with it", arguments: [false, true])
  func restart(isClosed: Bool) {
    var probe = EngineProbe(Self.settings)
    for _ in 0..<3 { probe.submit(.patient(attempts: 1000)) }
    pass(20, &probe, status: 503)
    if isClosed { pass(10, &probe, status: 200) }
    var targets: [TargetKey: TargetRecord] = [:]
    for case .target(let key, let record) in probe.written { targets[key] = record }
    #expect((targets[EngineProbe.target]?.outage?.closedAt != nil) == isClosed)
    var next = EngineProbe(Self.settings, recovered: RecoveredState(targets: targets.map { ($0.key, $0.value) }))
    next.now = probe.now
    for _ in 0..<3 { next.submit(.patient(attempts: 1000)) }
    pass(60, &next, status: 200)
    #expect(reported(probe) == ["down status 503"] && reported(next).count == 1)
    #expect(reported(next).first?.hasPrefix("recovered") == true)
    // Neither does a restart forget it afterwards.
    let over = next.stored(of: EngineProbe.target)
    #expect(over?.pastOutages.map(\.cause) == ["status 503"])
    let last = EngineProbe(
      Self.settings, recovered: RecoveredState(targets: over.map { [(EngineProbe.target, $0)] } ?? []))
    #expect(last.engine.roster.targets.first?.record.pastOutages == over?.pastOutages)
  }

  @Test("an outage of a target that nobody calls any more lapses, but not while a call waits for it")
  func lapses() {
    var probe = EngineProbe(Self.settings)
    let calls = (0..<3).map { _ in probe.submit() }
    pass(90, &probe, status: 503)
    #expect(calls.allSatisfy { probe.state($0)?.isFinal == true })
    #expect(reported(probe) == ["down status 503"])
    probe.control(.pause)
    let last = probe.submit(.patient(attempts: 1000))
    probe.advance(.seconds(3000))
    #expect(reported(probe).count == 1 && probe.state(last)?.isFinal == false)
    // Its deadline ends it, and nothing else comes.
    probe.advance(.seconds(1000))
    #expect(probe.state(last) == .failed)
    probe.advance(.seconds(1000))
    #expect(reported(probe) == ["down status 503", "lapsed"])
    #expect(probe.stored(of: EngineProbe.target)?.outage == nil)
    #expect(probe.ask { $0.describe(EngineProbe.target)?.health } == .up)
  }

  @Test("an operator who holds the breaker open makes no outage, and one who resets it ends one")
  func operators() {
    var probe = EngineProbe(Self.settings)
    probe.control(.trip)
    probe.advance(.seconds(60))
    probe.control(.reset)
    #expect(reported(probe).isEmpty)
    for _ in 0..<2 { probe.submit(.patient(attempts: 1000)) }
    pass(3, &probe, status: 503)
    probe.control(.reset)
    #expect(reported(probe) == ["down status 503"])
    pass(40, &probe, status: 200)
    #expect(reported(probe).count == 2)
  }

  @Test("an operator who trips a target that works again does not prolong its outage")
  func tripped() {
    var probe = EngineProbe(Self.settings)
    for _ in 0..<3 { probe.submit(.patient(attempts: 1000)) }
    pass(20, &probe, status: 503)
    pass(10, &probe, status: 200)
    #expect(probe.ask { $0.describe(EngineProbe.target)?.health } == .degraded)
    probe.control(.trip)
    probe.submit(.patient(attempts: 1000))
    probe.advance(.seconds(40))
    #expect(reported(probe).count == 2 && reported(probe).last?.hasPrefix("recovered") == true)
  }

  @Test("an outage of a target that is to be forgotten for others is over at once")
  func forgotten() {
    var settings = Self.settings
    settings.maxTargets = 2
    var probe = EngineProbe(settings)
    for _ in 0..<3 { probe.submit() }
    pass(90, &probe, status: 503)
    #expect(reported(probe) == ["down status 503"])
    probe.advance(.seconds(120))
    probe.submit(to: "http://b.example")
    let reply = probe.submitOnly(to: "http://c.example")
    #expect(probe.refusal(of: reply) == nil)
    #expect(reported(probe) == ["down status 503", "lapsed"])
    // Its breaker has closed, so it begins slowly; that over, it is forgotten.
    probe.advance(.seconds(70))
    probe.submit(to: "http://d.example")
    #expect(probe.engine.roster.place(of: EngineProbe.target) == nil)
  }

  @Test("a target is degraded while many of its attempts fail, and up if few do")
  func health() {
    var settings = EngineSettings()
    settings.target.breaker.consecutiveFailures = 0
    var probe = EngineProbe(settings)
    #expect(probe.ask { $0.describe(EngineProbe.target, hasCalls: true)?.health } == .up)
    for _ in 0..<20 {
      probe.submit(.patient(attempts: 1000))
      pass(1, &probe, status: 200)
    }
    #expect(probe.ask { $0.describe(EngineProbe.target)?.health } == .up)
    for _ in 0..<6 {
      probe.submit(.patient(attempts: 1000))
      pass(1, &probe, status: 500)
    }
    #expect(probe.ask { $0.describe(EngineProbe.target)?.health } == .degraded)
    #expect(reported(probe).isEmpty)
  }
}
