import RedialCore
import Testing

@Suite("Concurrency limits")
struct ConcurrencyLimiterTests {
  /// A limiter with a number of requests in flight, even beyond the limit.
  private func limiter(
    _ algorithm: ConcurrencyLimiter.Algorithm, initial: Int, inFlight: Int, minimum: Int = 1, maximum: Int = 1000
  ) -> ConcurrencyLimiter {
    var limiter = ConcurrencyLimiter(algorithm, initial: initial, minimum: minimum, maximum: maximum)
    for _ in 0..<inFlight { _ = limiter.acquire() }
    return limiter
  }

  /// The limits after each of these outcomes, every one of which ends with the same number in flight.
  private func limits(_ limiter: ConcurrencyLimiter, _ outcomes: [ConcurrencyLimiter.Outcome]) -> [Int] {
    var limiter = limiter
    return outcomes.map { outcome in
      limiter.release(outcome)
      _ = limiter.acquire()
      return limiter.limit
    }
  }

  private func took(_ milliseconds: Int) -> ConcurrencyLimiter.Outcome { .success(took: .milliseconds(milliseconds)) }

  @Test("as many go as the limit says, and one more for each that ends, whatever its end")
  func places() {
    var limiter = ConcurrencyLimiter(.fixed, initial: 3)
    for outcome in [took(1), .dropped, .ignored] {
      while limiter.acquire() {}
      #expect(limiter.inFlight == 3)
      limiter.release(outcome)
      #expect(limiter.inFlight == 2)
      #expect(limiter.limit == 3)
    }
  }

  @Test("a lower temporary limit applies, a higher one does not")
  func within() {
    var limiter = ConcurrencyLimiter(.fixed, initial: 3)
    let first = limiter.acquire(within: 1)
    let second = limiter.acquire(within: 1)
    #expect(first && !second)
    while limiter.acquire(within: 9) {}
    #expect(limiter.inFlight == 3)
  }

  @Test("giving back an untaken place changes nothing")
  func unbalanced() {
    for algorithm in [ConcurrencyLimiter.Algorithm.fixed, .aimd(), .vegas(), .gradient2()] {
      var limiter = ConcurrencyLimiter(algorithm)
      let before = limiter
      for outcome in [took(1), .dropped, .ignored] { limiter.release(outcome) }
      #expect(limiter == before)
    }
  }

  @Test("an ignored result changes no limit")
  func ignored() {
    for algorithm in [ConcurrencyLimiter.Algorithm.fixed, .aimd(), .vegas(), .gradient2()] {
      var limiter = limiter(algorithm, initial: 20, inFlight: 20)
      limiter.release(took(5))
      _ = limiter.acquire()
      let before = limiter
      limiter.release(.ignored)
      #expect(limiter.limit == before.limit)
      _ = limiter.acquire()
      #expect(limiter == before)
    }
  }

