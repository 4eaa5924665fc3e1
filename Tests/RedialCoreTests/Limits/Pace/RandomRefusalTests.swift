import RedialCore
import Testing

/// The pace against targets that refuse a random share of all requests, whatever the load.
@Suite("Random refusals")
struct RandomRefusalTests {
  @Test(
    "do not starve a backlog, however often the service is started again",
    arguments: [0.05, 0.1, 0.2, 0.3], [0, 1, 20])
  func backlog(share: Double, restarts: Int) {
    for seed in UInt64(0)..<20 {
      var run = CrashLoop(share: share, seed: seed)
      let time = run.drain(after: restarts)
      #expect(time != nil, "seed \(seed), \(run.backlog) left at \(run.pace.rate ?? 0) per second")
    }
  }

  @Test("hardly slow a target down that is not overloaded", arguments: [0.02, 0.05, 0.2, 0.5], [20.0, 100])
  func throughput(share: Double, offered: Double) {
    var run = PaceRun(capacity: 5000, kind: .tokens, offered: offered)
    run.refusedAnyway = share
    run.advance(by: .seconds(900))
    let possible = offered * (1 - share) * 900
    #expect(
      Double(run.delivered) > 0.8 * possible, "\(run.delivered) of \(possible), now \(run.pace.rate ?? 0) per second")
  }
}

/// A service that is started again and again while calls come in, and then delivers what has become its backlog.
struct CrashLoop {
  private(set) var pace = AdaptivePace()
  private(set) var backlog = 0
  private let share: Double
  private var random: RandomSource
  private var now = Timestamp(microseconds: 1_000_000_000_000)
  private var flights: [(end: Timestamp, start: Timestamp, ticket: AdaptivePace.Ticket, isRefused: Bool)] = []

  /// The time in which a backlog should be delivered.
  private static let patience = Duration.seconds(120)

  init(share: Double, seed: UInt64) {
    self.share = share
    random = RandomSource(seed: seed)
  }

  /// How long it takes to deliver the backlog; nil if that is too long.
  mutating func drain(after restarts: Int) -> Duration? {
    for _ in 0..<restarts {
      let end = now + .microseconds(Int64(20_000 + 480_000 * random.unitInterval()))
      var arrivals = 0
      while now < end {
        // 600 calls per second.
        arrivals += 3
        backlog += arrivals / 5
        arrivals %= 5
        step()
      }
      restart()
    }
    if restarts == 0 { backlog = 2000 }
    let start = now
    while backlog > 0 || !flights.isEmpty {
      guard now - start < Self.patience else { return nil }
      step()
    }
    return now - start
  }

  private mutating func restart() {
    backlog += flights.count
    flights = []
    let limitedAt = pace.rate == nil ? nil : now
    now = now + .milliseconds(100)
    pace = AdaptivePace(delivered: pace.delivered, limitedAt: limitedAt, at: now)
  }

  /// One millisecond.
  private mutating func step() {
    for flight in flights where flight.end <= now {
      pace.end(flight.ticket, flight.isRefused ? .refused : .delivered(after: now - flight.start), at: now)
      if flight.isRefused { backlog += 1 }
    }
    flights.removeAll { $0.end <= now }
    while backlog > 0, flights.count < pace.concurrency(within: 64), pace.wait(at: now) == nil {
      backlog -= 1
      let milliseconds = random.unitInterval() < 0.02 ? 300 : 1 + 20 * random.unitInterval()
      flights.append(
        (now + .microseconds(Int64(1000 * milliseconds)), now, pace.start(at: now), random.unitInterval() < share))
    }
    now = now + .milliseconds(1)
  }
}
