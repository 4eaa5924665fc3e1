@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Engines that share a store by leases")
struct LeaseTests: LeaseScene {
  // MARK: Grant and renewal

  @Test("without a lease nothing is accepted, done or started, and the first thing that is asked for is a lease")
  func joins() throws {
    var probe = asking()
    let ask = try #require(probe.leaseAsks.last)
    #expect(ask.session == nil && ask.request.takesShards && ask.request.duration == .seconds(10))
    #expect(probe.refusalOfSubmission()?.code == .leaseLost)
    let cancel = probe.command(.cancel, CallID(rawValue: 1))
    #expect(probe.refusal(of: cancel)?.code == .leaseLost)
    let pause = probe.control(.pause)
    #expect(probe.refusal(of: pause)?.code == .leaseLost)
    #expect(probe.report()?.storeFailing == true, "it is not ready")
    #expect(probe.leaseAsks.count == 1, "one request at a time")
    probe.grant(.all)
    #expect(probe.report()?.storeFailing == false)
    let id = probe.submit()
    #expect(probe.starts(of: id) == 1)
  }

  @Test("the identities of calls carry the number of the lease, and go on behind those in the store")
  func identities() {
    var probe = asking()
    let last = CallID(rawValue: probe.now.microseconds << 20)
    probe.grant(.all, RecoveredState(lastID: last))
    #expect(probe.submit() > last)
  }

  @Test("a lease is renewed at its interval, for the same session")
  func renews() throws {
    var probe = member()
    for _ in 0..<30 {
      probe.advance(.seconds(1))
      #expect(try #require(probe.leaseAsks.last).session == Self.session.id)
      probe.grant()
    }
    let id = probe.submit()
    #expect(probe.starts(of: id) == 1)
    #expect(!probe.hasLostLease)
  }

  @Test("a change by others has it asked for at once")
  func changed() {
    var probe = member()
    #expect(probe.leaseAsks.isEmpty)
    probe.hear(.changed)
    #expect(probe.leaseAsks.count == 1)
  }

  @Test("when others have stored calls for it, it looks for due calls at once, and not for its lease")
  func callsStored() {
    var probe = member()
    probe.hear(.callsStored)
    #expect(probe.leaseAsks.isEmpty)
    #expect(probe.requests.contains { if case .claimDue = $0.body { true } else { false } })
  }

  @Test("an answer that comes late does not end a lease that heartbeats have extended meanwhile")
  func lateAnswer() {
    var probe = member()
    probe.advance(.seconds(1))
    #expect(probe.leaseAsks.count == 1)
    for _ in 0..<4 {
      probe.advance(Self.leases.validity / 2)
      probe.hear(.leaseRenewed(session: Self.session.id, asked: probe.now))
    }
    probe.grant()
    #expect(!probe.hasLostLease)
    // Without one it does not end later than it was.
    probe.advance(Self.leases.validity)
    #expect(probe.hasLostLease)
  }

  @Test("a heartbeat extends the lease of its own session, and of no other")
  func heartbeat() {
    var (kept, other) = (member(), member())
    for _ in 0..<4 {
      kept.advance(Self.leases.validity / 2)
      other.advance(Self.leases.validity / 2)
      kept.hear(.leaseRenewed(session: Self.session.id, asked: kept.now))
      other.hear(.leaseRenewed(session: Self.session.id + 1, asked: other.now))
    }
    #expect(!kept.hasLostLease && other.hasLostLease)
    kept.advance(Self.leases.validity)
    #expect(kept.hasLostLease)
  }

  @Test("the owner of a call that somebody else has accepted gets a hint once the call is on disk")
  func tellsOwners() throws {
    var probe = member(everythingElse)
    let id = probe.submit()
    probe.commit()
    let target = try #require(probe.record(id)?.spec.target)
    let told = probe.actions.compactMap { if case .tellOwners(let shards) = $0 { shards } else { nil } }
    #expect(told == [ShardSet([ShardSet.shard(of: target)])])
  }

