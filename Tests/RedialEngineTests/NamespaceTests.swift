@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Namespaces share an engine")
struct NamespaceTests {
  private static let acme = Namespace("acme") ?? .default
  private static let other = Namespace("other") ?? .default

  private static func target(_ name: String, of namespace: Namespace) -> TargetKey {
    TargetKey("http://\(name).example", in: namespace)
  }

  private static func spaces(_ starts: some Sequence<AttemptStart>) -> [String] {
    starts.map { $0.call.spec.namespace.name }
  }

  /// The attempt that has been in flight for longest ends well.
  private func endOldest(_ probe: inout EngineProbe, _ ended: inout Int) {
    probe.end(probe.starts[ended].call.id, status: 200)
    ended += 1
  }

  private var patient: RetryPolicy {
    var policy = RetryPolicy.test
    policy.deadline = .seconds(100_000)
    return policy
  }

  /// Settings by which no target has to prove anything: none of these tests' targets answers.
  private static func settings(maxInFlight: Int, perTarget: Int = 64) -> EngineSettings {
    var settings = EngineSettings(maxInFlight: maxInFlight, maxInFlightPerTarget: perTarget)
    settings.unprovenShare = 1
    return settings
  }

  @Test("attempts begin in turn between namespaces, however many targets each has")
  func alternates() {
    var probe = EngineProbe(Self.settings(maxInFlight: 2))
    for number in 0..<30 { probe.submit(patient, to: Self.target("t\(number)", of: Self.acme)) }
    for _ in 0..<6 { probe.submit(patient, to: Self.target("single", of: Self.other)) }
    var ended = 0
    while ended < 12 { endOldest(&probe, &ended) }
    let order = Self.spaces(probe.starts[2..<12])
    #expect(order.count { $0 == "other" } == 5, "\(order)")
  }

  @Test("within a namespace its targets take turns, and the default one is like any other")
  func alternatesWithin() {
    var probe = EngineProbe(Self.settings(maxInFlight: 1))
    probe.submit(patient, to: "http://first.example")
    for name in ["a", "b", "c"] {
      for _ in 0..<3 { probe.submit(patient, to: "http://\(name).example") }
    }
    for _ in 0..<3 { probe.submit(patient, to: Self.target("a", of: Self.acme)) }
    var ended = 0
    while ended < 6 { endOldest(&probe, &ended) }
    #expect(Self.spaces(probe.starts[1..<7]) == ["default", "acme", "default", "acme", "default", "acme"])
    let own = probe.starts[1..<7].filter { $0.call.spec.namespace.isDefault }.map { $0.call.spec.target }
    #expect(Set(own).count == 3)
  }

  @Test("one namespace leaves free what it may not have, as soon as there is another")
  func inFlight() {
    let settings = Self.settings(maxInFlight: 12, perTarget: 12)
    func begun(_ others: [Namespace], _ share: Double = 0.5) -> Int {
      var settings = settings
      settings.namespaceShare = share
      var probe = EngineProbe(settings)
      probe.hear(.namespaces(others))
      for number in 0..<30 { probe.submit(patient, to: "http://t\(number).example") }
      return probe.starts.count
    }
    #expect(begun([]) == 12)
    #expect(begun([.default]) == 12)
    #expect(begun([Self.acme]) == 6)
    #expect(begun([Self.acme], 0.75) == 9)
    #expect(begun([Self.acme], 1) == 12)
  }

  @Test("two that want everything leave room for a third, which finds it at once")
  func thirdFindsRoom() {
    var probe = EngineProbe(Self.settings(maxInFlight: 12))
    probe.hear(.namespaces([Self.acme, Self.other]))
    for number in 0..<20 {
      probe.submit(patient, to: "http://t\(number).example")
      probe.submit(patient, to: Self.target("t\(number)", of: Self.acme))
    }
    let before = probe.starts.count
    #expect(before == 8)
    let third = probe.submit(patient, to: Self.target("t", of: Self.other))
    #expect(probe.starts(of: third) == 1)
  }

  @Test("what a namespace at its share waits with begins when an attempt of it ends, without any other event")
  func goesOn() {
    var probe = EngineProbe(Self.settings(maxInFlight: 4))
    probe.hear(.namespaces([Self.acme]))
    for number in 0..<10 { probe.submit(patient, to: "http://t\(number).example") }
    #expect(probe.starts.count == 2)
    var ended = 0
    while ended < 10 { endOldest(&probe, &ended) }
    #expect(probe.starts.count == 10)
  }

  @Test("a target never has all attempts in flight, whatever is set for it")
  func targetShare() {
    var probe = EngineProbe(Self.settings(maxInFlight: 8, perTarget: 100))
    var overrides = TargetOverrides()
    overrides.maxInFlight = 100
    probe.control(.configure(overrides))
    for _ in 0..<20 { probe.submit(patient) }
    #expect(probe.starts.count == 6)
    let second = probe.submit(patient, to: "http://second.example")
    #expect(probe.starts(of: second) == 1)
  }

