import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

/// The clock was two hours ahead; the store saw it last ten seconds after ``Sample/start``, and it is two hours earlier now.
@Suite("A clock that is set back")
struct ClockSetBackTests {
  static let ahead = 7200
  static let now = Sample.time(10 - ahead)

  private func corrected(_ call: CallRecord, lastEnd: Timestamp? = nil) throws -> CallProgress? {
    try #require(ClockSetBack(from: Sample.time(10), to: Self.now)).corrected(call) { lastEnd }
  }

  /// A call that has made an attempt and waits.
  private func retry(_ waiting: WaitReason?, accepted: Timestamp, due: Timestamp) -> CallRecord {
    CallRecord(
      id: Sample.id(1), kind: .call, spec: Sample.spec(), body: [], createdAt: accepted,
      progress: CallProgress(state: .scheduled, due: due, waiting: waiting, attempts: 1, roundStartedAt: accepted))
  }

  @Test("counts only from two seconds on")
  func least() {
    #expect(ClockSetBack(from: Sample.time(2), to: Sample.start) == nil)
    #expect(ClockSetBack(from: Sample.start, to: Sample.time(7200)) == nil)
    #expect(ClockSetBack(from: Sample.time(3), to: Sample.start)?.shift == .seconds(3))
  }

  @Test("a backoff keeps its length, as long as the call exists, and so does its deadline")
  func backoff() throws {
    let call = retry(.backoff, accepted: Sample.start, due: Sample.time(11))
    let progress = try #require(try corrected(call, lastEnd: Sample.time(9)))
    #expect(progress.due == Self.now + .seconds(1))
    #expect(progress.roundStartedAt == Sample.time(-Self.ahead))
    // Once is enough, also if the last attempt seems to lie in the future for long.
    let again = try #require(ClockSetBack(from: Self.now + .seconds(3), to: Self.now))
    var later = call
    later.progress = progress
    later.progress.due = Self.now
    #expect(again.corrected(later, lastEnd: { Sample.time(9) }) == nil)
  }

  @Test("a wait from before the clock was ahead stays, and so does a deadline")
  func earlier() throws {
    let before = Self.now + .seconds(-60)
    #expect(try corrected(retry(.retryAfter, accepted: before, due: Sample.time(0)), lastEnd: before) == nil)
    let call = retry(.retryAfter, accepted: before, due: Sample.time(20))
    let progress = try #require(try corrected(call, lastEnd: Sample.time(10)))
    #expect(progress.due == Self.now + .seconds(10) && progress.roundStartedAt == before)
  }

  @Test("a wait is moved by the end of its attempt, if the store noted the time before that")
  func stale() throws {
    let call = retry(.backoff, accepted: Sample.time(50), due: Sample.time(52))
    let progress = try #require(try corrected(call, lastEnd: Sample.time(50)))
    #expect(progress.due == Self.now + .seconds(2) && progress.roundStartedAt == Self.now)
  }

  @Test("a call that was to run at once runs at once", arguments: [nil, WaitReason.startTime, .retryBudget])
  func due(waiting: WaitReason?) throws {
    var call = retry(waiting, accepted: Sample.start, due: Sample.time(5))
    if waiting != .retryBudget { call.progress.attempts = 0 }
    #expect(try #require(try corrected(call)).due <= Self.now)
    // As after a command to run it now, or again.
    call.progress.attempts = 0
    (call.progress.waiting, call.progress.roundStartedAt) = (nil, Sample.time(5))
    #expect(try #require(try corrected(call)).due <= Self.now)
  }

  @Test("a call that waits for its target or its turn keeps the time until its deadline")
  func queued() throws {
    for reason in [WaitReason.breaker, .concurrency, .ordering] {
      var call = Sample.call(1, .queued)
      call.progress.due = call.lastStart
      call.progress.waiting = reason
      let progress = try #require(try corrected(call))
      #expect(progress.roundStartedAt == Sample.time(-Self.ahead))
      #expect(progress.due == progress.roundStartedAt + call.spec.policy.deadline && progress.state == .queued)
    }
  }