  @Test(
    "with the shards come the calls of a dead owner: attempts that were in flight there are interrupted, and tried again"
  )
  func takesOver() {
    var probe = asking()
    var record = EngineProbe.record(id: CallID(rawValue: 1 << 40), at: probe.now)
    record.progress.attempts = 1
    probe.grant(.all, RecoveredState(running: [record], unfinished: 1, namespaces: [(.default, 1)]))
    probe.commit()
    #expect(probe.attempts(of: record.id).map(\.outcome) == [.interrupted])
    #expect(probe.report()?.unfinished == 1)
    probe.advance(.seconds(1))
    #expect(probe.starts.map(\.number) == [2])
  }

  // MARK: Expiry

  @Test("a lease is over eight seconds after it was asked for, whenever it was granted")
  func expires() {
    var probe = asking()
    probe.now = probe.now + .seconds(5)
    probe.grant(.all)
    let id = probe.submit()
    probe.now = probe.now + .milliseconds(2999)
    probe.hear()
    #expect(!probe.hasLostLease)
    probe.now = probe.now + .milliseconds(1)
    probe.hear()
    #expect(probe.hasLostLease)
    #expect(probe.aborts == [id])
  }

  @Test("a grant that comes when it is over already is none")
  func comesTooLate() {
    var probe = asking()
    probe.now = probe.now + .seconds(8)
    probe.grant(.all)
    #expect(probe.refusalOfSubmission()?.code == .leaseLost)
    #expect(probe.leaseAsks.last?.session == nil, "it asks for another")
  }

  @Test("an attempt bears the time at which it must not be begun any more: that of the lease, or its call's deadline")
  func startBefore() {
    var probe = member()
    let granted = probe.now
    probe.submit()
    #expect(probe.starts.last?.startBefore == granted + .seconds(8))
    var hasty = RetryPolicy.test
    hasty.deadline = .seconds(3)
    probe.submit(hasty)
    #expect(probe.starts.last?.startBefore == granted + .seconds(3))
  }

  @Test("an attempt that came too late to be begun is taken back, and costs its call nothing")
  func takesBackWhatWasTooLate() throws {
    var probe = member()
    var once = RetryPolicy.test
    once.maxAttempts = 1
    let id = probe.submit(once)
    let start = try #require(probe.starts.last)
    probe.hear(.attemptTooLate(id, number: start.number + 1))
    #expect(probe.engine.roster.occupancy.inFlight == 1, "another attempt of the call is not meant")
    probe.hear(.attemptTooLate(id, number: start.number))
    probe.commit()
    #expect(probe.starts.map(\.number) == [1, 1])
    #expect(probe.attempts(of: id).isEmpty)
    probe.end(id, status: 200)
    #expect(probe.state(id) == .succeeded)
  }

  // MARK: Loss

  @Test("who loses its lease aborts attempts in flight, refuses who waits, and writes nothing more of it")
  func loses() {
    var probe = member()
    let running = probe.submit()
    let cancel = probe.command(.cancel, running)
    let waiting = probe.submitOnly(to: "http://second.example")
    probe.now = probe.now + .seconds(8)
    probe.hear()
    #expect(probe.aborts.contains(running))
    #expect(probe.refusal(of: cancel)?.code == .leaseLost)
    let written = probe.written.count
    probe.fence()
    #expect(probe.refusal(of: waiting)?.code == .leaseLost)
    #expect(probe.refusal(of: waiting)?.retryAfter == 2)
    probe.end(running, .cancelled)
    #expect(probe.written.count == written)
    #expect(probe.report()?.unfinished == 0 && probe.report()?.inFlight == 0)
  }

  @Test("a store that says that the lease is over is believed")
  func isFenced() {
    var probe = member()
    let reply = probe.submitOnly()
    probe.fence()
    #expect(probe.notices.contains(.leaseLost(reason: "the lease is over")))
    #expect(probe.refusal(of: reply)?.code == .leaseLost)
    #expect(probe.starts.isEmpty)
    #expect(probe.leaseAsks.last?.session == nil)
  }

  @Test("who was alone on its store, and is so no more, has no way back, and never speaks of others' targets")
  func isEvicted() {
    var probe = EngineProbe()
    let reply = probe.submitOnly()
    probe.fence()
    #expect(probe.refusal(of: reply)?.code == .leaseLost)
    probe.advance(.seconds(60))
    #expect(probe.leaseAsks.isEmpty && probe.starts.isEmpty)
    #expect(probe.refusalOfSubmission()?.code == .leaseLost)
    let pause = probe.control(.pause)
    #expect(probe.refusal(of: pause)?.code == .leaseLost)
    #expect(probe.report()?.storeFailing == true)
  }

