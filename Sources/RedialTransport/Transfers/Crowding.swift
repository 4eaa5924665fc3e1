internal import CCurl

/// How a transfer waits for a stream; see ``Crowd``.
struct Crowding {
  /// Those that it shares connections with, by a number; 0 if it shares none.
  private(set) var crowd = 0
  /// How long it waits in place of opening a connection; nil if it does not.
  var pause: Duration?
  var isWaiting = false
  /// Since when it has waited first.
  private(set) var since: ContinuousClock.Instant?

  /// Forgets the request before.
  mutating func begin(in crowd: Int) { self = Crowding(crowd: crowd) }

  mutating func beginWaiting(at now: ContinuousClock.Instant) {
    (pause, isWaiting, since) = (nil, true, since ?? now)
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

  /// libcurl has opened a connection for the request.
  func hasConnected(_ connection: Connection?, isMultiplexed: Bool) {
    connection?.isMultiplexed = isMultiplexed
    guard crowding.crowd != 0 else { return }
    memory?.crowds.opened(connection, by: id, in: crowding.crowd, isHTTP1: !isMultiplexed)
  }
}