  @Test("a namespace fills its share of the backlog, learns which limit it met, and others go on being accepted")
  func backlog() throws {
    let settings = EngineSettings(maxUnfinished: 10)
    var probe = EngineProbe(settings)
    probe.hear(.namespaces([Self.acme]))
    for number in 0..<5 { probe.submit(patient, to: "http://t.example", after: .seconds(1000 + number)) }
    let refused = probe.submitOnly(patient)
    let problem = try #require(probe.refusal(of: refused))
    #expect(problem.status == 503 && problem.code == .namespaceBacklogFull && problem.retryAfter == 30)
    #expect(problem.detail.contains("namespaceShare"))
    let first = probe.submit(patient, to: Self.target("t", of: Self.acme))
    #expect(probe.starts(of: first) == 1)
    // What has ended makes room.
    let victim = try #require(probe.written.compactMap { if case .insert(let call) = $0 { call } else { nil } }.first)
    let reply = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, victim.id, reply: reply)))
    probe.commit()
    probe.hear(.fetched(CallCommand(.cancel, victim.id, reply: reply), victim))
    probe.commit()
    #expect(probe.isDone(reply))
    #expect(probe.refusalOfSubmission(patient) == nil)
  }

  @Test("the service is shared as long as others have calls that have not ended, or a key, and no longer")
  func sharing() {
    var probe = EngineProbe(Self.settings(maxInFlight: 12, perTarget: 12))
    func bound() -> Bool { probe.engine.roster.isShared }
    #expect(!bound())
    let mistyped = probe.submit(patient, to: Self.target("t", of: Self.acme))
    #expect(bound())
    probe.end(mistyped, status: 200)
    #expect(!bound())
    probe.hear(.namespaces([Self.acme, Self.other]))
    #expect(bound())
    probe.hear(.namespaces([Self.other]))
    #expect(bound())
    probe.hear(.namespaces([]))
    #expect(!bound())
    for number in 0..<12 { probe.submit(patient, to: "http://t\(number).example") }
    #expect(probe.starts.count == 13)
  }

  @Test("a namespace below its equal part of the backlog is accepted, however much the others have")
  func guaranteed() {
    var settings = EngineSettings(maxUnfinished: 6)
    settings.namespaceShare = 1
    var probe = EngineProbe(settings)
    probe.hear(.namespaces([Self.acme, Self.other]))
    for number in 0..<6 { probe.submit(patient, to: "http://t.example", after: .seconds(1000 + number)) }
    #expect(probe.refusalOfSubmission(patient)?.code == .backlogFull)
    for _ in 0..<2 {
      #expect(probe.refusalOfSubmission(patient, to: Self.target("t", of: Self.acme)) == nil)
    }
    #expect(
      probe.refusalOfSubmission(patient, to: Self.target("t", of: Self.acme))?.code == .backlogFull)
  }

  @Test("what the store says of namespaces counts against their shares after a restart")
  func recovered() {
    let state = RecoveredState(unfinished: 5, namespaces: [(.default, 1), (Self.acme, 4)])
    var probe = EngineProbe(EngineSettings(maxUnfinished: 8), recovered: state)
    let refused = probe.submitOnly(patient, to: Self.target("t", of: Self.acme))
    #expect(probe.refusal(of: refused)?.code == .namespaceBacklogFull)
    #expect(probe.refusalOfSubmission(patient) == nil)
  }

  @Test("a call of another namespace is as good as none, in memory and in the store")
  func operations() {
    var probe = EngineProbe()
    let running = probe.submit(patient, to: Self.target("t", of: Self.acme))
    let reply = probe.token(for: CallCommand.Reply.self)
    let foreign = CallCommand(.cancel, running, reply: reply)
    probe.hear(.command(foreign))
    guard case .fetch(let asked)? = probe.requests.last?.body, asked.namespace.isDefault else {
      Issue.record("the store was not asked, as it is for a call that nobody knows")
      return
    }
    probe.requests = []
    probe.hear(.fetched(foreign, nil))
    #expect(probe.refusal(of: reply)?.code == .callNotFound)
    #expect(probe.state(running) == .running)
    let own = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, running, in: Self.acme, reply: own)))
    probe.commit()
    #expect(probe.refusal(of: own) == nil && probe.requests.isEmpty)
  }

  @Test("an endpoint receives events of its namespace's calls only, and its webhooks are of that namespace")
  func webhooks() {
    var probe = EngineProbe()
    let all = [Namespace.default, Self.acme].map {
      WebhookSubscription(id: "whe_\($0)", url: "http://h.example", events: [.callSucceeded], in: $0)
    }
    probe.hear(.subscriptions(all))
    let call = probe.submit(patient, to: Self.target("t", of: Self.acme), callback: true)
    probe.end(call, status: 200)
    #expect(probe.webhooks.count == 2)
    #expect(probe.webhooks.allSatisfy { $0.spec.namespace == Self.acme })
    #expect(probe.webhooks.contains { $0.spec.targetName == "webhook:whe_acme" })
  }

  @Test("a namespace sets up no more targets than its share, and others go on")
  func targets() {
    var settings = EngineSettings()
    settings.maxTargets = 4
    var probe = EngineProbe(settings)
    probe.hear(.namespaces([Self.acme]))
    for name in ["a", "b"] { probe.control(.pause, "http://\(name).example") }
    let third = probe.control(.pause, "http://c.example")
    #expect(probe.refusal(of: third)?.code == .tooManyTargets)
    let others = probe.control(.pause, Self.target("a", of: Self.acme))
    #expect(probe.refusal(of: others) == nil)
  }
}
