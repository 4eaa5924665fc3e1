@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

/// Every setting of a target, and what its change does to calls that wait already: at once, before any time has passed.
@Suite("A changed setting has its effect on what waits, at once")
struct ChangedSettingsTests {
  private struct Case: Sendable, CustomTestStringConvertible {
    let setting: String
    var settings = EngineSettings(breaker: .test)
    /// What is set first, and then.
    var before: @Sendable (inout TargetOverrides) -> Void = { _ in }
    let after: @Sendable (inout TargetOverrides) -> Void
    /// Brings calls to wait.
    let scene: @Sendable (inout EngineProbe) -> Void
    /// How many attempts of those that wait begin within a time from the change on.
    let starts: Int
    var within = Duration.zero
    /// Whether they begin at the end of the breaker's interval.
    var waitsForProbe = false
    var testDescription: String { setting }
  }

  /// The breaker has opened, and forty calls wait for it.
  @Sendable private static func open(_ probe: inout EngineProbe) {
    for id in (0..<3).map({ _ in probe.submit(.patient(attempts: 1)) }) { probe.end(id, status: 500) }
    for _ in 0..<40 { probe.submit(.patient()) }
  }

  /// The same, and a probe is in flight.
  @Sendable private static func halfOpen(_ probe: inout EngineProbe) {
    open(&probe)
    untilProbe(&probe)
  }

  /// Time passes until the breaker's interval is over, but not so much that others go beside a probe without an answer.
  @Sendable private static func untilProbe(_ probe: inout EngineProbe) {
    let before = probe.starts.count
    for _ in 0..<600 where probe.starts.count == before { probe.advance(.milliseconds(100)) }
  }

  /// After an outage the pace holds back most of forty calls.
  @Sendable private static func paced(_ probe: inout EngineProbe) {
    halfOpen(&probe)
    if let last = probe.starts.last { probe.end(last.call.id, status: 200, took: .milliseconds(5)) }
  }

  private static let cases: [Case] = [
    Case(setting: "consecutiveFailures off, open", after: { $0.consecutiveFailures = 0 }, scene: open, starts: 40),
    Case(
      setting: "consecutiveFailures off, half-open", after: { $0.consecutiveFailures = 0 }, scene: halfOpen, starts: 39),
    Case(setting: "consecutiveFailures more", after: { $0.consecutiveFailures = 4 }, scene: open, starts: 40),
    Case(setting: "consecutiveFailures reached as well", after: { $0.consecutiveFailures = 2 }, scene: open, starts: 0),
    Case(setting: "significance", after: { $0.significance = 1e-30 }, scene: open, starts: 40),
    Case(setting: "failureTime", after: { $0.failureTime = .seconds(600) }, scene: open, starts: 40),
    Case(
      setting: "failureRate off",
      before: { ($0.consecutiveFailures, $0.failureRate, $0.minimumCalls) = (0, 0.5, 2) },
      after: { $0.failureRate = 0 },
      scene: open, starts: 40),
    Case(
      setting: "minCalls", before: { ($0.consecutiveFailures, $0.failureRate, $0.minimumCalls) = (0, 0.5, 2) },
      after: { $0.minimumCalls = 50 }, scene: open, starts: 40),
    Case(
      setting: "openInterval", after: { $0.openInterval = .milliseconds(10) }, scene: open, starts: 1,
      within: .milliseconds(10)),
    Case(
      setting: "maxOpenInterval",
      before: { $0.openInterval = .milliseconds(100) },
      after: { $0.maxOpenInterval = .milliseconds(100) },
      scene: { probe in
        open(&probe)
        // It has opened for longer and longer.
        for _ in 0..<5 {
          untilProbe(&probe)
          if let last = probe.starts.last { probe.end(last.call.id, status: 500) }
        }
      }, starts: 1, within: .milliseconds(100)),
    Case(setting: "probes", after: { $0.probes = 3 }, scene: open, starts: 3, waitsForProbe: true),
    Case(
      setting: "maxInFlight", before: { $0.maxInFlight = 1 }, after: { $0.maxInFlight = 5 },
      scene: { probe in for _ in 0..<40 { probe.submit(.patient()) } }, starts: 4),
    Case(
      setting: "rate off", before: { ($0.ratePerSecond, $0.rateBurst) = (0.01, 1) }, after: { $0.ratePerSecond = 0 },
      scene: { probe in for _ in 0..<40 { probe.submit(.patient()) } }, starts: 39),
    Case(
      setting: "rate", before: { ($0.ratePerSecond, $0.rateBurst) = (0.01, 1) }, after: { $0.ratePerSecond = 100 },
      scene: { probe in for _ in 0..<40 { probe.submit(.patient()) } }, starts: 11, within: .milliseconds(100)),
    Case(
      setting: "burst", before: { ($0.ratePerSecond, $0.rateBurst) = (0.01, 1) }, after: { $0.rateBurst = 10 },
      scene: { probe in for _ in 0..<40 { probe.submit(.patient()) } }, starts: 10),
    Case(
      setting: "retryBudget", before: { ($0.retryShare, $0.retriesPerSecond, $0.consecutiveFailures) = (0, 1, 0) },
      after: { ($0.retryShare, $0.retriesPerSecond) = (1, 1000) },
      scene: { probe in
        for id in (0..<60).map({ _ in probe.submit(.patient()) }) { probe.end(id, status: 500) }
        probe.advance(.seconds(1))
      }, starts: 40),
    Case(
      setting: "pace", before: { $0.slowStart = .zero }, after: { $0.pace = .fixed }, scene: paced, starts: 30),
    Case(
      setting: "slowStart", before: { ($0.pace, $0.slowStart) = (.fixed, .seconds(3600)) },
      after: { $0.slowStart = .zero },
      scene: paced, starts: 30),
  ]

