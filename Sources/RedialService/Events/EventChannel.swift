internal import RedialModel

/// The events of one namespace, for its listeners. Each namespace numbers its own events, so that nobody can count
/// the events of others, and events of others displace nothing here.
///
/// A channel stays once it is made, so that no number occurs twice. Without listeners it is empty.
struct EventChannel {
  var log: EventLog
  /// The last event that was sent to all listeners that had room.
  var notified: UInt64 = 0
  /// Whether events are noted.
  var isOn = false
  /// Who listens.
  var listeners: Set<UInt64> = []
  /// The last who began to.
  var latest: UInt64 = 0
}
