@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("New calls and the backlog of a target")
struct FairnessTests {
  /// One attempt at a time, after an outage that has left a backlog of 150 calls, 50 of them in the store.
  private struct Drain {
    var probe: EngineProbe
    var backlog: [CallID] = []

    init(newShare: Double, configure: (inout EngineSettings) -> Void = { _ in }) {
      var settings = EngineSettings()
      settings.target.maxInFlight = 1
      settings.target.newCallShare = newShare
      configure(&settings)
      probe = EngineProbe(settings)
      probe.control(.trip)
      for _ in 0..<150 { backlog.append(submit()) }
      probe.advance(.seconds(600))
      probe.control(.reset)
    }

    @discardableResult
    mutating func submit(priority: Int = CallSpec.defaultPriority) -> CallID {
      var policy = RetryPolicy.test
      policy.deadline = .seconds(86_400)
      return probe.submit(policy, priority: priority)
    }

    /// Answers what the engine wants from the store's queue: the most urgent, then the oldest.
    mutating func serveClaims() {
      while let place = probe.requests.firstIndex(where: { if case .claimQueued = $0.body { true } else { false } }),
        case .claimQueued(let target, let limit) = probe.requests.remove(at: place).body
      {
        let known = Set(probe.engine.calls.keys)
        var ids: [CallID] = []
        for case .insert(let record) in probe.written where record.spec.target == target { ids.append(record.id) }
        let queued = ids.filter { !known.contains($0) && probe.progress($0)?.state == .queued }.compactMap {
          probe.record($0)
        }
        .sorted { ($1.spec.priority, $0.id) < ($0.spec.priority, $1.id) }
        let calls = queued.prefix(limit).map { call in
          var call = call
          call.progress.state = .held
          return call
        }
        probe.hear(.claimedQueued(target: target, calls: Array(calls), complete: calls.count < limit))
        probe.commit()
      }
    }

    /// The running attempt succeeds. Returns the call that starts next.
    mutating func next() -> CallID? {
      guard let running = probe.starts.last?.call.id else { return nil }
      let count = probe.starts.count
      serveClaims()
      probe.end(running, status: 200, took: .milliseconds(100))
      serveClaims()
      return probe.starts.count > count ? probe.starts.last?.call.id : nil
    }
  }

  @Test("a new call does not wait behind the backlog in the store, and the backlog keeps its part")
  func share() {
    var drain = Drain(newShare: 0.5)
    #expect(drain.backlog.count { drain.probe.state($0) == .queued } == 50)
    var new: [CallID] = []
    var started: [CallID] = []
    for _ in 0..<40 {
      new.append(drain.submit())
      if let id = drain.next() { started.append(id) }
    }
    let known = Set(new)
    #expect((19...21).contains(started.count { known.contains($0) }))
    // Each side is in order of age.
    let startedNew = started.filter { known.contains($0) }
    #expect(startedNew == startedNew.sorted())
    let startedOld = started.filter { !known.contains($0) }
    #expect(startedOld == startedOld.sorted() && startedOld.allSatisfy { drain.backlog.contains($0) })
    // The first of them starts at once. Only those that come faster than their share can start wait in the store.
    #expect(started.prefix(2).contains(new[0]))
    #expect(new.prefix(8).allSatisfy { drain.probe.state($0) != .queued })
  }

  @Test("a share that new calls do not use goes to the backlog, and one that the backlog does not use to new calls")
  func rest() {
    var drain = Drain(newShare: 0.8)
    for _ in 0..<149 { #expect(drain.next() != nil) }
    #expect(drain.backlog.allSatisfy { drain.probe.starts(of: $0) == 1 })
    let new = (0..<5).map { _ in drain.submit() }
    for id in new { #expect(drain.next() == id) }
  }

  @Test("with a share of 0 calls start by age")
  func byAge() {
    var drain = Drain(newShare: 0)
    let new = drain.submit()
    #expect(drain.probe.state(new) == .queued)
    var started: [CallID] = []
    for _ in 0..<150 { if let id = drain.next() { started.append(id) } }
    #expect(started == Array(drain.backlog.dropFirst()) + [new])
  }

  @Test("an urgent backlog goes before new calls, and urgent new calls before the backlog")
  func priority() {
    var settings = EngineSettings()
    settings.target.maxInFlight = 1
    var drain = Drain(newShare: 0.5)
    drain.probe = EngineProbe(settings)
    drain.probe.control(.trip)
    for _ in 0..<5 { drain.submit(priority: 9) }
    for _ in 0..<5 { drain.submit() }
    drain.probe.control(.reset)
    let usual = drain.submit()
    let urgent = drain.submit(priority: 9)
    var started: [CallID] = []
    for _ in 0..<9 { if let id = drain.next() { started.append(id) } }
    let place = started.firstIndex(of: urgent) ?? .max
    #expect(place <= 1)
    // One call in ten leaves by age, whatever its priority.
    #expect((started.firstIndex(of: usual) ?? .max) >= 4)
  }

  @Test("new calls that a longer wait has made old become backlog, and later ones do not wait for them")
  func burst() {
    var settings = EngineSettings()
    settings.target.maxInFlight = 1
    settings.target.newCallShare = 0.5
    var drain = Drain(newShare: 0.5)
    drain.probe = EngineProbe(settings)
    let burst = (0..<100).map { _ in drain.submit() }
    // Without a backlog, they start by age.
    for id in burst[1...5] { #expect(drain.next() == id) }
    drain.probe.advance(.seconds(11))
    let later = drain.submit()
    #expect([drain.next(), drain.next()].contains(later))
    #expect(drain.next() == burst[7])
  }

  @Test("a new share takes effect at once")
  func configured() {
    var drain = Drain(newShare: 0)
    var overrides = TargetOverrides()
    overrides.newCallShare = 0.5
    drain.probe.control(.configure(overrides))
    let new = drain.submit()
    #expect([drain.next(), drain.next()].contains(new))
  }
}