  @Test(arguments: cases)
  private func takesEffect(_ one: Case) {
    var probe = EngineProbe(one.settings)
    var overrides = TargetOverrides()
    one.before(&overrides)
    probe.control(.configure(overrides))
    one.scene(&probe)
    probe.advance(.milliseconds(1))
    let before = probe.starts.count
    let waiting = probe.engine.roster.targets[0].dueCalls
    #expect(waiting > 0)
    one.after(&overrides)
    probe.control(.configure(overrides))
    if one.waitsForProbe { Self.untilProbe(&probe) } else { probe.advance(one.within) }
    let starts = probe.starts.count - before
    if one.starts < 30 { #expect(starts == one.starts) } else { #expect(starts >= one.starts, "\(starts)") }
  }

  @Test(
    "the share of new calls is another at once, and an attempt timeout and a credential are those of waiting calls, too"
  )
  func ofStarts() {
    var probe = EngineProbe(EngineSettings(breaker: .test))
    var overrides = TargetOverrides()
    overrides.maxInFlight = 1
    probe.control(.configure(overrides))
    let first = probe.submit(.patient())
    let ids = (0..<3).map { _ in probe.submit(.patient()) }
    (overrides.attemptTimeout, overrides.credential, overrides.newCallShare) = (.seconds(3), "other", 0)
    probe.control(.configure(overrides))
    probe.end(first, status: 200)
    #expect(probe.starts.last?.call.id == ids[0])
    #expect(probe.starts.last?.timeout == .seconds(3) && probe.starts.last?.credential == "other")
    #expect(probe.engine.roster.targets[0].due.share.isOff)
  }

  @Test("the interval that a breaker has by new settings is in its notice and in the store", arguments: [false, true])
  func interval(hasProbe: Bool) throws {
    var probe = EngineProbe(EngineSettings(breaker: .test))
    if hasProbe { Self.halfOpen(&probe) } else { Self.open(&probe) }
    var overrides = TargetOverrides()
    overrides.openInterval = .seconds(3)
    probe.control(.configure(overrides))
    // With a probe in flight it gets them when that has ended.
    if hasProbe { probe.end(try #require(probe.starts.last).call.id, status: 500) }
    guard case .open(let until, _) = probe.engine.roster.targets[0].breaker.state else {
      Issue.record("it is not open")
      return
    }
    #expect(until - probe.now <= .seconds(5))
    #expect(probe.stored(of: EngineProbe.target)?.breaker?.until == until)
    let told = probe.notices.compactMap { notice -> Timestamp? in
      if case .breakerOpened(_, let until, _, _, _) = notice { until } else { nil }
    }
    if hasProbe { #expect(told.last == until) }
  }

  @Test("a breaker that is off when a process begins is not open there, and nothing waits for the pace of its outage")
  func offAtStart() {
    var probe = EngineProbe(EngineSettings(breaker: .test))
    Self.open(&probe)
    let record = probe.stored(of: EngineProbe.target) ?? TargetRecord()
    #expect(record.breaker != nil)
    var settings = EngineSettings(breaker: .test)
    settings.target.breaker.consecutiveFailures = 0
    var next = EngineProbe(settings, recovered: RecoveredState(targets: [(EngineProbe.target, record)]))
    let id = next.submit(.patient())
    #expect(next.starts(of: id) == 1)
    // The same, where it is the target's own setting.
    var overridden = record
    overridden.controls.overrides.consecutiveFailures = 0
    next = EngineProbe(
      EngineSettings(breaker: .test), recovered: RecoveredState(targets: [(EngineProbe.target, overridden)]))
    let other = next.submit(.patient())
    #expect(next.starts(of: other) == 1)
  }
}

extension CircuitBreakerSettings {
  /// Opens after three failures in a row, for ten seconds and longer.
  fileprivate static let test = CircuitBreakerSettings(
    consecutiveFailures: 3, significance: 1e-6, openInterval: .seconds(10), openMultiplier: 1.1)
}
