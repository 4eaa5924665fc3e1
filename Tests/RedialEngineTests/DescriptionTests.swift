@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("A target as people see it")
struct DescriptionTests {
  private let target = EngineProbe.target

  private func describe(_ probe: inout EngineProbe, _ key: TargetKey = EngineProbe.target) -> TargetSnapshot? {
    probe.ask { $0.describe(key) } ?? nil
  }

  private func page(_ probe: inout EngineProbe, _ query: TargetQuery) -> TargetPage? {
    probe.ask { $0.describe(query) }
  }

  @Test("what waits is counted by its reason, in memory and in the target's queue in the store")
  func backlog() throws {
    var settings = EngineSettings(maxInFlightPerTarget: 1)
    settings.maxReadyPerTarget = 2
    var probe = EngineProbe(settings)
    for _ in 0..<6 { probe.submit() }
    probe.submit(after: .seconds(2))
    probe.submit(to: "http://other.example")
    var found = try #require(describe(&probe))
    #expect(found.backlog.counts == [.concurrency: 5, .startTime: 1] && found.backlog.total == 6)
    #expect(found.inFlight == 1)
    // A failure waits between attempts; its place is taken by another.
    probe.end(probe.starts[0].call.id, status: 503)
    found = try #require(describe(&probe))
    #expect(found.backlog.counts == [.concurrency: 4, .startTime: 1, .backoff: 1])
    probe.hear(.targetCommand(TargetCommand(.pause, target, reply: probe.token())))
    probe.commit()
    found = try #require(describe(&probe))
    #expect(found.backlog.counts == [.paused: 6])
    let all = page(&probe, TargetQuery(namespace: .default))
    #expect(all?.targets.map(\.key) == ["http://other.example", target] && all?.targets.last?.backlog == found.backlog)
    #expect(describe(&probe, "nobody") == nil)
  }

  @Test("targets are listed in pages by key, however they came, all of them or those in which something goes on")
  func pages() {
    var probe = EngineProbe()
    var expected: [TargetKey] = []
    for number in (0..<23).map({ ($0 * 7) % 23 }) {
      let key: TargetKey = "http://t\(number).example"
      let id = probe.submit(to: key)
      if number % 2 == 0 { probe.end(id, status: 200) }
      expected.append(key)
    }
    func list(limit: Int, isActive: Bool) -> [[TargetKey]] {
      var pages: [[TargetKey]] = []
      var after: TargetKey?
      repeat {
        let query = TargetQuery(namespace: .default, after: after, limit: limit, isActive: isActive)
        guard let found = page(&probe, query) else { return [] }
        pages.append(found.targets.map(\.key))
        after = found.next
      } while after != nil && pages.count < 100
      return pages
    }
    expected.sort()
    for limit in [1, 5, 22, 23, 24, 250] {
      let pages = list(limit: limit, isActive: false)
      #expect(pages.flatMap { $0 } == expected, "\(limit)")
      #expect(pages.allSatisfy { $0.count <= limit } && pages.count == (23 + limit - 1) / limit, "\(limit)")
    }
    let active = expected.filter { key in (0..<23).contains { $0 % 2 == 1 && key == "http://t\($0).example" } }
    #expect(list(limit: 4, isActive: true).flatMap { $0 } == active)
  }

  @Test("a namespace's targets are described with what waits for them, and nobody else's")
  func ofNamespace() {
    let acme = Namespace("acme") ?? .default
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    let own = TargetKey("http://own.example", in: acme)
    for _ in 0..<3 { probe.submit(to: own) }
    for _ in 0..<4 { probe.submit() }
    func targets(_ namespace: Namespace) -> [TargetSnapshot] {
      page(&probe, TargetQuery(namespace: namespace))?.targets ?? []
    }
    #expect(targets(acme).map(\.key) == [own])
    #expect(targets(acme).first?.backlog.counts == [.concurrency: 2])
    #expect(targets(.default).map(\.key) == [target])
    #expect(targets(.default).first?.backlog.counts == [.concurrency: 3])
    #expect(targets(Namespace("other") ?? .default).isEmpty)
  }

  @Test("what came of attempts is counted, but not what was aborted by this side")
  func recent() throws {
    var probe = EngineProbe()
    let ids = (0..<4).map { _ in probe.submit() }
    probe.end(ids[0], status: 200)
    probe.end(ids[1], status: 503)
    probe.end(ids[2], status: 404)
    probe.hear(.command(CallCommand(.cancel, ids[3], reply: probe.token())))
    probe.hear(.attemptEnded(ids[3], number: 1, AttemptResult(outcome: .cancelled, duration: .seconds(1))))
    probe.commit()
    let found = try #require(describe(&probe))
    let tally = found.recent.tally(over: .minute, at: found.time)
    #expect(tally.successes == 1 && tally.failures == 2 && tally.ends == 2)
    probe.advance(.seconds(1000))
    let later = try #require(describe(&probe))
    // The two retries of the second, long ago by now.
    #expect(later.recent.tally(over: .quarterHour, at: later.time).attempts == 0 || later.time == found.time)
  }

  @Test("a rule holds for the targets that it matches, below what is set for one of them and above the rest")
  func rules() throws {
    var settings = EngineSettings(maxInFlightPerTarget: 50)
    var (first, second, own) = (TargetOverrides(), TargetOverrides(), TargetOverrides())
    (first.maxInFlight, first.attemptTimeout, second.maxInFlight, own.maxInFlight) = (3, .seconds(7), 9, 1)
    settings.targetRules = [
      TargetRule(match: "*.example", settings: first), TargetRule(match: "*", settings: second),
    ]
    var probe = EngineProbe(settings)
    probe.submit()
    probe.submit(to: "elsewhere")
    for _ in 0..<5 { probe.submit() }
    #expect(probe.starts.count { $0.call.spec.target == target } == 3)
    var found = try #require(describe(&probe))
    #expect(found.settings.maxInFlight == 3 && found.pattern == "*.example" && found.overrides == TargetOverrides())
    #expect(describe(&probe, "elsewhere")?.settings.maxInFlight == 9)
    probe.hear(.targetCommand(TargetCommand(.configure(own), target, reply: probe.token())))
    probe.commit()
    found = try #require(describe(&probe))
    #expect(found.settings.maxInFlight == 1 && found.settings.attemptTimeout == .seconds(7) && found.overrides == own)
    probe.hear(
      .targetCommand(TargetCommand(.configure(TargetOverrides()), target, reply: probe.token())))
    probe.commit()
    #expect(describe(&probe)?.settings.maxInFlight == 3)
  }
}
