/// The signs of life of an attempt. With them its timeout counts from the last, not from its start.
final class Activity: Sendable {
  private let clock: any RetryClock
  private let last = Guarded<Timestamp?>(nil)

  init(_ clock: any RetryClock) { self.clock = clock }

  /// Notes that something was received or sent.
  func sign() { last.withLock { $0 = clock.now } }

  /// The rest of a limit; zero if there was no sign.
  func timeLeft(of limit: Duration) -> Duration {
    guard let last = last.withLock({ $0 }) else { return .zero }
    return limit - (clock.now - last)
  }
}
