@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Priorities")
struct PriorityTests {
  /// Submits calls behind one that runs, and answers the order in which they run.
  private func order(_ priorities: [Int], settings: EngineSettings = EngineSettings(maxInFlightPerTarget: 1)) -> [Int] {
    var probe = EngineProbe(settings)
    probe.submit()
    for priority in priorities { probe.submit(priority: priority) }
    for _ in priorities { probe.end(probe.starts.last?.call.id ?? CallID(rawValue: 0), status: 200) }
    return probe.starts.dropFirst().map(\.call.spec.priority)
  }

  @Test("the most urgent call of a target goes first, and the oldest of those that are equally urgent")
  func order() {
    #expect(order([5, 0, 9, 5, 7]) == [9, 7, 5, 5, 0])
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    probe.submit()
    let ids = [5, 9, 5, 9].map { probe.submit(priority: $0) }
    for _ in ids { probe.end(probe.starts.last?.call.id ?? CallID(rawValue: 0), status: 200) }
    #expect(probe.starts.dropFirst().map(\.call.id) == [ids[1], ids[3], ids[0], ids[2]])
  }

  @Test("every tenth turn is the oldest call's, so that none starves")
  func age() throws {
    let run = order([0] + Array(repeating: 9, count: 30))
    let place = try #require(run.firstIndex(of: 0))
    #expect(place == 9)
  }

  @Test("an urgent call takes the place in memory of one that is less so, which waits in the store")
  func displaces() {
    var settings = EngineSettings(maxInFlightPerTarget: 1)
    settings.maxReadyPerTarget = 2
    var probe = EngineProbe(settings)
    probe.submit()
    let usual = (0..<3).map { _ in probe.submit() }
    #expect(usual.map { probe.state($0) } == [.held, .held, .queued])
    let urgent = probe.submit(priority: 9)
    #expect(probe.state(urgent) == .held)
    #expect(usual.map { probe.state($0) } == [.held, .queued, .queued])
    let lazy = probe.submit(priority: 0)
    #expect(probe.state(lazy) == .queued)
    probe.end(probe.starts[0].call.id, status: 200)
    #expect(probe.starts.last?.call.id == urgent)
    #expect(probe.report()?.targets.first?.waiting == 4)
  }

  @Test("one whose time is nearly up is not moved, and keeps its place, also among retries with a budget")
  func nearDeadline() {
    var settings = EngineSettings(maxInFlightPerTarget: 1)
    settings.maxReadyPerTarget = 2
    settings.target.retriesPerSecond = 100
    var probe = EngineProbe(settings)
    var policy = RetryPolicy.test
    policy.deadline = .milliseconds(2500)
    let retried = (0..<2).map { _ in
      let id = probe.submit(policy, priority: 1)
      probe.end(id, status: 500)
      return id
    }
    let running = probe.submit()
    probe.advance(.seconds(2))
    #expect(retried.allSatisfy { probe.state($0) == .held })
    let urgent = probe.submit(priority: 9)
    #expect(probe.state(urgent) == .held)
    for id in [running, urgent] + retried {
      #expect(probe.starts.last?.call.id == id)
      probe.end(id, status: 200)
    }
    #expect(probe.report()?.targets.first?.waiting == 0)
  }

  @Test("no target's calls go before another target's, however urgent they are")
  func withinTarget() {
    var probe = EngineProbe(EngineSettings(maxInFlight: 1))
    probe.submit()
    for _ in 0..<3 { probe.submit(to: "http://urgent.example", priority: 9) }
    let other = probe.submit(to: "http://other.example", priority: 0)
    for _ in 0..<2 { probe.end(probe.starts.last?.call.id ?? CallID(rawValue: 0), status: 200) }
    #expect(probe.starts(of: other) == 1)
  }

  /// Against a list that is searched from end to end.
  @Test("whatever comes and goes, the queue does what a plain list does", arguments: 0..<20 as Range<UInt64>)
  func model(seed: UInt64) {
    var random = RandomSource(seed: seed)
    var queue = ReadyQueue()
    var list: [ReadyQueue.Entry] = []
    var calls = CallTable()
    let spec = CallSpec.test()
    for step in 1...2000 {
      let draw = random.unitInterval()
      if draw < 0.5 {
        let id = CallID(rawValue: Int64(step))
        let priority = random.unitInterval() < 0.3 ? 5 : Int(random.next() % 10)
        let record = CallRecord(
          id: id, kind: .call, spec: spec, body: [], createdAt: .epoch,
          progress: CallProgress(state: .held, due: .epoch, roundStartedAt: .epoch))
        // Stamps wrap around.
        let stamp = UInt32.max - 500 &+ UInt32(step)
        var call = ActiveCall(record: record, target: 0, stamp: stamp)
        call.enter(.ready, stamp: stamp)
        calls[id] = call
        let entry = ReadyQueue.Entry(id: id, stamp: stamp, priority: priority)
        queue.append(entry)
        list.append(entry)
      } else if draw < 0.6, let void = list.randomElement(using: &random) {
        calls[void.id] = nil
        list.removeAll { $0.id == void.id }
      } else if let entry = queue.first(in: calls, nil) {
        let highest = list.map(\.priority).max()
        let best = list.first { $0.priority == highest }
        #expect(entry.id == best?.id || entry.id == list.first?.id, "seed \(seed), step \(step)")
        queue.remove(entry, at: .epoch)
        list.removeAll { $0.id == entry.id }
      } else {
        #expect(list.isEmpty)
      }
    }
  }
}
