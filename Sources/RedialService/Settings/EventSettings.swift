/// The limits of the event stream.
public struct EventSettings: Sendable, Hashable {
  /// Maximum number of listeners in one namespace; others are refused.
  public var maxListeners = 1000
  /// Events of one namespace that are kept for listeners that are behind or reconnect.
  public var maxKept = 10_000
  /// Maximum size of the kept events of all namespaces, in bytes; each namespace with listeners has an equal part.
  public var maxKeptBytes = 16 << 20
  /// The interval of heartbeats for listeners without events.
  public var heartbeat = Duration.seconds(15)
  /// How long events are kept after the last listener has left, so that it can reconnect without a gap.
  public var linger = Duration.seconds(300)

  /// The defaults.
  public init() {}
}
