import RedialCore
import RedialForecast

/// The adaptive pace; prints each change of its rate.
struct TracingPace: Pacing {
  private var pace = AdaptivePace()
  private var last: Double?

  private mutating func show(at now: Timestamp) {
    guard pace.rate != last else { return }
    last = pace.rate
    let seconds = Double(now.microseconds) / 1e6 - 1000
    print(
      "\(text(seconds)) s: \(pace.rate.map(text) ?? "no limit"), \(pace.reason), delivers \(text(pace.delivered))/s")
  }

  mutating func wait(at now: Timestamp) -> Timestamp? { pace.wait(at: now) }
  func concurrency(within full: Int) -> Int { pace.concurrency(within: full) }
  mutating func hasRoom(beside inFlight: Int, within full: Int) -> Bool { pace.hasRoom(beside: inFlight, within: full) }
  mutating func start(at now: Timestamp) -> AdaptivePace.Ticket { pace.start(at: now) }

  mutating func end(_ ticket: AdaptivePace.Ticket, _ sign: AdaptivePace.Sign, at now: Timestamp) {
    pace.end(ticket, sign, at: now)
    show(at: now)
  }

  mutating func suspend(at now: Timestamp) { pace.suspend(at: now) }

  mutating func recover(at now: Timestamp) {
    pace.recover(at: now)
    show(at: now)
  }

  func isDelivering(at now: Timestamp) -> Bool { pace.isDelivering(at: now) }
}
