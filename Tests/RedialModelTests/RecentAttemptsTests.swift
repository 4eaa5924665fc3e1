import RedialCore
import Testing

@testable import RedialModel

@Suite("The results of a target's recent attempts")
struct RecentAttemptsTests {
  private let start = Timestamp(microseconds: 1_790_000_040_000_000)

  @Test("a quantile is off by no more than a slot", arguments: [1, 7, 42, 100, 999, 5000, 60_000])
  func quantiles(milliseconds: Int) throws {
    var tally = AttemptTally()
    for _ in 0..<99 { tally.count(.milliseconds(milliseconds), succeeded: true, ended: true) }
    tally.count(.milliseconds(1), succeeded: false, ended: false)
    let p50 = try #require(tally.quantile(0.5)).inSeconds * 1000
    #expect(abs(p50 / Double(milliseconds) - 1) < 0.5, "\(p50)")
    #expect(tally.successes == 99 && tally.failures == 1 && tally.attempts == 100 && tally.ends == 99)
  }

  @Test("quantiles are in order, and close to those of the sorted durations", arguments: 0..<20)
  func order(seed: UInt64) throws {
    var (tally, random) = (AttemptTally(), RandomSource(seed: seed))
    var all: [Double] = []
    for _ in 0..<2000 {
      let milliseconds = Double.random(in: 0...1, using: &random) * Double.random(in: 1...2000, using: &random) + 0.3
      all.append(milliseconds)
      tally.count(.microseconds(Int64(milliseconds * 1000)), succeeded: true, ended: true)
    }
    all.sort()
    var last = 0.0
    for share in [0.01, 0.5, 0.95, 0.99, 1] {
      let found = try #require(tally.quantile(share)).inSeconds * 1000
      let exact = all[min(all.count - 1, Int(Double(all.count) * share))]
      #expect(found >= last, "seed \(seed)")
      #expect(found / exact < 1.51 && exact / found < 1.51, "seed \(seed): \(share) is \(exact) and \(found)")
      last = found
    }
  }

  @Test("without attempts there are no quantiles, and durations beyond the slots count in the outermost")
  func edges() throws {
    #expect(AttemptTally().quantile(0.5) == nil && AttemptTally().mean == nil)
    var tally = AttemptTally()
    tally.count(.seconds(3600), succeeded: true, ended: true)
    tally.count(.zero, succeeded: true, ended: true)
    #expect(try #require(tally.quantile(1)) > .seconds(48))
    #expect(try #require(tally.quantile(0.1)) < .milliseconds(1))
    #expect(tally.mean == .seconds(1800))
  }

  @Test("attempts older than the window are forgotten, and younger ones are not")
  func windows() {
    var recent = RecentAttempts()
    #expect(recent.isEmpty)
    recent.count(.milliseconds(5), succeeded: true, ended: true, at: start)
    func counts(_ seconds: Int) -> [Int] {
      RecentAttempts.Window.allCases.map { recent.tally(over: $0, at: start + .seconds(seconds)).attempts }
    }
    #expect(counts(59) == [1, 1, 1])
    #expect(counts(71) == [0, 1, 1])
    #expect(counts(299) == [0, 1, 1])
    #expect(counts(361) == [0, 0, 1])
    #expect(counts(899) == [0, 0, 1])
    #expect(counts(961) == [0, 0, 0])
    // The slot of the first is reused one round later.
    recent.count(.milliseconds(5), succeeded: false, ended: false, at: start + .seconds(70))
    #expect(counts(70) == [1, 2, 2])
    #expect(recent.tally(over: .minute, at: start + .seconds(70)).failures == 1)
    #expect(recent.length(of: .quarterHour, at: start + .seconds(70)) == .seconds(70))
  }
}

@Suite("How long a target's backlog takes")
struct TargetDrainTests {
  private let now = Timestamp(microseconds: 1_790_000_000_000_000)

  private func snapshot(
    waiting: Int, inFlight: Int = 0, took: Duration = .milliseconds(100), ends: Int = 10, attempts: Int = 10,
    settings: TargetSettings = TargetSettings(maxInFlight: 4)
  ) -> TargetSnapshot {
    var snapshot = TargetSnapshot(
      key: "t", breaker: .closed, openUntil: nil, trips: 0, consecutiveFailures: 0, inFlight: inFlight,
      waiting: waiting, settings: settings)
    snapshot.time = now
    for number in 0..<attempts {
      snapshot.recent.count(took, succeeded: number < ends, ended: number < ends, at: now)
    }
    return snapshot
  }

  @Test("a backlog drains at the rate of concurrency divided by duration")
  func littlesLaw() {
    // 4 at a time, 100 ms each: 40 per second.
    #expect(snapshot(waiting: 80).drainEstimate == .seconds(2))
    // The service has capacity for only two at a time.
    #expect(snapshot(waiting: 78, inFlight: 2).drainEstimate == .seconds(4))
    #expect(snapshot(waiting: 0).drainEstimate == .zero)
  }

  @Test("a rate limits it, and calls that need several attempts take several times as long")
  func bounds() {
    #expect(snapshot(waiting: 80, ends: 5).drainEstimate == .seconds(4))
    #expect(
      snapshot(waiting: 80, settings: TargetSettings(maxInFlight: 4, ratePerSecond: 8)).drainEstimate == .seconds(10))
  }

  @Test("without data there is no estimate")
  func unknown() {
    #expect(snapshot(waiting: 1, attempts: 0).drainEstimate == nil)
    #expect(snapshot(waiting: 1, ends: 0).drainEstimate == nil)
    for change in [
      { $0.breaker = .open }, { $0.breaker = .halfOpen }, { $0.isPaused = true }, { $0.isTripped = true },
      { $0.retryAfterUntil = $0.time + .seconds(1) },
    ] as [(inout TargetSnapshot) -> Void] {
      var snapshot = snapshot(waiting: 1)
      change(&snapshot)
      #expect(snapshot.drainEstimate == nil)
    }
    var later = snapshot(waiting: 1)
    later.time = now + .seconds(120)
    #expect(later.drainEstimate == nil)
  }

  @Test("a due first attempt has the wait reason of the call's own view")
  func reasons() {
    let times = [nil, now + .seconds(-1), now + .seconds(1), now + .seconds(2), now + .seconds(3)]
    let spec = CallSpec(
      url: "http://a/", method: "GET", headers: [], target: "t", policy: .service, captureLimit: 0)
    let call = CallRecord(
      id: CallID(rawValue: 1), kind: .call, spec: spec, body: [], createdAt: now,
      progress: CallProgress(state: .queued, due: now, waiting: .concurrency, roundStartedAt: now))
    let open = times.compactMap { $0 }.map { TargetStanding.Breaker.open(until: $0) }
    for breaker in [TargetStanding.Breaker.closed, .halfOpen, .tripped] + open {
      for held in times {
        for rate in times {
          for pace in times {
            for isPaused in [false, true] {
              let standing = TargetStanding(
                breaker: breaker, isPaused: isPaused, isPaced: pace != nil, paceUntil: pace, retryAfterUntil: held,
                rateUntil: rate)
              #expect(standing.waitReason(at: now) == CallView.Wait(of: call, for: standing, at: now)?.reason)
            }
          }
        }
      }
    }
  }
}
