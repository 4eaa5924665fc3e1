import RedialCore
import Testing

@Suite("Circuit breakers")
struct CircuitBreakerTests {
  static let start = Timestamp(microseconds: 1_790_000_000_000_000)

  /// A breaker and the time, for short stories.
  private struct Story {
    var breaker: CircuitBreaker
    var now = CircuitBreakerTests.start

    init(_ settings: CircuitBreakerSettings) { breaker = CircuitBreaker(settings: settings) }

    mutating func wait(_ span: Duration) { now = now + span }

    mutating func permit() throws -> CircuitBreaker.Permit {
      guard case .permitted(let permit) = breaker.acquire(at: now) else {
        throw Refused(state: breaker.state)
      }
      return permit
    }

    mutating func call(_ result: CircuitBreaker.Result) throws {
      let permit = try permit()
      breaker.record(result, of: permit, at: now)
    }

    var isRefused: Bool { !breaker.admits(at: now) }
    var isClosed: Bool { breaker.state == .closed }
    var isOpen: Bool { if case .open = breaker.state { true } else { false } }
    var isHalfOpen: Bool { if case .halfOpen = breaker.state { true } else { false } }
  }

  private struct Refused: Error { var state: CircuitBreaker.State }

  private static let quick = CircuitBreakerSettings(
    consecutiveFailures: 3, significance: 1, openInterval: .seconds(5), maximumOpenInterval: .seconds(30),
    halfOpenProbes: 2, probeTimeout: .seconds(10))

  @Test("failures in a row open it, unless there is a success between them")
  func consecutive() throws {
    var story = Story(Self.quick)
    for result in [CircuitBreaker.Result.failure, .failure, .success, .failure, .failure] { try story.call(result) }
    #expect(story.isClosed)
    try story.call(.failure)
    #expect(story.breaker.state == .open(until: story.now + .seconds(5), trips: 1))
    #expect(story.isRefused)
  }

  @Test("an ignored result changes nothing")
  func ignored() throws {
    var story = Story(Self.quick)
    try story.call(.failure)
    try story.call(.failure)
    let before = story.breaker
    try story.call(.ignored)
    #expect(story.breaker.consecutiveFailures == 2 && story.breaker.usual == before.usual && story.isClosed)
    try story.call(.failure)
    #expect(story.isOpen)
  }

  @Test("a failure rate opens it once the window has its minimum, checked after successes too")
  func rate() throws {
    let settings = CircuitBreakerSettings(
      consecutiveFailures: 0, failureRate: 0.5, window: .time(.seconds(10)), minimumCalls: 4)
    var story = Story(settings)
    for _ in 0..<2 { try story.call(.failure) }
    try story.call(.success)
    #expect(story.isClosed)
    try story.call(.success)
    #expect(story.isOpen)

    var slow = Story(settings)
    for _ in 0..<20 {
      try slow.call(.failure)
      slow.wait(.seconds(4))
    }
    #expect(slow.isClosed, "only three outcomes are ever within the window")
  }

  @Test("while open nothing passes, and a rejection has the time")
  func open() throws {
    var story = Story(Self.quick)
    for _ in 0..<3 { try story.call(.failure) }
    let until = story.now + .seconds(5)
    story.wait(.milliseconds(4999))
    #expect(story.breaker.acquire(at: story.now) == .rejected(until: until))
    story.wait(.milliseconds(1))
    #expect(try story.permit().isProbe)
  }

  @Test("half-open lets exactly its permitted probes through, and closes when they have succeeded")
  func probes() throws {
    var story = Story(Self.quick)
    for _ in 0..<3 { try story.call(.failure) }
    story.wait(.seconds(5))
    let (first, second) = (try story.permit(), try story.permit())
    #expect(story.isRefused)
    story.breaker.record(.success, of: first, at: story.now)
    #expect(story.isHalfOpen && story.isRefused)
    story.breaker.record(.success, of: second, at: story.now)
    #expect(story.isClosed)
    // All is forgotten: it takes three failures again, and the interval is the first again.
    for _ in 0..<2 { try story.call(.failure) }
    #expect(story.isClosed)
    try story.call(.failure)
    #expect(story.breaker.state == .open(until: story.now + .seconds(5), trips: 1))
  }

  @Test("a failed probe opens it again, each time for longer, up to the maximum")
  func growth() throws {
    var story = Story(Self.quick)
    for _ in 0..<3 { try story.call(.failure) }
    for (trip, seconds) in [(1, 5), (2, 10), (3, 20), (4, 30), (5, 30)] {
      #expect(story.breaker.state == .open(until: story.now + .seconds(seconds), trips: trip))
      story.wait(.seconds(seconds))
      try story.call(.failure)
    }
  }

