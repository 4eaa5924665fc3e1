import RedialCore
import Testing

@Suite("Rate limits")
struct RateLimiterTests {
  private let start = Timestamp(microseconds: 1_790_000_000_000_000)

  @Test("ten per second with a burst of three: three at once, then one every 100 ms")
  func burst() {
    var limiter = RateLimiter(permits: 10, burst: 3)
    for left in [2, 1, 0] {
      #expect(limiter.acquire(at: start) == .permitted)
      #expect(limiter.available(at: start) == left)
    }
    #expect(limiter.acquire(at: start) == .rejected(until: start + .milliseconds(100)))
    #expect(limiter.acquire(at: start + .microseconds(99_999)) == .rejected(until: start + .milliseconds(100)))
    #expect(limiter.acquire(at: start + .milliseconds(100)) == .permitted)
    #expect(limiter.acquire(at: start + .milliseconds(150)) == .rejected(until: start + .milliseconds(200)))
    #expect(limiter.available(at: start + .milliseconds(399)) == 2)
    #expect(limiter.available(at: start + .seconds(60)) == 3, "a pause saves up no more than the burst")
  }

  @Test("three per second do not drift: three hundred thousand take a hundred thousand seconds")
  func drift() {
    for (permits, count, microseconds) in [(3, 300_000, 100_000_000_000), (7, 70_000, 10_000_000_000)] {
      var limiter = RateLimiter(permits: permits)
      var now = start
      for _ in 0..<count {
        guard case .permitted = limiter.acquire(at: now), case .rejected(let until) = limiter.acquire(at: now) else {
          Issue.record("one goes at its time, and a second does not")
          return
        }
        now = until
      }
      #expect(now == start + .microseconds(microseconds), "\(permits) per second")
    }
  }

  @Test("a rate finer than the clock is kept too", arguments: [1, 4])
  func fine(burst: Int) {
    var limiter = RateLimiter(permits: 2_500_000, burst: burst)
    var admitted = 0
    for microsecond in 0..<1000 {
      for _ in 0..<6 where limiter.acquire(at: start + .microseconds(microsecond)) == .permitted { admitted += 1 }
    }
    #expect((2497...2497 + burst).contains(admitted))
  }