  @Test("it joins again only when what it has aborted has ended")
  func joinsWhenAborted() {
    var probe = member()
    let id = probe.submit()
    probe.requests = []
    probe.now = probe.now + .seconds(8)
    probe.hear()
    #expect(probe.leaseAsks.isEmpty)
    probe.end(id, .cancelled)
    #expect(probe.leaseAsks.map(\.session) == [nil])
  }

  @Test("an answer to a request under a lost lease changes nothing")
  func oldAnswers() throws {
    var probe = member()
    probe.advance(.seconds(1))
    let old = try #require(probe.leaseAsks.last)
    probe.now = probe.now + .seconds(8)
    probe.hear()
    probe.hear(.leased(probe.grantOf(.all), old))
    #expect(probe.refusalOfSubmission()?.code == .leaseLost)
  }

  // MARK: Surplus

  @Test("what is beyond the share is given back at once where no attempt is in flight")
  func givesBack() throws {
    var probe = member()
    probe.advance(.seconds(1))
    probe.grant(share: 32)
    let ask = try #require(probe.leaseAsks.last)
    #expect(ask.request.giveBack.size == 32)
    #expect(probe.notices.contains(.shardsReleased(ask.request.giveBack)))
  }

  @Test("the leader's shard is given back last, because operations run there", arguments: [1, 0])
  func givesBackTheLeadersLast(share: Int) throws {
    var probe = member()
    probe.advance(.seconds(1))
    probe.grant(share: share)
    let ask = try #require(probe.leaseAsks.last)
    #expect(ask.request.giveBack.size == ShardSet.count - share)
    #expect(ask.request.giveBack.contains(Engine.leadersShard) == (share == 0))
  }

  @Test("a shard with an attempt in flight is given back when that has ended, and starts nothing until then")
  func givesBackWhenIdle() throws {
    var probe = member(shard())
    let running = probe.submit()
    let behind = probe.submit(after: .milliseconds(1500))
    probe.advance(.seconds(1))
    // Others have come, and nothing is left for this one.
    probe.grant(share: 0)
    probe.advance(.seconds(1))
    #expect(probe.leaseAsks.last?.request.giveBack == ShardSet.none)
    #expect(probe.starts(of: behind) == 0)
    probe.grant(share: 0)
    probe.end(running, status: 200)
    #expect(probe.state(running) == .succeeded, "its end is written while the shard is still held")
    #expect(probe.leaseAsks.last?.request.giveBack == shard())
    #expect(probe.report()?.held == 0)
  }

  // A long attempt once stopped all targets of its shard until its end, even if the other instances were gone again.
  @Test(
    "a shard whose attempt lasts goes on after some seconds, or at once if it is within the share", arguments: [0, 64])
  func keepsBusy(share: Int) {
    var probe = member(shard())
    let running = probe.submit()
    probe.advance(.seconds(1))
    probe.grant(share: 0)
    let behind = probe.submit()
    #expect(probe.starts(of: behind) == 0)
    for command in [TargetCommand.Kind.pause, .resume] {
      let reply = probe.control(command)
      #expect(probe.reply(to: reply) != nil && probe.reply(to: reply)?.refusal == nil)
    }
    if share > 0 {
      probe.advance(.seconds(1))
      probe.grant(share: share)
      probe.advance(.milliseconds(1))
    } else {
      for _ in 0..<4 {
        #expect(probe.starts(of: behind) == 0)
        probe.advance(.seconds(1))
        probe.grant(share: 0)
      }
      probe.advance(.milliseconds(1))
    }
    #expect(probe.starts(of: behind) == 1)
    #expect(probe.leaseAsks.allSatisfy { $0.request.giveBack.isEmpty })
    probe.end(running, status: 200)
  }

