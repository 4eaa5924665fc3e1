internal import CCurl
internal import RedialCore

/// How a transfer waits for a stream; see ``Crowd``.
struct Crowding {
  /// Those that it shares connections with, by a number; 0 if it shares none.
  private(set) var crowd = 0
  /// How long it waits in place of opening a connection; nil if it does not.
  var pause: Duration?
  var isWaiting = false
  /// Since when it has waited first, and how long in all.
  private(set) var since: ContinuousClock.Instant?
  private(set) var waited = Duration.zero

  /// Forgets the request before.
  mutating func begin(in crowd: Int) { self = Crowding(crowd: crowd) }

  /// Returns since when it has waited first.
  mutating func beginWaiting(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    (pause, isWaiting) = (nil, true)
    let first = since ?? now
    since = first
    return first
  }

  mutating func endWaiting(after wait: Duration) {
    isWaiting = false
    waited += wait
  }
}

extension Transfer {
  /// Whether libcurl may open a connection for the request.
  func mayConnect(at now: ContinuousClock.Instant = .now) -> Bool {
    // What was sent is not sent again, whatever libcurl wants; and what it says of the end of that must not be lost.
    guard crowding.crowd != 0, course.sends == 0, !options.isAlone, let events, let memory else { return true }
    crowding.pause = memory.crowds.pause(
      of: id, in: crowding.crowd, after: crowding.since.map { now - $0 } ?? .zero,
      atMost: min(configuration.connectTimeout, course.timeLimit) / 2, at: now, isIdle: events.isIdle)
    return crowding.pause == nil
  }

  private static let longestToSettle = Duration.milliseconds(500)

  private func time(_ info: CURLINFO) -> Duration { .microseconds(Int(redial_curl_get_offset(handle, info))) }

  /// libcurl has opened a connection for the request.
  func hasConnected(_ connection: Connection?, isMultiplexed: Bool) {
    connection?.isMultiplexed = isMultiplexed
    guard crowding.crowd != 0 else { return }
    let (connected, secured) = (time(CURLINFO_CONNECT_TIME_T), time(CURLINFO_APPCONNECT_TIME_T))
    // TLS took a round trip at least; what the target says comes about one later, and one that is busy is late.
    let settles = max(.zero, min((secured - connected) * 3, Self.longestToSettle)) + .milliseconds(50)
    memory?.crowds.opened(
      connection, by: id, in: crowding.crowd, isHTTP1: !isMultiplexed, settles: settles)
  }
}
