internal import RedialModel

/// The events of one namespace, for its listeners. Each namespace numbers its own events, so that nobody can count the
/// events of others, and events of others never displace its own.
///
/// A channel is kept once it is made, so that no number occurs twice. Without listeners it is empty.
struct EventChannel {
  var log: EventLog
  /// The last event that was sent to all listeners that could take it.
  var notified: UInt64 = 0
  /// Whether events are recorded.
  var isOn = false
  /// The listeners: clients, and other instances on the same store.
  var listeners: Set<UInt64> = []
  /// Those that are clients.
  var clients: Set<UInt64> = []
  /// The newest listener, and the newest client.
  var latest: UInt64 = 0
  var latestClient: UInt64 = 0
  /// Whether the events of other instances are asked for.
  var isFollowed = false
  /// From this event on, the log has the events of all instances.
  var wholeFrom: UInt64 = 0
}