  @Test("AIMD: a tenth less for a drop, one more for a success at half use or above")
  func aimd() {
    #expect(limits(limiter(.aimd(), initial: 10, inFlight: 10), [.dropped]) == [9])
    #expect(limits(limiter(.aimd(), initial: 10, inFlight: 10), [took(1)]) == [11])
    #expect(limits(limiter(.aimd(), initial: 10, inFlight: 5), [took(1)]) == [11])
    #expect(limits(limiter(.aimd(), initial: 10, inFlight: 4), [took(1)]) == [10])
    #expect(
      limits(limiter(.aimd(), initial: 10, inFlight: 1), [.dropped]) == [9], "a drop counts however few there are")
    let drops = [ConcurrencyLimiter.Outcome](repeating: .dropped, count: 8)
    #expect(limits(limiter(.aimd(), initial: 100, inFlight: 9), drops) == [90, 81, 72, 64, 57, 51, 45, 40])
    #expect(limits(limiter(.aimd(), initial: 2, inFlight: 1), drops).last == 1)
    #expect(limits(limiter(.aimd(), initial: 21, inFlight: 21, maximum: 21), [took(1)]) == [21])
  }

  @Test("AIMD: a success that took longer than the timeout is a drop")
  func aimdTimeout() {
    #expect(limits(limiter(.aimd(), initial: 10, inFlight: 10), [took(5000)]) == [11])
    #expect(limits(limiter(.aimd(), initial: 10, inFlight: 10), [took(5001)]) == [9])
    let halving = AIMDLimit(backoffRatio: 0.5, timeout: .milliseconds(10))
    #expect(limits(limiter(.aimd(halving), initial: 10, inFlight: 10), [took(11)]) == [5])
  }

  @Test("Vegas: the limit after a first answer of 10 ms and a second of a given time")
  func vegas() {
    // Queue 0, 1 (≤ log), 2 (< α), 3 to 6 (between), 7 and more (> β), for L = 10.
    let table = [(10, 16), (11, 16), (12, 11), (14, 10), (25, 10), (26, 9), (50, 9)]
    for (milliseconds, limit) in table {
      let found = limits(limiter(.vegas(), initial: 10, inFlight: 10), [took(10), took(milliseconds)])
      #expect(found == [10, limit], "\(milliseconds) ms")
    }
  }

  @Test("Vegas: the steps grow with the logarithm of the limit")
  func vegasLogarithm() {
    for (initial, grown, shrunk) in [(9, 15, 8), (99, 105, 98), (100, 112, 98), (999, 1011, 997), (1000, 1018, 997)] {
      let limiter = limiter(.vegas(), initial: initial, inFlight: initial, maximum: 2000)
      #expect(limits(limiter, [took(10), took(10)]).last == grown)
      #expect(limits(limiter, [took(10), took(1000)]).last == shrunk)
      #expect(limits(limiter, [.dropped]).last == shrunk)
    }
  }

  @Test("Vegas: the fastest answer is the reference, and with little in use nothing grows")
  func vegasMeasure() {
    let full = limiter(.vegas(), initial: 10, inFlight: 10)
    #expect(limits(full, [took(50), took(10), took(50)]) == [10, 10, 9])
    #expect(limits(limiter(.vegas(), initial: 10, inFlight: 4), [took(10), took(10)]) == [10, 10])
  }

  @Test(
    "Vegas: the reference is measured again after thirty times the limit, so a permanently slower target is accepted")
  func vegasProbe() {
    // At 14 ms against 10 the limit of 10 stays; the 300th answer makes 14 ms the measure, and it grows again.
    let answers = [took(10)] + [ConcurrencyLimiter.Outcome](repeating: took(14), count: 300)
    let found = limits(limiter(.vegas(), initial: 10, inFlight: 10), answers)
    #expect(found.prefix(300).allSatisfy { $0 == 10 })
    #expect(found.last == 16)
  }

  @Test("Gradient2: a steady target gains 0.8 per answer, a drop costs a tenth")
  func gradient2() {
    let full = limiter(.gradient2(), initial: 20, inFlight: 20)
    #expect(limits(full, [took(10), took(10), took(10), took(10), took(10)]) == [20, 21, 22, 23, 24])
    #expect(limits(limiter(.gradient2(), initial: 100, inFlight: 100), [.dropped, .dropped]) == [90, 81])
    #expect(limits(limiter(.gradient2(), initial: 100, inFlight: 49), [took(10)]) == [100])
    #expect(limits(limiter(.gradient2(), initial: 100, inFlight: 1), [.dropped]) == [90])
  }

  @Test("Gradient2: 50 % slower is tolerated, more is not, and one outlier costs at most a tenth")
  func gradient2Slope() {
    // The average over 9 answers of 10 ms and this one, times 1.5, over this one.
    let table = [(10, 100), (15, 100), (20, 97), (30, 92), (1000, 90)]
    for (milliseconds, limit) in table {
      var limiter = limiter(.gradient2(), initial: 100, inFlight: 100, maximum: 100)
      for _ in 0..<9 {
        limiter.release(took(10))
        _ = limiter.acquire()
      }
      limiter.release(took(milliseconds))
      #expect(limiter.limit == limit, "\(milliseconds) ms")
    }
  }

  @Test("Gradient2: after a long overload the average comes down faster than by itself")
  func gradient2Recovery() {
    var limiter = limiter(.gradient2(), initial: 100, inFlight: 100, maximum: 100)
    for milliseconds in [Int](repeating: 1000, count: 100) + [Int](repeating: 10, count: 100) {
      limiter.release(took(milliseconds))
      _ = limiter.acquire()
    }
    #expect(limiter.limit == 100)
    // By itself the average would be 720 ms still, and an answer in 100 ms a quick one.
    limiter.release(took(100))
    #expect(limiter.limit < 100)
  }
}
