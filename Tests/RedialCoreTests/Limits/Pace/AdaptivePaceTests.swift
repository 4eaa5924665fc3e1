import RedialCore
import Testing

/// The pace against targets whose capacity it does not know, in virtual time.
struct AdaptivePaceTests {
  private static let start = Timestamp(microseconds: 1_000_000_000)

  @Test
  func `A target without a sign of overload has no limit`() {
    var run = PaceRun(capacity: 1000, kind: .tokens, offered: 200)
    run.advance(by: .seconds(60))
    #expect(run.pace.rate == nil)
    #expect(run.pace.reason == .noOverload)
    #expect(run.refused == 0)
  }

  @Test(arguments: [2.0, 5, 20, 100, 700], [PaceRun.Kind.tokens, .queue])
  func `The pace finds the capacity of a target that gets too much`(capacity: Double, kind: PaceRun.Kind) throws {
    var run = PaceRun(capacity: capacity, kind: kind, offered: 3 * capacity)
    run.recover()
    run.advance(by: .seconds(120))
    run.reset()
    run.advance(by: .seconds(max(60, 600 / capacity)))
    let used = Double(run.delivered) / (capacity * run.length.inSeconds)
    #expect(used > 0.95, "\(used) of the capacity is used")
    // At two per second, each request that is tried in addition is much.
    let share = capacity < 5 ? 0.06 : 0.03
    #expect(Double(run.refused) <= share * Double(run.delivered), "\(run.refused) refused, \(run.delivered) delivered")
  }

  @Test
  func `A target with a queue settles without refusals`() {
    var run = PaceRun(capacity: 50, kind: .queue, offered: 200)
    run.recover()
    run.advance(by: .seconds(60))
    run.reset()
    run.advance(by: .seconds(120))
    #expect(run.refused == 0)
    #expect(run.pace.reason == .queued || run.pace.reason == .grew)
  }

  @Test(arguments: [PaceRun.Kind.tokens, .queue])
  func `A capacity that changes is followed`(kind: PaceRun.Kind) throws {
    var run = PaceRun(capacity: 100, kind: kind, offered: 300)
    run.recover()
    run.advance(by: .seconds(60))
    run.capacity = 30
    run.advance(by: .seconds(60))
    #expect(abs((try #require(run.pace.rate)) - 30) < 5)
    run.capacity = 200
    run.advance(by: .seconds(120))
    #expect((try #require(run.pace.rate)) > 170)
  }

  /// Sends a request when the pace allows it, which is answered after a time.
  private func send(_ pace: inout AdaptivePace, _ now: inout Timestamp, answeredAfter response: Duration) {
    if let later = pace.wait(at: now) { now = later + .microseconds(1) }
    let ticket = pace.start(at: now)
    pace.end(ticket, .delivered(after: response), at: now + response)
  }

  /// A pace at its lowest rate.
  private func slowest(_ now: inout Timestamp) -> AdaptivePace {
    var pace = AdaptivePace(delivered: 0.1, limitedAt: now, at: now)
    for _ in 0..<8 { send(&pace, &now, answeredAfter: .milliseconds(10)) }
    // Answers that take longer and longer: a queue, until the rate is the lowest.
    var slow = Duration.seconds(1)
    for _ in 0..<400 where pace.rate ?? 1 > AdaptivePace.slowest {
      send(&pace, &now, answeredAfter: slow)
      slow = slow * 1.05
    }
    #expect(pace.rate == AdaptivePace.slowest)
    return pace
  }

  // Found by seed 952 of the simulation: what four answers had shown was trusted for six rounds of 40 s.
  @Test
  func `From the lowest rate the pace recovers within two minutes of quick answers`() {
    var now = Self.start
    var pace = slowest(&now)
    let end = now + .seconds(120)
    while now < end, pace.rate ?? 1 < 0.5 { send(&pace, &now, answeredAfter: .milliseconds(10)) }
    #expect(now < end, "\(pace.rate ?? 0)")
  }