  @Test("after a trial that was of no use other shards are tried")
  func triesOthers() {
    var yielding = YieldingShards()
    let (busy, start) = (Array(0..<12), Timestamp(microseconds: 0))
    #expect(yielding.choose(among: busy, 12, for: .seconds(4), at: start) == ShardSet(0..<8))
    #expect(yielding.choose(among: busy, 12, for: .seconds(4), at: start).isEmpty, "some are being tried")
    yielding.remove(ShardSet([3]))
    #expect(yielding.giveUp(pause: .seconds(4), at: start + .seconds(3)).isEmpty)
    #expect(yielding.giveUp(pause: .seconds(4), at: start + .seconds(4)) == ShardSet([0, 1, 2, 4, 5, 6, 7]))
    #expect(yielding.choose(among: busy, 12, for: .seconds(4), at: start + .seconds(7)).isEmpty)
    let second = yielding.choose(among: busy.filter { $0 != 3 }, 12, for: .seconds(4), at: start + .seconds(8))
    #expect(second == ShardSet(8..<12))
    #expect(yielding.keep() == second && yielding.shards.isEmpty)
  }

  @Test("shards whose giving back failed are given back with the next request")
  func givesBackAgain() throws {
    var probe = member()
    probe.advance(.seconds(1))
    probe.grant(share: 32)
    let back = try #require(probe.leaseAsks.last).request.giveBack
    probe.fail()
    probe.advance(.seconds(1))
    #expect(probe.leaseAsks.last?.request.giveBack == back)
  }

  @Test("of what was dropped with a shard nothing is counted any more")
  func forgets() {
    var settings = Self.settings
    settings.target.maxInFlight = 1
    var probe = EngineProbe(settings)
    probe.grant(.all)
    let lasting = target(otherThan: EngineProbe.target)
    let running = probe.submit()
    for _ in 0..<5 { probe.submit() }
    probe.submit(to: lasting, after: .seconds(3))
    #expect(probe.report()?.held == 7)
    probe.advance(.seconds(1))
    // They go back in two steps: those without an attempt in flight first.
    probe.grant(share: 0)
    probe.grant(share: 0)
    probe.end(running, status: 200)
    probe.grant(.none, RecoveredState(), share: 0)
    let engine = probe.engine
    #expect(engine.calls.isEmpty && engine.roster.places.isEmpty)
    #expect(engine.desk.claims.expected == 0 && engine.roster.unfinished == 0)
    #expect(engine.roster.occupancy == Occupancy())
    #expect(engine.roster.namespaces.allSatisfy { $0.occupancy == Occupancy() && $0.targets == 0 })
    #expect(engine.roster.namespaces.indices.allSatisfy { engine.roster.rotation.targets(of: $0).isEmpty })
  }

  // MARK: Giving back

  @Test("who lacks a key of the others gives all back when no attempt is in flight, and joins again when it has it")
  func lacksKey() throws {
    var probe = member()
    let running = probe.submit()
    probe.hear(.keyMissing(true))
    let first = try #require(probe.leaseAsks.last?.request)
    #expect(first.giveBack == everythingElse && !first.takesShards)
    #expect(probe.isReady() == false && probe.refusalOfSubmission()?.code == .storageUnavailable)
    probe.grant(share: 32)
    probe.end(running, status: 200)
    #expect(probe.state(running) == .succeeded)
    #expect(probe.leaseAsks.last?.request.giveBack == shard())
    probe.grant(share: 32)
    probe.advance(.seconds(1))
    #expect(probe.actions.contains { if case .resign = $0 { true } else { false } })
    #expect(probe.leaseAsks.isEmpty && probe.isReady() == false)
    probe.advance(.seconds(30))
    #expect(probe.leaseAsks.isEmpty)
    probe.hear(.keyMissing(false))
    #expect(try #require(probe.leaseAsks.last).session == nil)
    probe.grant(.all)
    #expect(probe.isReady() == true)
  }

  @Test("who drains gives its shards back, takes none, and has drained when the store has all of them")
  func drains() throws {
    var probe = member()
    let running = probe.submit()
    probe.hear(.drain)
    probe.grant()
    #expect(!probe.hasDrained)
    #expect(probe.leaseAsks.allSatisfy { !$0.request.takesShards })
    probe.end(running, status: 200)
    probe.grant(.none)
    probe.commit()
    #expect(probe.state(running) == .succeeded)
    #expect(probe.hasDrained)
    #expect(probe.engine.desk.leases.held.isEmpty && probe.engine.desk.leases.outgoing.isEmpty)
  }
}
