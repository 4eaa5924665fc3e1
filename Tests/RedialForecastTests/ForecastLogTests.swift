import RedialCore
import RedialForecast
import RedialModel
import Testing

@Suite("Past forecasts")
struct ForecastLogTests {
  private static let start = Timestamp(microseconds: 1_796_083_200_000_000)

  private func target(
    _ key: TargetKey, waiting: Int, breaker: TargetSnapshot.BreakerState = .closed, isPaused: Bool = false
  ) -> TargetSnapshot {
    TargetSnapshot(
      key: key, breaker: breaker, openUntil: nil, trips: 0, consecutiveFailures: 0, inFlight: 0, waiting: waiting,
      isPaused: isPaused)
  }

  private func key(_ number: Int) -> TargetKey { TargetKey("http://target\(number)", in: .default) }

  @Test("a forecast is compared with the time that its backlog took")
  func judged() {
    var log = ForecastLog()
    let (one, now) = (key(1), Self.start)
    #expect(log.isDue(target(one, waiting: 100), at: now))
    log.begin(one, at: now)
    log.add(one, drainsIn: .seconds(60), ordinary: 3, madeAt: now)
    #expect(log.observe(target(one, waiting: 4), at: now + .seconds(70)) == nil)
    let judged = log.observe(target(one, waiting: 3), at: now + .seconds(80))
    #expect(judged?.took == .seconds(80) && judged?.error == -0.25)
    #expect(log.accuracy(of: one).medianError == 0.25 && log.targets.isEmpty)
    #expect(log.accuracy(of: key(2)).last.isEmpty)
  }

  @Test("one a minute is made for a target, and only for a backlog that can be delivered")
  func due() {
    var log = ForecastLog()
    let (one, now) = (key(1), Self.start)
    #expect(!log.isDue(target(one, waiting: ForecastLog.fewest - 1), at: now))
    #expect(!log.isDue(target(one, waiting: 100, breaker: .open), at: now))
    #expect(!log.isDue(target(one, waiting: 100, isPaused: true), at: now))
    log.begin(one, at: now)
    #expect(!log.isDue(target(one, waiting: 100), at: now + .seconds(59)))
    #expect(log.isDue(target(one, waiting: 100), at: now + .seconds(60)))
    #expect(log.isDue(target(key(2), waiting: 100), at: now))
  }

  @Test("another outage, an operator or a backlog that lasts too long makes a forecast void")
  func void() {
    for state in [
      target(key(1), waiting: 9, breaker: .open), target(key(1), waiting: 9, isPaused: true),
    ] {
      var log = ForecastLog()
      log.add(key(1), drainsIn: .seconds(60), ordinary: 3, madeAt: Self.start)
      #expect(log.observe(state, at: Self.start + .seconds(1)) == nil)
      #expect(log.targets.isEmpty)
    }
    var log = ForecastLog()
    log.add(key(1), drainsIn: .seconds(60), ordinary: 3, madeAt: Self.start)
    log.add(key(2), drainsIn: .seconds(1), ordinary: 3, madeAt: Self.start)
    #expect(log.targets == [key(1)])
    #expect(log.observe(target(key(1), waiting: 9), at: Self.start + .seconds(4201)) == nil)
    #expect(log.targets.isEmpty)
  }

  @Test("it keeps the last twenty of a target, and a bounded number of targets")
  func bounds() {
    var log = ForecastLog()
    for number in 0..<(ForecastLog.mostTargets + 10) {
      let time = Self.start + .seconds(61 * number)
      log.begin(key(number), at: time)
      log.add(key(number), drainsIn: .seconds(10), ordinary: 1, madeAt: time)
      _ = log.observe(target(key(number), waiting: 0), at: time + .seconds(10))
    }
    #expect(log.accuracy(of: key(0)).last.isEmpty && !log.accuracy(of: key(10)).last.isEmpty)
    for number in 0..<30 {
      let time = Self.start + .seconds(100 * number)
      log.add(key(10), drainsIn: .seconds(10), ordinary: 1, madeAt: time)
      _ = log.observe(target(key(10), waiting: 0), at: time + .seconds(20))
    }
    #expect(log.accuracy(of: key(10)).last.count == ForecastLog.mostPast)
    #expect(log.accuracy(of: key(10)).medianError == 0.5)
    for number in 0..<100 { log.add(key(number), drainsIn: .seconds(10), ordinary: 1, madeAt: Self.start) }
    #expect(log.targets.count == ForecastLog.mostPending)
    #expect(!log.isDue(target(key(500), waiting: 100), at: .distantFuture))
  }
}
