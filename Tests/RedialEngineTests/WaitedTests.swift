@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("For what calls have waited")
struct WaitedTests {
  /// The times before each attempt of a call, as they are shown; read from what is stored.
  private func waited(_ id: CallID, _ probe: EngineProbe) throws -> [[WaitTimes.Part]] {
    let record = try #require(probe.record(id))
    var attempts: [AttemptRecord] = []
    for case .update(id, _, var attempt?) in probe.written {
      attempt.decision = try attempt.decision.map { try AttemptDecision(json: $0.json) }
      attempts.append(attempt)
    }
    return WaitTimes.before(attempts, of: record).map(\.parts)
  }

  @Test("a call that starts when it is due has waited for its start time and its backoff alone, and nothing is stored")
  func ordinary() throws {
    var probe = EngineProbe()
    let id = probe.submit(.patient(attempts: 9), after: .seconds(3))
    probe.advance(.seconds(3))
    probe.advance(.seconds(1))
    probe.end(id, status: 500)
    probe.advance(.seconds(2))
    probe.end(id, status: 200, took: .seconds(1))
    #expect(
      try waited(id, probe) == [[.init(.startTime, .seconds(3))], [.init(.backoff, .seconds(1))]])
    for case .update(_, _, let attempt?) in probe.written { #expect(attempt.decision?.held == nil) }
  }

  @Test("behind a paused target, an open breaker and a rate, each has its time")
  func several() throws {
    var settings = EngineSettings.tripsAfterTwo()
    settings.target.maxInFlight = 1
    var probe = EngineProbe(settings)
    let first = probe.submit(.patient(attempts: 9))
    let second = probe.submit(.patient(attempts: 9))
    // Both fail, and the breaker opens for five seconds.
    probe.advance(.seconds(2))
    probe.end(first, status: 500, took: .seconds(2))
    probe.advance(.seconds(1))
    probe.end(second, status: 500, took: .seconds(1))
    probe.control(.pause)
    probe.advance(.seconds(60))
    probe.control(.resume)
    probe.advance(.seconds(2))
    let last = try #require(probe.starts.last?.call.id)
    probe.end(last, status: 200, took: .seconds(2))
    let parts = try waited(second, probe)
    // The second waited for the first before its first attempt.
    #expect(parts.first == [.init(.concurrency, .seconds(2))])
    let times = try waited(last, probe).last ?? []
    #expect(times.map(\.reason).contains(.paused) && times.map(\.reason).contains(.backoff), "\(times)")
    let paused = times.first { $0.reason == .paused }?.time ?? .zero
    #expect(paused >= .seconds(54) && paused <= .seconds(60), "\(times)")
  }

  @Test("a delayed call to a paused target has waited for the operator")
  func paused() throws {
    var probe = EngineProbe()
    probe.control(.pause)
    let id = probe.submit(.patient(attempts: 9), after: .seconds(3))
    probe.advance(.seconds(3))
    probe.advance(.seconds(30))
    probe.control(.resume)
    probe.end(id, status: 200, took: .zero)
    #expect(try waited(id, probe) == [[.init(.startTime, .seconds(3)), .init(.paused, .seconds(30))]])
  }

  @Test("a Retry-After is not taken for a backoff")
  func retryAfter() throws {
    var probe = EngineProbe()
    let id = probe.submit(.patient(attempts: 9))
    probe.end(id, status: 503, head: "Retry-After: 2\r\n", took: .zero)
    probe.advance(.seconds(2))
    probe.end(id, status: 200, took: .zero)
    let times = try waited(id, probe)
    #expect(times == [[], [.init(.retryAfter, .seconds(2))]], "\(times)")
  }

  @Test("a call that comes from its target's queue in the store has the times since it was due")
  func queue() throws {
    var settings = EngineSettings(maxReadyPerTarget: 1)
    settings.target.maxInFlight = 1
    var probe = EngineProbe(settings)
    let calls = (0..<4).map { _ in probe.submit(.patient(attempts: 9)) }
    probe.control(.pause)
    probe.advance(.seconds(30))
    probe.control(.resume)
    for _ in 0..<20 {
      probe.advance(.seconds(5))
      // The store gives what it is asked for.
      for request in probe.requests {
        guard case .claimQueued(let key, let limit) = request.body else { continue }
        let queued = calls.compactMap { probe.record($0) }.filter { $0.progress.state == .queued }
        probe.requests = []
        probe.hear(
          .claimedQueued(
            target: key,
            calls: queued.prefix(limit).map {
              var record = $0
              record.progress.state = .held
              return record
            }, complete: queued.count <= limit))
        probe.commit()
      }
      if let last = probe.starts.last?.call.id, probe.state(last) == .running {
        probe.end(last, status: 200, took: .seconds(5))
      }
    }
    #expect(calls.allSatisfy { probe.state($0) == .succeeded }, "\(calls.map { probe.state($0) })")
    let times = try #require(try waited(calls[3], probe).first)
    let record = try #require(probe.record(calls[3]))
    #expect(record.progress.attempts == 1)
    #expect(times.contains { $0.reason == .paused && $0.time == .seconds(30) }, "\(times)")
    #expect(times.contains { $0.reason == .concurrency && $0.time >= .seconds(10) }, "\(times)")
  }