  @Test
  func `The lowest rate is no probe: others go beside a request that hangs, and it ends with an outage`() throws {
    var now = Self.start
    var pace = slowest(&now)
    now = now + .seconds(3600)
    let hanging = pace.start(at: now)
    #expect(
      pace.fullUntil(beside: 1, within: 64, at: now) == nil && pace.fullUntil(beside: 7, within: 64, at: now) == nil)
    #expect((pace.wait(at: now) ?? now) - now <= .seconds(10))
    pace.suspend(at: now)
    pace.end(hanging, .silent, at: now + .seconds(60))
    pace.recover(at: now + .seconds(60))
    #expect((try #require(pace.rate)) >= 4)
  }

  // Eight requests of minutes have held back all others of their target after an outage until they ended.
  @Test(arguments: [true, false])
  func `Requests that take much longer than usual leave room for others after an outage`(areFromBefore: Bool) throws {
    var now = Self.start
    var pace = AdaptivePace()
    for _ in 0..<200 { send(&pace, &now, answeredAfter: .milliseconds(10)) }
    if areFromBefore { for _ in 0..<20 { _ = pace.start(at: now) } }
    pace.suspend(at: now)
    now = now + .seconds(20)
    pace.recover(at: now)
    if !areFromBefore { for _ in 0..<20 { _ = pace.start(at: now) } }
    let until = pace.fullUntil(beside: 20, within: 64, at: now)
    #expect((until == nil) == areFromBefore)
    now = now + .seconds(4)
    #expect(pace.fullUntil(beside: 20, within: 64, at: now) == nil)
    #expect(pace.fullUntil(beside: 64, within: 64, at: now) != nil || pace.concurrency(within: 64) < 64)
  }

  @Test(arguments: [0.05, 0.2, 0.5, 0.8])
  func `Refusals, slow answers and silence of a target that delivers never begin a limit`(share: Double) {
    var run = PaceRun(capacity: 1000, kind: .tokens, offered: 100)
    run.advance(by: .seconds(20))
    run.refusedAnyway = share
    run.latency = .milliseconds(800)
    run.advance(by: .seconds(300))
    #expect(run.pace.rate == nil && run.pace.reason == .noOverload)
    // Nor does more than it can take.
    run.capacity = 20
    run.advance(by: .seconds(60))
    #expect(run.pace.rate == nil)
  }

  @Test(arguments: [0.05, 0.2, 0.5])
  func `The share that was refused before an outage is sent after it`(share: Double) {
    var run = PaceRun(capacity: 1000, kind: .tokens, offered: 100)
    run.refusedAnyway = share
    run.advance(by: .seconds(60))
    run.recover()
    run.advance(by: .seconds(30))
    run.reset()
    run.advance(by: .seconds(60))
    #expect(Double(run.delivered) > 0.95 * 100 * 60 * (1 - share), "\(run.delivered) delivered in a minute")
  }

  @Test
  func `An outage of seconds leaves no limit, and one that goes on after it does`() {
    var run = PaceRun(capacity: 1000, kind: .tokens, offered: 100)
    run.advance(by: .seconds(20))
    run.recover(after: .seconds(5))
    #expect(run.pace.rate == nil)
    run.recover(after: .seconds(5))
    #expect(run.pace.rate != nil)
  }

  @Test(arguments: [(outage: 20, times: 2.0), (outage: 40, times: 1)])
  func `After an outage the pace begins at the usual rate or twice that, and grows to the capacity`(
    outage: Int, times: Double
  ) throws {
    var run = PaceRun(capacity: 100, kind: .queue, offered: 60)
    run.advance(by: .seconds(60))
    run.pace.suspend(at: run.now)
    run.pace.recover(at: run.now + .seconds(outage))
    #expect(abs((try #require(run.pace.rate)) - 60 * times) < 10 * times)
    #expect(run.pace.reason == .recovered)
    run.offered = 1000
    run.advance(by: .seconds(20 + outage))
    run.reset()
    run.advance(by: .seconds(60))
    #expect(Double(run.delivered) > 0.97 * 100 * 60)
  }

  @Test(arguments: [0.3, 0.5])
  func `A target that refuses a share of everything is still spared when it is overloaded`(share: Double) throws {
    var run = PaceRun(capacity: 1000, kind: .tokens, offered: 100)
    run.refusedAnyway = share
    run.advance(by: .seconds(120))
    run.capacity = 10
    run.recover()
    run.advance(by: .seconds(120))
    #expect((try #require(run.pace.rate)) < 60)
  }

  @Test
  func `A flood from a few requests does not make all refusals usual`() throws {
    // Quick answers and a burst that the target accepts at once: the first refusals tell little about the capacity.
    var run = PaceRun(capacity: 50, kind: .tokens, offered: 40)
    run.advance(by: .seconds(30))
    run.pace.suspend(at: run.now)
    run.pace.recover(at: run.now + .seconds(60))
    run.offered = 5000
    run.advance(by: .seconds(70))
    run.reset()
    run.advance(by: .seconds(60))
    #expect(Double(run.refused) < 0.05 * Double(run.delivered), "\(run.refused) refused, \(run.delivered) delivered")
  }

  @Test
  func `A limit without effect is lifted`() {
    var run = PaceRun(capacity: 50, kind: .tokens, offered: 200)
    run.recover()
    run.advance(by: .seconds(30))
    #expect(run.pace.rate != nil)
    run.offered = 10
    run.advance(by: .seconds(40))
    #expect(run.pace.rate == nil)
    #expect(run.pace.reason == .noOverload)
  }

  @Test
  func `A pace that had a limit a short time ago begins as after an outage`() {
    let now = Self.start + .seconds(1000)
    #expect(AdaptivePace(delivered: 80, limitedAt: Self.start + .seconds(701), at: now).rate == 80)
    #expect(AdaptivePace(delivered: .nan, limitedAt: now, at: now).rate == 4)
    #expect(AdaptivePace(delivered: 80, limitedAt: Self.start + .seconds(700), at: now).rate == nil)
  }

  @Test
  func `A pace without a limit keeps its delivered rate, for an outage`() {
    var pace = AdaptivePace(delivered: 80, limitedAt: nil, at: Self.start)
    #expect(pace.rate == nil && pace.reason == .noOverload)
    pace.suspend(at: Self.start)
    pace.recover(at: Self.start + .seconds(31))
    #expect(pace.rate == 80)
  }

  @Test
  func `A breaker that an operator closes leaves no limit, and what was delivered stays known`() {
    var pace = AdaptivePace(delivered: 80, limitedAt: nil, at: Self.start)
    pace.suspend(at: Self.start)
    pace.release(at: Self.start + .seconds(31))
    #expect(pace.rate == nil && pace.delivered == 80)
    pace.suspend(at: Self.start + .seconds(60))
    pace.recover(at: Self.start + .seconds(91))
    #expect(pace.rate == 80)
    pace.release(at: Self.start + .seconds(92))
    #expect(pace.rate == nil && pace.reason == .noOverload)
  }

  @Test
  func `A refusal is about the load only while others are processed`() {
    var pace = AdaptivePace()
    #expect(!pace.isDelivering(at: Self.start))
    let ticket = pace.start(at: Self.start)
    pace.end(ticket, .delivered(after: .milliseconds(10)), at: Self.start)
    #expect(pace.isDelivering(at: Self.start + .milliseconds(900)))
    #expect(!pace.isDelivering(at: Self.start + .milliseconds(1100)))
  }

  @Test
  func `Clocks that jump and times without bounds do no harm`() {
    var random = RandomSource(seed: 7)
    for _ in 0..<200 {
      var pace = AdaptivePace()
      var tickets: [AdaptivePace.Ticket] = []
      for _ in 0..<200 {
        let now = Timestamp(
          microseconds: Int64(truncatingIfNeeded: random.next() >> UInt64.random(in: 0...40, using: &random)))
        switch random.next() % 6 {
        case 0: tickets.append(pace.start(at: now))
        case 1:
          guard let ticket = tickets.popLast() else { continue }
          let took = Duration.microseconds(Int64(truncatingIfNeeded: random.next() >> 1))
          pace.end(ticket, random.next() % 2 == 0 ? .delivered(after: took) : .refused, at: now)
        case 2: pace.recover(at: now)
        case 3: pace.suspend(at: now)
        default: _ = pace.wait(at: now)
        }
        if let rate = pace.rate { #expect(rate >= AdaptivePace.slowest && rate.isFinite) }
        #expect(pace.concurrency(within: 64) >= 1 && pace.concurrency(within: 64) <= 64)
      }
    }
  }
}

