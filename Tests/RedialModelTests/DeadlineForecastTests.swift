import RedialCore
import RedialModel
import Testing

@Suite("A backlog and its deadlines")
struct DeadlineForecastTests {
  private static let now = Timestamp(microseconds: 1_796_083_200_000_000)

  private func at(_ seconds: Double) -> Timestamp { Self.now + .microseconds(Int64(seconds * 1e6)) }

  @Test("calls that start in time are not counted, and those that do not take no start")
  func order() throws {
    var forecast = try #require(DeadlineForecast(perSecond: 2))
    // They start at 0, 0.5, 1, 1.5 s, and so on.
    for deadline in [0, 1, 0.9, 1.5, 1, 2] { forecast.add(at(deadline), at: Self.now) }
    // The third would start at 1 s, the fifth after the fourth at 1.5 s.
    #expect(forecast.missing == 2)
  }

  @Test("with one deadline for all, as many are missed as do not fit before it", arguments: [10, 300, 301, 5000])
  func sameDeadline(count: Int) throws {
    var forecast = try #require(DeadlineForecast(perSecond: 10))
    for _ in 0..<count { forecast.add(at(30), at: Self.now) }
    #expect(abs(forecast.missing - max(0, count - 301)) <= 1)
    #expect(forecast.perSecond == 10 && forecast.shownRate == 10)
  }

  @Test("a long queue of which only the first and the last deadline are known is about the same as all of them")
  func long() throws {
    for (rate, spread) in [(5.0, 4000.0), (50, 4000), (8, 600), (1, 0)] {
      let all = (0..<20_000).map { at(60 + spread * Double($0) / 20_000) }
      var exact = try #require(DeadlineForecast(perSecond: rate))
      for deadline in all { exact.add(deadline, at: Self.now) }
      var short = try #require(DeadlineForecast(perSecond: rate))
      short.add(Array(all.prefix(1000)), last: all.last, count: all.count, at: Self.now)
      #expect(
        abs(short.missing - exact.missing) <= 60, "\(rate)/s over \(spread) s: \(short.missing), \(exact.missing)")
    }
  }

  @Test("a queue that is shorter than was read counts no more than it has, and a rate of zero is unknown")
  func limits() throws {
    var forecast = try #require(DeadlineForecast(perSecond: 1))
    forecast.add([at(-1), at(-1), at(-1)], last: at(-1), count: 2, at: Self.now)
    #expect(forecast.missing == 2)
    forecast.add([], last: nil, count: 10, at: Self.now)
    #expect(forecast.missing == 2)
    #expect(DeadlineForecast(perSecond: 0) == nil && DeadlineForecast(perSecond: .infinity) == nil)
    #expect(DeadlineForecast(perSecond: .nan) == nil)
  }

  @Test("the backlog ends at what the target processes, less the share of new calls")
  func rate() {
    var target = TargetSnapshot(
      key: "t", breaker: .closed, openUntil: nil, trips: 0, consecutiveFailures: 0, inFlight: 4, waiting: 100)
    target.time = Self.now
    #expect(target.backlogPerSecond == nil)
    for _ in 0..<10 { target.recent.count(.milliseconds(100), succeeded: true, ended: true, at: Self.now) }
    #expect(target.backlogPerSecond == 40)
    target.newStarts = 0.75
    #expect(target.backlogPerSecond == 10)
    // It keeps what its share leaves, whatever started last.
    target.newStarts = 1
    #expect((7.9...8.1).contains(target.backlogPerSecond ?? 0))
    target.isPaused = true
    #expect(target.backlogPerSecond == nil)
    target.isPaused = false
    target.breaker = .open
    #expect(target.backlogPerSecond == nil)
  }
}
