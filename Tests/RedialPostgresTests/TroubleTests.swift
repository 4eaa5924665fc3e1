import Polling
import Dispatch
import Glibc
import RedialCore

import RedialStore
import StoreConformance
import Synchronization
import Testing

@testable import RedialEngine
@testable import RedialModel
@testable import RedialPostgres

@Suite("Each commit is made once or not at all, and its outcome says which")
struct TroubleTests {
  let database = TestDatabase()

  @Test("when server processes end at random moments")
  func terminated() throws {
    let pipeline = Pipeline(try PostgresStore(database.settings))
    defer { pipeline.store.close() }
    try pipeline.join()
    let (settings, cluster) = (database.settings, database.cluster)
    var random = RandomSource(seed: 1)
    let done = Mutex(false)
    let queue = DispatchQueue(label: "killer")
    let kill = """
      SELECT count(*) FROM (SELECT pg_terminate_backend(a.pid) AS is_hit FROM beats b JOIN pg_stat_activity a
        ON a.pid = b.backend AND a.backend_start = b.backend_start) k WHERE is_hit
      """
    let pauses = (0..<100).map { _ in UInt32.random(in: 0..<4000, using: &random) }
    let commits = Mutex(0)
    queue.async {
      let killer = TestDatabase(settings, in: cluster)
      var (seen, kills) = (0, 0)
      for pause in pauses {
        usleep(pause)
        // A commit that is lost too often in a row is refused, which is another test's.
        if kills == 8 { poll("no commit") { commits.withLock { $0 } != seen } }
        let now = commits.withLock { $0 }
        (seen, kills) = (now, now == seen ? kills + 1 : 1)
        // Each has to hit a process: a new one is there a moment later.
        poll("no process") { (try? killer.number(kill)) != 0 }
      }
      done.withLock { $0 = true }
    }
    var number = 0
    while !done.withLock({ $0 }) {
      try pipeline.commit(Array(number..<(number + 3)))
      number += 3
      commits.withLock { $0 += 1 }
    }
    try pipeline.check(database)
    #expect(
      pipeline.unknown > 0,
      "\(pipeline.unknown) outcomes were in doubt, \(pipeline.made.count) calls stored")
    #expect(pipeline.refused.isEmpty, "\(pipeline.failures)")
  }

  @Test("when the server crashes in the middle of commits")
  func crashes() throws {
    let cluster = Cluster()
    defer { cluster.remove() }
    let database = TestDatabase(cluster)
    let pipeline = Pipeline(try PostgresStore(database.settings))
    defer { pipeline.store.close() }
    try pipeline.join()
    var number = 0
    // Until a crash has hit a commit in its middle, too.
    for round in 0..<30 where round < 3 || pipeline.unknown == 0 {
      let isUp = Mutex(false)
      let commits = Mutex(0)
      let ended = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        poll("\(commits.withLock { $0 }) commits") { commits.withLock { $0 } >= 10 }
        usleep(UInt32(7_000 * (round % 3) + 500 * round))
        cluster.crash()
        cluster.start()
        isUp.withLock { $0 = true }
        ended.signal()
      }
      while !isUp.withLock({ $0 }) {
        try pipeline.commit([number, number + 1])
        number += 2
        commits.withLock { $0 += 1 }
      }
      ended.wait()
    }
    try pipeline.check(database)
    #expect(
      pipeline.unknown > 0 && pipeline.made.count > 20,
      "\(pipeline.unknown), \(pipeline.made.count)")
  }

  @Test("when the answers are lost, and the commits were made")
  func lostAnswers() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let pipeline = try database.blocked(proxy)
    defer { pipeline.store.close() }
    for round in 0..<20 {
      proxy.mode = .dropAnswers
      try pipeline.commit([100 + 2 * round])
      try pipeline.commit([101 + 2 * round])
      try poll { try database.number("SELECT count(*) FROM live") >= Int64(3 + 2 * round) }
      proxy.cut()
      try pipeline.waitForDoubt()
      #expect(pipeline.unknown == round + 1)
      pipeline.waitForResults()
      #expect(pipeline.made.count == 3 + 2 * round)
    }
    try pipeline.check(database)
    #expect(pipeline.refused.isEmpty)
  }

  @Test("when the requests are lost: they are sent again")
  func lostRequests() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let pipeline = try database.blocked(proxy)
    defer { pipeline.store.close() }
    for round in 0..<20 {
      // Nothing of them arrives, or all but their end.
      proxy.mode = round % 2 == 0 ? .dropRequests : .holdSync
      let arrivals = proxy.arrivals
      try pipeline.commit([100 + 2 * round])
      try pipeline.commit([101 + 2 * round])
      poll("no request") { proxy.arrivals > arrivals }
      proxy.cut()
      pipeline.waitForResults()
      #expect(pipeline.made.count == 3 + 2 * round)
    }
    try pipeline.check(database)
    #expect(pipeline.refused.isEmpty && pipeline.unknown > 0)
  }

  @Test("a commit that was made before the server was started again is answered, and not made again")
  func restarted() throws {
    let cluster = Cluster()
    defer { cluster.remove() }
    let database = TestDatabase(cluster)
    let proxy = Proxy(cluster)
    defer { proxy.close() }
    let pipeline = try database.blocked(proxy)
    defer { pipeline.store.close() }
    proxy.mode = .dropAnswers
    try pipeline.commit([1])
    try poll { try database.number("SELECT count(*) FROM live") == 2 }
    cluster.crash()
    cluster.start()
    proxy.cut()
    pipeline.waitForResults()
    try pipeline.commit([2])
    try pipeline.check(database)
    #expect(pipeline.made == [0, 1, 2] && pipeline.refused.isEmpty)
  }

  @Test("what was made stays so if the connection is lost again before the answer is asked for")
  func lostTwice() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let pipeline = try database.blocked(proxy, patience: .milliseconds(100))
    defer { pipeline.store.close() }
    proxy.mode = .dropAnswers
    try pipeline.commit([1])
    try poll { try database.number("SELECT count(*) FROM live") == 2 }
    proxy.cut()
    poll("the connection is back") { pipeline.unheard == 2 }
    proxy.cut(then: .dropRequests)
    poll("the lane has not noticed") { pipeline.unheard == 3 }
    // For longer than the patience: what was not made would be refused.
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { proxy.cut() }
    pipeline.waitForResults()
    try pipeline.check(database)
    #expect(pipeline.made == [0, 1] && pipeline.refused.isEmpty)
  }

  @Test("what is submitted before its sender has heard of a lost connection is passed over, and submitted again")
  func lateSubmission() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let pipeline = try database.blocked(proxy)
    defer { pipeline.store.close() }
    for round in 0..<10 {
      proxy.mode = .dropAnswers
      try pipeline.commit([100 + 2 * round])
      try poll { try database.number("SELECT count(*) FROM live") >= Int64(2 + 2 * round) }
      proxy.cut()
      poll("the connection is back") { pipeline.unheard == 2 }
      try pipeline.commit([101 + 2 * round])
      pipeline.waitForResults()
    }
    try pipeline.check(database)
    #expect(pipeline.refused.isEmpty && pipeline.unknown == 10)
  }

  @Test(
    "while the database is away what is in doubt stays so, other work is refused, and both go on afterwards"
  )
  func away() throws {
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let pipeline = try database.blocked(proxy, patience: .milliseconds(100))
    defer { pipeline.store.close() }
    proxy.mode = .holdSync
    try pipeline.commit([1])
    let locked =
      "SELECT count(*) FROM pg_locks WHERE relation = 'sessions'::regclass AND mode = 'RowShareLock' AND granted"
    try poll { try database.number(locked) > 0 }
    proxy.cut(then: .dropRequests)
    try pipeline.waitForDoubt()
    // For more than the patience there is no other outcome: nothing shows that it is over, so this lasts longer.
    usleep(400_000)
    #expect(pipeline.unknown == 1 && pipeline.made == [0] && pipeline.refused.isEmpty)
    proxy.cut()
    pipeline.waitForResults()
    #expect(pipeline.made == [0, 1])
    // With nothing in doubt, work is refused after the patience.
    proxy.cut(then: .dropRequests)
    poll("connections are left") { proxy.hasCut }
    try pipeline.commit([3])
    pipeline.waitForResults()
    if pipeline.refused.contains(3) {
      #expect(pipeline.failures == [.unavailable: 1])
    } else {
      #expect(pipeline.unknown > 1)
    }
    proxy.cut()
    try pipeline.commit([4])
    try pipeline.check(database)
    #expect(pipeline.made.isSuperset(of: [0, 1]))
  }

  @Test(
    "when another takes over in the middle of commits: none is made after that", arguments: 1...30)
  func deposed(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    let clock = StoreClock()
    let pipeline = Pipeline(
      try PostgresStore(database.settings, clock: { clock.time }), duration: .seconds(10))
    let other = try Instance(database.settings, meets: false, clock: { clock.time })
    defer {
      pipeline.store.close()
      other.kill()
    }
    pipeline.rejoins = false
    try pipeline.join()
    let joined = try other.lease(for: .seconds(1000))
    let number = Mutex(0)
    let isOver = Mutex<[Int64]?>(nil)
    let ended = DispatchSemaphore(value: 0)
    let (settings, cluster) = (database.settings, database.cluster)
    let pause = UInt32.random(in: 0..<20_000, using: &random)
    let instance = SendableInstance(other)
    DispatchQueue.global().async {
      defer {
        // Without a take-over there is nothing to see, and the test ends.
        isOver.withLock { $0 = $0 ?? [] }
        ended.signal()
      }
      let database = TestDatabase(settings, in: cluster)
      usleep(pause)
      clock.time = Sample.time(11)
      for _ in 0..<1000 {
        guard let grant = try? instance.value.lease(joined.session, for: .seconds(1000)) else {
          continue
        }
        guard grant.shards == .all else { continue }
        // Everything that the deposed instance has written is seen now.
        let rows = try? database.rows("SELECT id FROM live ORDER BY id")
        isOver.withLock { $0 = rows.map { rows in rows.map { rows.integer($0, 0) } } ?? [] }
        return
      }
    }
    var after = 0
    while after < 20 {
      if pipeline.failures[.leaseLost] != nil { break }
      let next = number.withLock { number in
        number += 1
        return number
      }
      try pipeline.commit([next])
      if isOver.withLock({ $0 != nil }) { after += 1 }
    }
    pipeline.waitForResults()
    ended.wait()
    let seen = isOver.withLock { $0 ?? [] }
    let rows = try database.rows("SELECT id FROM live ORDER BY id")
    #expect(
      rows.map { rows.integer($0, 0) } == seen,
      "seed \(seed): nothing was written after the take-over")
    #expect(Set(seen.map { Int($0 - Sample.id(0).rawValue) }) == pipeline.made, "seed \(seed)")
    #expect(pipeline.failures[.leaseLost] != nil, "seed \(seed)")
  }

  @Test("a server that has lost commits which it had acknowledged is of no use for the session")
  func lostCommits() throws {
    let pipeline = Pipeline(try PostgresStore(database.settings))
    defer { pipeline.store.close() }
    try pipeline.join()
    for number in 1...5 { try pipeline.commit([number]) }
    pipeline.waitForResults()
    let first = try #require(pipeline.session)
    // As a standby that lacks the last two commits.
    _ = try database.rows("DELETE FROM commits WHERE seq > (SELECT max(seq) - 2 FROM commits)")
    for table in ["live", "requests"] {
      _ = try database.rows("DELETE FROM \(table) WHERE id > \(Sample.id(3).rawValue)")
    }
    _ = try database.rows("SELECT pg_terminate_backend(backend) FROM beats")
    try pipeline.commit([6])
    pipeline.waitForResults()
    #expect(pipeline.failures == [.leaseLost: 1] && pipeline.refused == [6])
    // It joins anew, and ends the session that is of no use.
    try pipeline.commit([7])
    pipeline.waitForResults()
    #expect(pipeline.made.contains(7) && pipeline.session?.id != first.id)
    #expect(try database.number("SELECT count(*) FROM sessions") == 1)
  }

  @Test("results come in the order of the requests, also when a commit is sent again")
  func order() throws {
    let pipeline = Pipeline(try PostgresStore(database.settings))
    defer { pipeline.store.close() }
    try pipeline.join()
    let call = Sample.call(1, .failed)
    // The call has ended: its first change is sent again, with the statement that brings it back.
    pipeline.post(.commit([.insert(call)], then: []))
    pipeline.waitForResults()
    pipeline.post(.commit([.update(call.id, Sample.call(1, .held).progress, nil)], then: []))
    pipeline.post(.fetch(CallCommand(.retry, call.id, reply: ReplyToken(rawValue: 1))))
    pipeline.waitForResults()
    #expect(pipeline.failures.isEmpty)
    guard case .fetched(_, let found)? = pipeline.events.first, pipeline.events.count == 1 else {
      Issue.record("\(pipeline.events)")
      return
    }
    #expect(found?.progress.state == .held)
  }

  @Test(
    "an instance that was away for longer than its lease, with a claim that was made, joins again")
  func longOutage() throws {
    let clock = StoreClock()
    let proxy = Proxy(database.cluster)
    defer { proxy.close() }
    let settings = proxy.settings(for: database.settings, of: database.cluster)
    let store = try PostgresStore(settings, clock: { clock.time })
    let other = try Instance(database.settings, meets: false, clock: { clock.time })
    defer {
      store.close()
      other.kill()
    }
    let pipeline = Pipeline(store, duration: .seconds(10))
    try pipeline.join()
    try pipeline.commit([1])
    pipeline.waitForResults()
    proxy.mode = .dropAnswers
    pipeline.post(.claimDue(before: Sample.time(100), limit: 5))
    try pipeline.commit([2])
    try poll { try database.number("SELECT count(*) FROM live") >= 2 }
    clock.time = Sample.time(11)
    #expect(try other.lease(for: .seconds(1000)).shards == .all)
    proxy.cut()
    pipeline.waitForResults()
    // Others have the calls that were claimed; the commit is on disk.
    guard case .claimedDue(let claim)? = pipeline.events.first, claim.calls.isEmpty, pipeline.made == [1, 2] else {
      Issue.record("the claim and the commit were made: \(pipeline.events), \(pipeline.failures)")
      return
    }
    try pipeline.join()
  }

  // The commit had its outcome at once, and the look-up's answer was then taken for that of the commit.
  @Test("when a session ends with a look-up and a commit in doubt, the one is answered, and the other is not made")
  func lookupWithoutSession() throws {
    let stall = try Stall(database)
    defer { stall.end() }
    let (clock, proxy, pipeline, other) = (stall.clock, stall.proxy, stall.pipeline, stall.other)
    proxy.mode = .dropRequests
    let arrivals = proxy.arrivals
    let descriptor = CallDescriptor(spec: Sample.call(1).spec, body: [], start: .after(.zero))
    let submission = KeyedSubmission(
      descriptor: descriptor, key: IdempotencyKey("k", fingerprint: [1]), reply: ReplyToken(rawValue: 1))
    pipeline.post(.findKey(submission, at: Sample.time(1)))
    try pipeline.commit([1])
    poll("no request") { proxy.arrivals > arrivals }
    clock.time = Sample.time(11)
    #expect(try other.lease(for: .seconds(1000)).shards == .all)
    proxy.cut()
    pipeline.waitForResults()
    guard case .foundKey(_, nil)? = pipeline.events.first, pipeline.events.count == 1 else {
      Issue.record("\(pipeline.events)")
      return
    }
    #expect(pipeline.refused == [1] && pipeline.failures == [.leaseLost: 1])
    #expect(try database.number("SELECT count(*) FROM live") == 1)
  }

  @Test(
    "while commits wait for a standby that is not there, leases are renewed and no connections pile up"
  )
  func missingStandby() throws {
    let cluster = Cluster()
    defer { cluster.remove() }
    let database = TestDatabase(cluster)
    // To make the tables may take longer than a commit should.
    try PostgresStore(database.settings).close()
    var settings = database.settings
    settings.answerTimeout = .milliseconds(500)
    let instance = try Instance(settings)
    defer { instance.kill() }
    let grant = try instance.lease(for: .seconds(3))
    try instance.works.commit([.insert(Sample.call(1))])
    cluster.reload(["synchronous_standby_names = 'nowhere'"])
    let outcome = instance.store.submit(.commit([.insert(Sample.call(2))]), as: 3, StoreTrial())
    #expect(outcome == nil)
    instance.news.clear()
    for _ in 1...8 {
      #expect(
        instance.news.wait { if case .renewed(grant.session.id, _) = $0 { true } else { false } })
      instance.news.clear()
    }
    let count = try database.number(
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
    )
    #expect(
      count < 8, "lane, side connection, look-ups, heartbeat, this one, and those that are ending")
    cluster.reload(["synchronous_standby_names = ''"])
  }

  @Test("retention of one instance spares an ended call that another has claimed for a command")
  func sparedCall() throws {
    let one = try Instance(database.settings, meets: false)
    let two = try Instance(database.settings, meets: false)
    defer { for instance in [one, two] { instance.kill() } }
    _ = try one.lease()
    _ = try two.lease()
    try one.works.commit((1...2).map { .insert(Sample.call($0, .failed, target: "t")) })
    #expect(try two.works.claim(Sample.id(1))?.progress.state == .failed)
    let late = Sample.time(100) + .seconds(86_400 * 30)
    while !(try one.store.tidy(Retention(), at: late, within: .seconds(1))).isDone {}
    let rows = try database.rows("SELECT id FROM done")
    #expect(rows.map { rows.integer($0, 0) } == [Sample.id(1).rawValue])
  }
}

/// Lets one other thread use an instance. Sendable without the compiler's proof: the test does not use it meanwhile.
private struct SendableInstance: @unchecked Sendable {
  let value: Instance
  init(_ value: Instance) { self.value = value }
}
