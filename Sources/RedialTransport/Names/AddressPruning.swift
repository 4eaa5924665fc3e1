/// Decides when libcurl searches its cached addresses for expired ones.
///
/// It caches one for each host and port, including those that a URL gives as numbers, and searches all of them at the
/// end of each transfer. With 4,096 silent targets that took three quarters of the transport's time. Once a second is
/// enough: an expired address is not used in any case.
///
/// Not `Sendable`: it belongs to the thread that drives the transfers.
final class AddressPruning {
  private static let interval = Duration.seconds(1)
  private var last: ContinuousClock.Instant?

  /// Whether a transfer that is about to connect or to send may prune at its end.
  func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
    if let last, now - last < Self.interval { return false }
    last = now
    return true
  }
}
