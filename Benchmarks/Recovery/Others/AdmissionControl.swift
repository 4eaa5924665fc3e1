import RedialCore
import RedialForecast

/// Holds part of the requests back from a target that refuses most of them, with probability
/// p = max(0, (requests − K · accepts) / (requests + 1)), both counted over two minutes.
///
/// Beyer et al., "Site Reliability Engineering", chapter 21 "Handling Overload", with K = 2; Envoy's admission control
/// does the same. A request that is held back is tried again after 100 ms.
struct AdmissionControl: Pacing {
  /// Requests and accepts of each of the last twelve spans of ten seconds.
  private var requests = Array(repeating: 0.0, count: spans)
  private var accepts = Array(repeating: 0.0, count: spans)
  private var span = 0
  private var random = RandomSource(seed: 1)
  private var heldUntil = Timestamp.epoch

  private static let spans = 12
  private static let multiplier = 2.0

  mutating func wait(at now: Timestamp) -> Timestamp? {
    if now < heldUntil { return heldUntil }
    turn(to: now)
    let all = requests.reduce(0, +)
    let probability = (all - Self.multiplier * accepts.reduce(0, +)) / (all + 1)
    guard Double.random(in: 0..<1, using: &random) < probability else { return nil }
    requests[span % Self.spans] += 1
    heldUntil = now + .milliseconds(100)
    return heldUntil
  }

  func concurrency(within full: Int) -> Int { full }
  func start(at now: Timestamp) {}

  mutating func end(_ ticket: Void, _ sign: AdaptivePace.Sign, at now: Timestamp) {
    turn(to: now)
    switch sign {
    case .delivered:
      requests[span % Self.spans] += 1
      accepts[span % Self.spans] += 1
    case .refused, .silent: requests[span % Self.spans] += 1
    case .none: break
    }
  }

  private mutating func turn(to now: Timestamp) {
    let present = Int(now.microseconds / 10_000_000)
    while span < present {
      span = max(span + 1, present - Self.spans)
      requests[span % Self.spans] = 0
      accepts[span % Self.spans] = 0
    }
  }

  func suspend(at now: Timestamp) {}
  func recover(at now: Timestamp) {}
  func isDelivering(at now: Timestamp) -> Bool { false }
}