  @Test("a delay keeps its length, and a start at a time keeps its time")
  func starts() throws {
    let start = Sample.time(3600)
    func call(
      _ delay: Duration, accepted: Timestamp = Sample.start, in state: StoredState = .scheduled,
      _ wait: WaitReason
    )
      -> CallRecord
    {
      let spec = CallSpec(
        url: "https://example.com", method: "GET", headers: [], target: "https://example.com", policy: .service,
        captureLimit: 0
      ) { $0.delay = delay }
      return CallRecord(
        id: Sample.id(1), kind: .call, spec: spec, body: [], createdAt: accepted,
        progress: CallProgress(state: state, due: start, waiting: wait, roundStartedAt: start))
    }
    let delayed = try #require(try corrected(call(.seconds(3600), .startTime)))
    #expect(delayed.due == Sample.time(3600 - Self.ahead) && delayed.roundStartedAt == delayed.due)
    #expect(try corrected(call(.seconds(3660), accepted: Self.now, .startTime)) == nil)
    #expect(try corrected(call(.zero, .startTime)) == nil)
    #expect(try corrected(call(.zero, in: .queued, .ordering)) == nil)
    // Its time had come by the clock that was ahead.
    let waits = try #require(try corrected(call(.zero, in: .queued, .breaker)))
    #expect(waits.state == .scheduled && waits.waiting == .startTime && waits.due == start)
  }

  @Test("a store corrects its calls, breakers and pauses once, and says so")
  func store() throws {
    let folder = TemporaryFolder()
    let path = folder.file("calls.db")
    let call = retry(.backoff, accepted: Sample.start, due: Sample.time(11))
    do {
      let store = try SQLiteStore(path: path)
      _ = try store.recover(at: Sample.start)
      var record = TargetRecord(breaker: OpenBreaker(until: Sample.time(40), trips: 1), askedUntil: Sample.time(70))
      record.pastOutages = [TargetOutage(since: Sample.time(4), cause: "timeout", waited: 0)]
      record.pastOutages[0].closedAt = Sample.time(9)
      try store.commit([
        .insert(call), .update(call.id, call.progress, Sample.attempt(9)), .target(call.spec.target, record),
      ])
      try store.resign(at: Sample.time(10))
      store.close()
    }
    for second in [0, 1] {
      let notices = StoreNotices()
      let store = try SQLiteStore(path: path, notices: notices)
      let state = try store.recover(at: Self.now + .seconds(second))
      #expect(state.nextDue == Self.now + .seconds(1))
      #expect(state.targets.map(\.record.breaker?.until) == [Self.now + .seconds(30)])
      #expect(state.targets.map(\.record.askedUntil) == [Self.now + .seconds(60)])
      let outage = try #require(state.targets.first?.record.pastOutages.first)
      #expect(outage.since == Self.now + .seconds(-6) && outage.closedAt == Self.now + .seconds(-1))
      notices.receive { notice in
        guard case .clockSetBack(let shift, let calls) = notice else { return }
        #expect(second == 0 && shift == .seconds(Self.ahead) && calls == 1)
      }
      // A kill: the time of the start is known.
      store.close()
    }
  }

  @Test("nothing is late before a service that starts, or whose time has jumped, had a minute for it")
  func late() {
    var time = ServiceTime(startingAt: Sample.start)
    let late = { (time: ServiceTime) in Lateness(at: .distantFuture, by: time).limit }
    time.advance(to: Sample.time(59), last: Sample.start)
    #expect(late(time) < .epoch)
    time.advance(to: Sample.time(60), last: Sample.time(59))
    #expect(late(time) == Sample.start)
    time.advance(to: Sample.time(3600), last: Sample.time(60))
    #expect(late(time) < .epoch)
    #expect(ServiceTime(time.text) == time && ServiceTime("no time") == nil)
    #expect(Lateness(at: Sample.time(100)).limit == Sample.time(40))
  }
}
