/// The limits of the event stream.
package struct EventSettings: Sendable, Hashable {
  /// Maximum number of listeners in one namespace; others are refused.
  package var maxListeners = 1000
  /// Events of one namespace that are kept for listeners that are behind or reconnect.
  package var maxKept = 10_000
  /// Maximum size of the kept events of all namespaces, in bytes; each namespace with listeners has an equal part.
  package var maxKeptBytes = 16 << 20
  /// The interval of heartbeats for listeners without events.
  package var heartbeat = Duration.seconds(15)
  /// How long events are kept after the last listener has left, so that it can reconnect without a gap.
  package var linger = Duration.seconds(300)

  /// The defaults.
  package init() {}
}
