@testable import RedialCore
import Testing

/// When a breaker takes failures for an outage: only when nothing gets through, and chance does not explain it.
@Suite("Breakers: what is an outage")
struct OutageTests {
  private static let start = Timestamp(microseconds: 1_790_000_000_000_000)

  /// A breaker with the service's rule, and attempts of calls.
  private struct Story {
    var breaker: CircuitBreaker
    var now = OutageTests.start
    private var calls: UInt64 = 0

    init(_ settings: CircuitBreakerSettings = .service) { breaker = CircuitBreaker(settings: settings) }

    mutating func begin() throws -> CircuitBreaker.Permit {
      guard case .permitted(let permit) = breaker.acquire(at: now) else { throw Refused() }
      return permit
    }

    mutating func end(_ permit: CircuitBreaker.Permit, _ result: CircuitBreaker.Result, of call: UInt64? = nil) {
      calls += 1
      breaker.record(result, of: permit, call: call ?? 1_000_000 + calls, took: .milliseconds(10), at: now)
    }

    mutating func attempt(_ result: CircuitBreaker.Result, of call: UInt64? = nil) throws {
      end(try begin(), result, of: call)
      now = now + .milliseconds(100)
    }

    var isClosed: Bool { breaker.state == .closed }
  }

  private struct Refused: Error {}

  @Test("ten failures in a row open it only after two seconds")
  func time() throws {
    var story = Story()
    for _ in 0..<20 { try story.attempt(.failure) }
    #expect(story.isClosed)
    try story.attempt(.failure)
    #expect(!story.isClosed)
    var quick = Story(CircuitBreakerSettings())
    for _ in 0..<10 { try quick.attempt(.failure) }
    #expect(!quick.isClosed)
  }

  @Test("a target that usually fails needs the more failures in a row", arguments: [(0.5, 20), (0.7, 39), (0.9, 132)])
  func usual(share: Double, needed: Int) {
    var usual = UsualFailures()
    for _ in 0..<2000 { usual.learn(failures: Int(share * 10), of: 10, at: Self.start) }
    #expect(abs(usual.share - share) < 1e-6)
    #expect(!usual.isUnlikely(run: needed - 1, significance: 1e-6))
    #expect(usual.isUnlikely(run: needed, significance: 1e-6))
    #expect(usual.isUnlikely(run: 1, significance: 1))
    #expect(!UsualFailures().isUnlikely(run: 2, significance: 1e-13))
  }

  @Test("a breaker of a target that delivers stays closed", arguments: [0.1, 0.3, 0.5, 0.7])
  func delivers(share: Double) throws {
    for seed in UInt64(0)..<20 {
      var random = RandomSource(seed: seed)
      var story = Story()
      // As many as teach it how much is usual.
      for _ in 0..<1000 {
        if !story.isClosed { story.now = story.now + .seconds(60) }
        try story.attempt(!story.isClosed || random.unitInterval() >= share ? .success : .failure)
      }
      #expect(story.isClosed)
      for _ in 0..<5000 where story.isClosed { try story.attempt(random.unitInterval() < share ? .failure : .success) }
      #expect(story.isClosed, "seed \(seed)")
    }
  }

  @Test("the failures of one call count once")
  func oneCall() throws {
    var story = Story()
    for _ in 0..<200 { try story.attempt(.failure, of: 7) }
    #expect(story.isClosed && story.breaker.consecutiveFailures == 1)
    for call in UInt64(10)..<19 { try story.attempt(.failure, of: call) }
    #expect(!story.isClosed)
  }

  @Test("failures of calls that began before one that has succeeded do not count")
  func late() throws {
    var story = Story()
    // Requests that hang end together, long after others have succeeded.
    var hanging: [CircuitBreaker.Permit] = []
    for _ in 0..<100 { hanging.append(try story.begin()) }
    try story.attempt(.success)
    for permit in hanging {
      story.end(permit, .failure)
      story.now = story.now + .milliseconds(100)
    }
    #expect(story.isClosed && story.breaker.consecutiveFailures == 0)
    #expect(story.breaker.usual.share > 0.5)
  }

  @Test("a success of a call that began before the failures does not end them")
  func slowSuccess() throws {
    var story = Story()
    let slow = try story.begin()
    for _ in 0..<15 { try story.attempt(.failure) }
    story.end(slow, .success)
    #expect(story.breaker.consecutiveFailures == 15)
    for _ in 0..<10 where story.isClosed { try story.attempt(.failure) }
    #expect(!story.isClosed)
  }

  @Test("what is usual stays when it opens and closes, and an outage does not become usual")
  func memory() throws {
    var story = Story()
    for index in 0..<1000 { try story.attempt(index % 2 == 0 ? .failure : .success) }
    let before = story.breaker.usual.share
    while story.isClosed { try story.attempt(.failure) }
    #expect(story.breaker.usual.share == before)
    story.now = story.now + .seconds(60)
    try story.attempt(.success)
    #expect(story.isClosed && story.breaker.usual.share == before)
    story.breaker.reset()
    #expect(story.breaker.usual == UsualFailures())
  }

  @Test("failures of hours ago are no part of a run, and what was usual then weighs little")
  func old() throws {
    var story = Story()
    for _ in 0..<25 {
      try story.attempt(.failure)
      story.now = story.now + .seconds(3601)
    }
    #expect(story.isClosed && story.breaker.consecutiveFailures == 1)
    for _ in 0..<25 where story.isClosed { try story.attempt(.failure) }
    #expect(!story.isClosed)
    var usual = UsualFailures()
    for _ in 0..<500 { usual.learn(failures: 1, of: 2, at: Self.start) }
    var trickle = usual
    for _ in 0..<20 { usual.learn(failures: 0, of: 1, at: Self.start) }
    #expect(usual.share > 0.45)
    for number in 0..<20 { trickle.learn(failures: 0, of: 1, at: Self.start + .seconds(3600 + 60 * number)) }
    #expect(trickle.share < 0.26)
  }

  @Test("a clock that steps back does not make a run long, nor keep it short")
  func clock() throws {
    var story = Story()
    for _ in 0..<15 { try story.attempt(.failure) }
    story.now = Timestamp(microseconds: Self.start.microseconds - 3_600_000_000)
    try story.attempt(.failure)
    #expect(story.isClosed)
    for _ in 0..<25 where story.isClosed { try story.attempt(.failure) }
    #expect(!story.isClosed)
  }
}
