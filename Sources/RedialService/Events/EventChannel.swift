internal import RedialModel

/// The events of one namespace: what its listeners are told from. Its numbers are its own, so that nobody can count what
/// happens elsewhere, and what happens elsewhere displaces nothing here.
///
/// Once made it stays, so that no number comes twice; while nobody listens it is empty.
struct EventChannel {
  var log: EventLog
  /// Up to which event everybody was told, as far as they had room.
  var told: UInt64 = 0
  /// Whether events are noted.
  var isOn = false
  /// Who listens.
  var listeners: Set<UInt64> = []
  /// The last who began to.
  var latest: UInt64 = 0
}