  @Test("while all attempts of the service are in use, a target that was paused waits for one of them")
  func full() throws {
    var probe = EngineProbe(EngineSettings(maxInFlight: 1))
    probe.control(.pause)
    let id = probe.submit(.patient(attempts: 9))
    let other = probe.submit(.patient(attempts: 9), to: "http://other.example")
    probe.advance(.seconds(10))
    probe.control(.resume)
    probe.advance(.seconds(5))
    #expect(probe.state(other) == .running && probe.starts(of: id) == 0)
    probe.end(other, status: 200, took: .seconds(15))
    probe.end(id, status: 200, took: .zero)
    #expect(try waited(id, probe) == [[.init(.concurrency, .seconds(5)), .init(.paused, .seconds(10))]])
  }

  @Test("a store that fails is the service's, and what was waited before its failure counts")
  func trouble() throws {
    var probe = EngineProbe()
    probe.control(.pause)
    let id = probe.submit(.patient(attempts: 9))
    probe.advance(.seconds(10))
    // The attempt is not made, because it cannot be counted.
    let reply = probe.token(for: TargetCommand.Reply.self)
    probe.control(.resume)
    #expect(probe.starts(of: id) == 1)
    probe.end(id, status: 500, took: .zero)
    probe.control(.pause)
    probe.advance(.seconds(4))
    probe.hear(.targetCommand(TargetCommand(.resume, EngineProbe.target, reply: reply)))
    probe.fail()
    #expect(probe.starts(of: id) == 1)
    for _ in 0..<5 {
      probe.now = probe.now + .seconds(1)
      probe.hear()
      probe.fail()
    }
    probe.advance(.seconds(2))
    #expect(probe.starts(of: id) == 2)
    probe.end(id, status: 200, took: .zero)
    let times = try #require(try waited(id, probe).last)
    #expect(times.map(\.reason).contains(nil), "\(times)")
    #expect(times.reduce(.zero) { $0 + $1.time } >= .seconds(9), "\(times)")
    let service = times.first { $0.reason == nil }?.time ?? .zero
    #expect(service >= .seconds(4), "\(times)")
  }

  @Test("an ordered call that had its turn before a restart has not waited for that", arguments: [false, true])
  func orderedRestart(gotTurnLater: Bool) throws {
    var probe = EngineProbe()
    let now = probe.now
    func record(_ number: Int64) -> CallRecord {
      CallRecord(
        id: CallID(rawValue: number), kind: .call, spec: .test(.patient(attempts: 9), orderingKey: "a"), body: [],
        createdAt: now + .seconds(-100),
        progress: CallProgress(
          state: .held, due: now + .seconds(-60), waiting: .startTime, roundStartedAt: now + .seconds(-60)))
    }
    let (first, second) = (record(5), record(6))
    probe.written += [.insert(first), .insert(second)]
    probe.engine = Engine(settings: EngineSettings(), seed: 1)
    probe.hear(.recovered(RecoveredState(nextDue: now + .seconds(-60), unfinished: 2)))
    probe.commit()
    for record in gotTurnLater ? [first, second] : [first] {
      let place = try #require(probe.requests.firstIndex { if case .claimDue = $0.body { true } else { false } })
      probe.requests.remove(at: place)
      probe.hear(.claimedDue(Claim(calls: [record], nextDue: nil)))
      probe.commit()
      probe.end(record.id, status: 200, took: .zero)
    }
    let held: WaitTimes.Part = gotTurnLater ? .init(.ordering, .seconds(60)) : .init(nil, .seconds(60))
    let times = try waited(gotTurnLater ? second.id : first.id, probe)
    #expect(times.last == [.init(.startTime, .seconds(40)), held], "\(times)")
  }

  @Test("after a restart, the time while the service had stopped is its own")
  func restart() throws {
    var probe = EngineProbe()
    let now = probe.now
    let record = CallRecord(
      id: CallID(rawValue: 5), kind: .call, spec: .test(.patient(attempts: 9)), body: [],
      createdAt: now + .seconds(-100),
      progress: CallProgress(
        state: .held, due: now + .seconds(-60), waiting: .startTime, roundStartedAt: now + .seconds(-60)))
    probe.written.append(.insert(record))
    probe.engine = Engine(settings: EngineSettings(), seed: 1)
    probe.hear(.recovered(RecoveredState(nextDue: now + .seconds(-60), unfinished: 1)))
    probe.commit()
    let place = try #require(probe.requests.firstIndex { if case .claimDue = $0.body { true } else { false } })
    probe.requests.remove(at: place)
    probe.hear(.claimedDue(Claim(calls: [record], nextDue: nil)))
    probe.commit()
    probe.end(record.id, status: 200, took: .zero)
    #expect(
      try waited(record.id, probe) == [[.init(.startTime, .seconds(40)), .init(nil, .seconds(60))]])
  }
}