  @Test("an ignored probe gives its permit back")
  func ignoredProbe() throws {
    var story = Story(Self.quick)
    for _ in 0..<3 { try story.call(.failure) }
    story.wait(.seconds(5))
    for _ in 0..<50 { try story.call(.ignored) }
    #expect(story.isHalfOpen)
    try story.call(.success)
    try story.call(.success)
    #expect(story.isClosed)
  }

  @Test("probes that never return count as failed: half-open always ends")
  func lostProbes() throws {
    var story = Story(Self.quick)
    for _ in 0..<3 { try story.call(.failure) }
    story.wait(.seconds(5))
    let lost = try story.permit()
    story.wait(.seconds(10))
    #expect(story.isRefused)
    story.breaker.advance(to: story.now)
    #expect(story.breaker.state == .open(until: story.now + .seconds(10), trips: 2))
    story.breaker.record(.success, of: lost, at: story.now)
    #expect(story.isOpen, "a permit of an earlier generation changes nothing")
    story.wait(.seconds(10))
    try story.call(.success)
    try story.call(.success)
    #expect(story.isClosed)
  }

  @Test("a half-open breaker without calls waits, however long")
  func idleHalfOpen() throws {
    var story = Story(Self.quick)
    for _ in 0..<3 { try story.call(.failure) }
    story.wait(.seconds(1_000_000))
    try story.call(.success)
    story.wait(.seconds(1_000_000))
    try story.call(.success)
    #expect(story.isClosed)
  }

  @Test("late results change nothing, in any state")
  func late() throws {
    var story = Story(Self.quick)
    let early = try (0..<10).map { _ in try story.permit() }
    for _ in 0..<3 { try story.call(.failure) }
    let opened = story.breaker
    for permit in early { story.breaker.record(.success, of: permit, at: story.now) }
    for permit in early { story.breaker.record(.failure, of: permit, at: story.now) }
    #expect(story.breaker == opened)
    story.wait(.seconds(5))
    story.breaker.advance(to: story.now)
    let probing = story.breaker
    for permit in early { story.breaker.record(.success, of: permit, at: story.now) }
    #expect(story.breaker == probing)
  }

  @Test("a breaker that was open when its process ended stays open")
  func restored() throws {
    var story = Story(Self.quick)
    story.breaker = CircuitBreaker(settings: Self.quick, openUntil: story.now + .seconds(3), trips: 4)
    #expect(story.isRefused)
    story.wait(.seconds(3))
    try story.call(.failure)
    #expect(story.breaker.state == .open(until: story.now + .seconds(30), trips: 5))
  }

  @Test("a first interval beyond the maximum is used unchanged")
  func longFirst() throws {
    var story = Story(CircuitBreakerSettings(consecutiveFailures: 1, openInterval: .seconds(300)))
    try story.call(.failure)
    #expect(story.breaker.state == .open(until: story.now + .seconds(300), trips: 1))
  }

  @Test("probes stay within their number and no breaker is stuck, over random events")
  func anything() throws {
    for seed in UInt64(0)..<300 {
      var random = RandomSource(seed: seed)
      var story = Story(Self.quick)
      var permits: [CircuitBreaker.Permit] = []
      for _ in 0..<300 {
        switch Int(random.next() % 4) {
        case 0: story.wait(.milliseconds(Int64(random.next() % 4000)))
        case 1:
          if case .permitted(let permit) = story.breaker.acquire(at: story.now) { permits.append(permit) }
        default:
          guard !permits.isEmpty else { continue }
          let permit = permits.remove(at: Int(random.next() % UInt64(permits.count)))
          let result: CircuitBreaker.Result = [.success, .failure, .ignored][Int(random.next() % 3)]
          story.breaker.record(result, of: permit, at: story.now)
        }
        if case .halfOpen(let probing) = story.breaker.state {
          #expect(probing.inFlight >= 0 && probing.inFlight + probing.successes <= 2, "seed \(seed)")
        }
      }
      // Time and successes close it from wherever it is.
      for _ in 0..<10 where !story.isClosed {
        story.wait(.seconds(40))
        if case .permitted(let permit) = story.breaker.acquire(at: story.now) {
          story.breaker.record(.success, of: permit, at: story.now)
        }
      }
      #expect(story.isClosed, "seed \(seed): \(story.breaker.state)")
    }
  }
}
