/// The bounds of the event stream.
public struct EventSettings: Sendable, Hashable {
  /// Clients of one namespace that may listen at a time; others are refused.
  public var maxListeners = 1000
  /// Events of one namespace that are kept for listeners that are behind or come back.
  public var maxKept = 10_000
  /// What the kept events of all namespaces may take, in bytes; each that anybody listens in has an equal part.
  public var maxKeptBytes = 16 << 20
  /// How often a listener that hears nothing is shown that the connection lives.
  public var heartbeat = Duration.seconds(15)
  /// How long events are kept on after the last listener has gone, so that it can come back without a gap.
  public var linger = Duration.seconds(300)

  /// The defaults.
  public init() {}
}