  @Test("several requests at once wait until all may go, and more than the burst never go")
  func costs() {
    var limiter = RateLimiter(permits: 10, burst: 5)
    #expect(limiter.acquire(4, at: start) == .permitted)
    #expect(limiter.acquire(4, at: start) == .rejected(until: start + .milliseconds(300)))
    #expect(limiter.acquire(1, at: start) == .permitted, "a smaller one may still pass it")
    #expect(limiter.acquire(6, at: start) == .rejected(until: .distantFuture))
    #expect(limiter.acquire(.max, at: start) == .rejected(until: .distantFuture))
    let before = limiter
    for cost in [0, -1, .min] { #expect(limiter.acquire(cost, at: start) == .permitted) }
    #expect(limiter == before)
  }

  @Test("a peek returns the same answer and changes nothing")
  func peek() {
    var limiter = RateLimiter(permits: 1, burst: 2)
    for second in [0, 0, 0, 1, 1, 5, 5, 5] {
      let now = start + .seconds(second)
      let before = limiter
      let peeked = limiter.peek(at: now)
      #expect(limiter == before)
      #expect(limiter.acquire(at: now) == peeked)
    }
  }

  @Test("a clock that steps back a year does not stop requests for a year")
  func clock() {
    var limiter = RateLimiter(permits: 1, burst: 10)
    for _ in 0..<10 { #expect(limiter.acquire(at: start) == .permitted) }
    let earlier = start + .seconds(-365 * 86400)
    #expect(limiter.acquire(at: earlier) == .rejected(until: earlier + .seconds(1)))
    #expect(limiter.available(at: earlier) == 0)
    #expect(limiter.acquire(at: earlier + .seconds(1)) == .permitted)
  }

  @Test("reservations run after their waits, one after another")
  func reserve() {
    var limiter = RateLimiter(permits: 10, burst: 3)
    let waits = (0..<6).map { _ in limiter.reserve(at: start) }
    #expect(waits == [0, 0, 0, 100, 200, 300].map { .milliseconds($0) })
    // Who asks comes after those who have reserved.
    #expect(limiter.acquire(at: start + .milliseconds(300)) == .rejected(until: start + .milliseconds(400)))
    #expect(limiter.available(at: start + .milliseconds(300)) == 0)
    #expect(limiter.acquire(at: start + .milliseconds(400)) == .permitted)
    #expect(limiter.reserve(at: start + .seconds(10)) == .zero, "a pause empties the line")
    #expect(limiter.available(at: start + .seconds(10)) == 2)
  }

  @Test("a reservation beyond the longest wait, or larger than the burst, counts nothing")
  func patience() {
    var limiter = RateLimiter(permits: 10, burst: 5)
    #expect(limiter.reserve(5, at: start) == .zero)
    let before = limiter
    #expect(limiter.reserve(2, at: start, within: .milliseconds(199)) == nil)
    #expect(limiter.reserve(6, at: start) == nil && limiter.reserve(.max, at: start) == nil)
    for cost in [0, -1, .min] { #expect(limiter.reserve(cost, at: start) == .zero) }
    #expect(limiter == before)
    #expect(limiter.reserve(2, at: start, within: .milliseconds(200)) == .milliseconds(200))
  }

  @Test("a clock that steps back makes nobody wait longer than the reservations")
  func reserveAndBack() {
    var limiter = RateLimiter(permits: 1, burst: 2)
    for second in [0, 0, 1, 2, 3] { #expect(limiter.reserve(at: start) == .seconds(second)) }
    let earlier = start + .seconds(-365 * 86400)
    #expect(limiter.acquire(at: earlier) == .rejected(until: earlier + .seconds(4)))
    #expect(limiter.acquire(at: earlier + .seconds(4)) == .permitted)
  }

  @Test("reservations and requests together keep the rate")
  func mixed() throws {
    for seed in UInt64(0)..<200 {
      var random = RandomSource(seed: seed)
      let permits = Int.random(in: 1...50, using: &random)
      let burst = Int.random(in: 1...6, using: &random)
      var limiter = RateLimiter(permits: permits, burst: burst)
      var now = start
      var goes: [Int64] = []
      for _ in 0..<150 {
        now = now + .microseconds(Int64.random(in: 0...40_000, using: &random))
        if random.next().isMultiple(of: 2) {
          if let wait = limiter.reserve(at: now, within: .seconds(2)) { goes.append((now + wait).microseconds) }
        } else if limiter.acquire(at: now) == .permitted {
          goes.append(now.microseconds)
        }
      }
      goes.sort()
      for first in goes.indices {
        for last in first..<goes.endIndex {
          let span = goes[last] - goes[first] + 1
          let count = Int64(last - first + 1 - burst)
          try #require(count * 1_000_000 < Int64(permits) * span + 1_000_000, "seed \(seed)")
        }
      }
    }
  }

  @Test("a delay below a microsecond is punctual, a longer one moves later requests")
  func punctuality() {
    for (late, next) in [(333_334, 666_667), (333_335, 666_669), (333_400, 666_734)] {
      var limiter = RateLimiter(permits: 3)
      #expect(limiter.acquire(at: start) == .permitted)
      #expect(limiter.acquire(at: start + .microseconds(late)) == .permitted)
      #expect(
        limiter.peek(at: start) == .rejected(until: start + .microseconds(333_334)), "a burst is all one waits for")
      #expect(limiter.peek(at: start + .microseconds(late)) == .rejected(until: start + .microseconds(next)))
    }
  }

  @Test("it never permits more than the burst and the rate, and it permits at the time that it returned")
  func conformance() throws {
    for seed in UInt64(0)..<600 {
      var random = RandomSource(seed: seed)
      let permits = Int.random(in: 1...20, using: &random)
      let period = Int64.random(in: 1...2_000_000, using: &random)
      let burst = Int.random(in: 1...10, using: &random)
      var limiter = RateLimiter(permits: permits, per: .microseconds(period), burst: burst)
      var twin = limiter
      var now = start
      var granted: [(time: Int64, cost: Int)] = []
      for _ in 0..<120 {
        now = now + .microseconds(Int64.random(in: 0...max(1, period / Int64(permits)), using: &random))
        let cost = Int.random(in: 1...3, using: &random)
        let admission = limiter.acquire(cost, at: now)
        try #require(twin.acquire(cost, at: now) == admission, "seed \(seed)")
        switch admission {
        case .permitted: granted.append((now.microseconds, cost))
        case .rejected(let until) where until < .distantFuture:
          try #require(until > now, "seed \(seed)")
          try #require(limiter.peek(cost, at: until) == .permitted, "seed \(seed)")
          try #require(limiter.peek(cost, at: until + .microseconds(-1)) == .rejected(until: until), "seed \(seed)")
        case .rejected: try #require(cost > burst, "seed \(seed)")
        }
        let available = limiter.available(at: now)
        try #require((0...burst).contains(available), "seed \(seed)")
        if available > 0 { try #require(limiter.peek(available, at: now) == .permitted, "seed \(seed)") }
        try #require(limiter.peek(available + 1, at: now) != .permitted, "seed \(seed)")
      }
      for first in granted.indices {
        var sum = 0
        for last in first..<granted.endIndex {
          sum += granted[last].cost
          let span = granted[last].time - granted[first].time
          try #require(Int64(sum - burst) * period < Int64(permits) * (span + 1), "seed \(seed)")
        }
      }
      try #require(limiter == twin, "seed \(seed)")
    }
  }
}