/// Requests at a target of a capacity, as fast as the pace allows.
struct PaceRun {
  /// What the target does with more than it can take.
  enum Kind: Sendable { case tokens, queue }

  var pace = AdaptivePace()
  var capacity: Double
  var latency = Duration.milliseconds(20)
  var refusedAnyway = 0.0
  /// Requests per second that are there to be made.
  var offered: Double
  private(set) var now = Timestamp(microseconds: 1_000_000_000)
  private(set) var delivered = 0
  private(set) var refused = 0
  private(set) var length = Duration.zero
  private let kind: Kind
  private var random = RandomSource(seed: 3)
  private var next = Timestamp(microseconds: 1_000_000_000)
  private var tokens = 1.0
  private var filledAt = Timestamp(microseconds: 1_000_000_000)
  private var idleAt = Timestamp(microseconds: 1_000_000_000)
  private var ends: [(at: Timestamp, ticket: AdaptivePace.Ticket, sign: AdaptivePace.Sign)] = []

  init(capacity: Double, kind: Kind, offered: Double) {
    self.capacity = capacity
    self.kind = kind
    self.offered = offered
  }

  /// An outage of a minute, without calls, has ended.
  mutating func recover(after length: Duration = .seconds(60)) {
    pace.suspend(at: now)
    now = now + length
    next = max(next, now)
    pace.recover(at: now)
  }

