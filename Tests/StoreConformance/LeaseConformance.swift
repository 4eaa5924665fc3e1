package import RedialCore
import RedialModel
package import RedialStore
import Synchronization
import Testing

/// The rules for a store that several instances share.
package struct LeaseConformance {
  /// Opens the store for one more instance.
  package var openStore: () throws -> any CallStore
  /// Sets the time of the store's clock.
  package var setTime: (Timestamp) -> Void

  /// Creates the suite for a location.
  package init(openStore: @escaping () throws -> any CallStore, setTime: @escaping (Timestamp) -> Void) {
    self.openStore = openStore
    self.setTime = setTime
  }

  private static let duration = Duration.seconds(10)

  private func lease(
    _ store: any CallStore, _ session: Int64? = nil, at second: Int, giveBack: ShardSet = .none, takes: Bool = true
  ) throws -> LeaseGrant {
    let request = LeaseRequest(duration: Self.duration, giveBack: giveBack, takesShards: takes)
    setTime(Sample.time(second))
    return try store.lease(request, renewing: session)
  }

  private func refuses(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch { return (error as? StoreError)?.kind == .leaseLost }
  }

  /// A target in some shards.
  private func target(in shards: ShardSet) throws -> TargetKey {
    try #require(
      (0..<10_000).map { TargetKey("http://target\($0)", in: .default) }.first { shards.contains(target: $0) })
  }

  /// The first instance has everything; the second has its share once the first has given it back; no shard has two
  /// owners.
  package func shares() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    let first = try lease(one, at: 0)
    #expect(first.shards == .all && first.gained == .all && first.share == 64)
    let second = try lease(two, at: 1)
    #expect(second.shards.isEmpty && second.share == 32)
    #expect(second.session.id != first.session.id && second.session.instance != first.session.instance)
    let back = ShardSet(0..<32)
    let renewed = try lease(one, first.session.id, at: 2, giveBack: back)
    #expect(renewed.shards == .all.subtracting(back) && renewed.gained.isEmpty && renewed.share == 32)
    let grown = try lease(two, second.session.id, at: 3)
    #expect(grown.shards == back && grown.gained == back)
    #expect(try lease(two, second.session.id, at: 4, takes: false).shards == back)
  }

  /// An instance without a session, or whose session ended and was taken over, can change and claim nothing.
  package func fencing() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    let (a, b) = (Sample.call(1), Sample.call(2))
    #expect(refuses { try one.commit([.insert(a)]) })
    let first = try lease(one, at: 0)
    try one.commit([.insert(a)])
    #expect(try lease(one, first.session.id, at: 9).session == first.session)
    let second = try lease(two, at: 19)
    #expect(second.gained == .all && second.session.id != first.session.id)
    #expect(refuses { try one.commit([.insert(b)]) })
    #expect(refuses { _ = try one.claimDue(before: Sample.time(100), limit: 1) })
    #expect(refuses { _ = try one.claimQueued(target: a.spec.target, limit: 1) })
    #expect(refuses { _ = try one.claim(a.id) })
    #expect(refuses { _ = try self.lease(one, first.session.id, at: 20) })
    #expect(try two.claimDue(before: Sample.time(100), limit: 9).calls.map(\.id) == [a.id])
    // It may join again.
    #expect(try lease(one, at: 21).share == 32)
  }

  /// No instance claims another's calls; but any may put calls into the store, which their owner finds.
  package func confinement() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    let first = try lease(one, at: 0)
    let second = try lease(two, at: 0)
    let back = ShardSet(0..<32)
    _ = try lease(one, first.session.id, at: 1, giveBack: back)
    _ = try lease(two, second.session.id, at: 1)
    let foreign = Sample.call(1, .scheduled, due: Sample.time(5), target: try target(in: back))
    let own = Sample.call(2, .queued, due: Sample.time(9), target: try target(in: .all.subtracting(back)))
    try one.commit([.insert(foreign), .insert(own)])
    #expect(try one.claim(foreign.id)?.progress.state == .scheduled)
    #expect(try one.claimQueued(target: foreign.spec.target, limit: 9).isEmpty)
    #expect(try two.claimQueued(target: own.spec.target, limit: 9).isEmpty)
    let grant = try lease(two, second.session.id, at: 2)
    #expect(grant.state.nextDue == Sample.time(5) && grant.state.unfinished == 1)
    let claim = try one.claimDue(before: Sample.time(100), limit: 9)
    #expect(claim.calls.map(\.id) == [own.id] && claim.nextDue == nil)
    #expect(try two.claimDue(before: Sample.time(100), limit: 9).calls.map(\.id) == [foreign.id])
    // Written again by an instance whose commit was reported as failed: the owner's changes stay.
    try one.commit([.insert(foreign)])
    try one.commit([.discard(foreign.id)])
    #expect(try two.claim(foreign.id)?.progress.state == .held)
  }

  /// The running calls of an instance that died are found by the next owner, and its held calls wait again; of the
  /// shards that it has given back nothing is held.
  package func takeover() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    let first = try lease(one, at: 0)
    let target = try target(in: ShardSet([5]))
    var running = Sample.call(1, .running, target: target)
    running.progress.attempts = 1
    let held = Sample.call(2, .held, due: Sample.time(3), target: target)
    let record = TargetRecord(
      controls: TargetControls(isPaused: true), breaker: OpenBreaker(until: Sample.time(50), trips: 2),
      pace: SavedPace(delivered: 40, isLimited: true, at: Sample.time(1)), askedUntil: Sample.time(60))
    try one.commit([.insert(running), .insert(held), .target(target, record)])
    #expect(try lease(two, at: 9).gained.isEmpty)
    let session = try lease(two, at: 9).session.id
    let grant = try lease(two, session, at: 10)
    #expect(grant.gained == .all)
    #expect(grant.state.running.map(\.id) == [running.id])
    #expect(grant.state.targets.map(\.target) == [target] && grant.state.targets.first?.record == record)
    #expect(grant.state.unfinished == 2 && grant.state.lastID == held.id)
    #expect(try two.claimDue(before: Sample.time(5), limit: 9).calls.map(\.id) == [held.id])
    // Until its interruption is written, the next owner finds it again.
    _ = try lease(two, session, at: 11, giveBack: .all, takes: false)
    _ = first
    let again = try lease(one, at: 12)
    #expect(again.state.running.map(\.id) == [running.id])
    #expect(try one.claimDue(before: Sample.time(5), limit: 9).calls.map(\.id) == [held.id])
  }

  /// Each instance gets the number of unfinished calls, in its shards and in others, whoever put them there.
  package func counts() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    let first = try lease(one, at: 0).session.id
    let second = try lease(two, at: 0).session.id
    let back = ShardSet(0..<32)
    _ = try lease(one, first, at: 1, giveBack: back)
    _ = try lease(two, second, at: 1)
    let (mine, foreign) = (try target(in: .all.subtracting(back)), try target(in: back))
    try one.commit([
      .insert(Sample.call(1, .held, due: Sample.time(3), target: mine)),
      .insert(Sample.call(2, .held, due: Sample.time(3), target: mine)),
      .insert(Sample.call(3, .scheduled, due: Sample.time(90), target: foreign)),
      .insert(Sample.call(4, .scheduled, due: Sample.time(90), target: foreign)),
    ])
    func check(_ own: Int, _ elsewhere: Int, at second: Int) throws {
      let grant = try lease(one, first, at: second)
      #expect(grant.state.unfinished == own && grant.state.namespaces.reduce(0) { $0 + $1.unfinished } == own)
      #expect(grant.elsewhere.reduce(0) { $0 + $1.unfinished } == elsewhere)
      #expect(grant.elsewhere.map(\.namespace) == [.default])
    }
    try check(2, 2, at: 2)
    let ended = CallProgress(
      state: .succeeded, due: Sample.time(3), roundStartedAt: Sample.time(3), finishedAt: Sample.time(3))
    try one.commit([.update(Sample.id(1), ended, nil)])
    try check(1, 2, at: 3)
    // Retried, and discarded.
    try one.commit([
      .update(
        Sample.id(1), CallProgress(state: .held, due: Sample.time(4), roundStartedAt: Sample.time(4)), nil)
    ])
    try check(2, 2, at: 4)
    try one.commit([.discard(Sample.id(1)), .discard(Sample.id(3))])
    try check(1, 1, at: 5)
    // A commit that fails counts nothing.
    #expect(throws: StoreError.self) {
      try one.commit([
        .insert(Sample.call(5, .held, due: Sample.time(3), target: mine)), .update(Sample.id(99), ended, nil),
      ])
    }
    try check(1, 1, at: 6)
    let other = try lease(two, second, at: 6)
    #expect(other.state.unfinished == 1 && other.elsewhere.map(\.unfinished) == [1])
  }

  /// Of two instances that accept calls under one key at the same time, one is first.
  package func keys() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    _ = try lease(one, at: 0)
    _ = try lease(two, at: 0)
    let key = IdempotencyKey("k", fingerprint: [1])
    func record(_ number: Int) -> KeyRecord {
      KeyRecord(key: key, call: Sample.id(number), createdAt: Sample.time(1), expiresAt: Sample.time(100))
    }
    var next = record(3)
    next.key.name = "l"
    try one.commit([.insert(Sample.call(1)), .key(record(1)), .insert(Sample.call(3)), .key(next)])
    var last = next
    last.call = Sample.id(4)
    do {
      try two.commit([.insert(Sample.call(2)), .key(record(2)), .insert(Sample.call(4)), .key(last)])
      Issue.record("the second was accepted, too")
    } catch {
      #expect(error.kind == .keyTaken)
      #expect(
        error.taken
          == [TakenKey(submitted: record(2), earlier: record(1)), TakenKey(submitted: last, earlier: next)])
    }
    #expect(try two.find(key: "k", at: Sample.time(2))?.call == Sample.id(1))
    #expect(try two.claim(Sample.id(2)) == nil)
  }

  /// Turns are given by the owner of a target alone: a call that another instance stores waits for the owner's next
  /// request, and then has its turn, if no other has it.
  package func turns() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    let first = try lease(one, at: 0)
    let second = try lease(two, at: 0)
    let back = ShardSet(0..<32)
    _ = try lease(one, first.session.id, at: 1, giveBack: back)
    _ = try lease(two, second.session.id, at: 1)
    let target = try target(in: back)
    func call(_ number: Int) -> [StoreWrite] {
      var call = Sample.call(number, .queued, due: Sample.time(90), target: target)
      call.progress.waiting = .ordering
      return [.insert(call), .awaitTurn(call.id, target: target, orderingKey: "k")]
    }
    try one.commit(call(1) + call(2))
    #expect(try two.claimDue(before: Sample.time(50), limit: 9).calls.isEmpty)
    let grant = try lease(two, second.session.id, at: 2)
    #expect(grant.state.nextDue == Sample.call(1).progress.roundStartedAt)
    #expect(try two.claimDue(before: Sample.time(50), limit: 9).calls.map(\.id) == [Sample.id(1)])
    // The instance that is not the owner gives the turn to nobody, not even when it takes the call out.
    try one.commit(call(3))
    try two.commit([.passTurn(Sample.id(1))])
    #expect(try two.claimDue(before: Sample.time(50), limit: 9).calls.map(\.id) == [Sample.id(2)])
    _ = try lease(two, second.session.id, at: 3)
    #expect(try two.claimDue(before: Sample.time(50), limit: 9).calls.isEmpty)
    try two.commit([.passTurn(Sample.id(2))])
    #expect(try two.claimDue(before: Sample.time(50), limit: 9).calls.map(\.id) == [Sample.id(3)])
  }

  /// An instance that has resigned need not be waited for.
  package func resigning() throws {
    let (one, two) = (try openStore(), try openStore())
    defer { for store in [one, two] { store.close() } }
    _ = try lease(one, at: 0)
    try one.commit([.insert(Sample.call(1, .held, due: Sample.time(3)))])
    try one.resign(at: Sample.time(1))
    #expect(try lease(two, at: 1).gained == .all)
    #expect(try two.claimDue(before: Sample.time(5), limit: 9).calls.map(\.id) == [Sample.id(1)])
  }
}

/// A store's clock that stands still until a test sets it.
package final class StoreClock: Sendable {
  private let now = Mutex(Sample.start)

  /// A clock at the start of the samples.
  package init() {}

  package var time: Timestamp {
    get { now.withLock { $0 } }
    set { now.withLock { $0 = newValue } }
  }
}
