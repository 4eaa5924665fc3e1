package import RedialModel

/// Ended calls that were recently loaded for a command. Retention does not remove them for a while: the command becomes
/// a change of the call, which must still find it.
package struct ShownCalls: Sendable {
  /// How long a call stays after it was loaded, whatever its age: far longer than a command for it takes to become a
  /// change.
  static let time = Duration.seconds(60)

  private var shown: [CallID: ContinuousClock.Instant] = [:]

  package init() {}

  /// How many there are.
  package var count: Int { shown.count }

  /// Whether a call is one of them.
  package func contains(_ id: CallID) -> Bool { shown[id] != nil }

  /// A call was loaded.
  package mutating func remember(_ id: CallID, at now: ContinuousClock.Instant) {
    shown[id] = now
  }

  /// Drops those that were loaded long before.
  package mutating func dropOld(at now: ContinuousClock.Instant) {
    if !shown.isEmpty { shown = shown.filter { now < $0.value + Self.time } }
  }
}