  mutating func reset() {
    delivered = 0
    refused = 0
    length = .zero
  }

  mutating func advance(by time: Duration) {
    let end = now + time
    length += time
    while true {
      let first = ends.indices.min { ends[$0].at < ends[$1].at }
      if let first, ends[first].at <= min(next, end) {
        now = max(now, ends[first].at)
        let (_, ticket, sign) = ends.remove(at: first)
        if case .delivered = sign { delivered += 1 } else { refused += 1 }
        pace.end(ticket, sign, at: now)
      } else if next <= end {
        now = max(now, next)
        if let time = pace.wait(at: now) {
          next = max(time, now + .microseconds(1))
        } else {
          let ticket = pace.start(at: now)
          let (sign, took) = answer()
          ends.append((now + took, ticket, sign))
          next = now + .microseconds(Int64(1e6 / offered))
        }
      } else {
        break
      }
    }
    now = end
  }

  private mutating func answer() -> (AdaptivePace.Sign, Duration) {
    if random.unitInterval() < refusedAnyway { return (.refused, .milliseconds(1)) }
    switch kind {
    case .tokens:
      tokens = min(max(1, capacity), tokens + (now - filledAt).inSeconds * capacity)
      filledAt = now
      guard tokens >= 1 else { return (.refused, .milliseconds(1)) }
      tokens -= 1
      return (.delivered(after: latency), latency)
    case .queue:
      let wait = max(.zero, idleAt - now)
      guard wait <= .seconds(1) else { return (.refused, .milliseconds(1)) }
      idleAt = now + wait + .microseconds(Int64(1e6 / capacity))
      return (.delivered(after: wait + latency), wait + latency)
    }
  }
}
