/// How an engine shares its store with others.
package struct LeaseSettings: Sendable, Hashable {
  /// How long a lease stands after it was last renewed: so long are the calls of an instance that died left alone.
  package var duration: Duration
  /// By how much earlier than the store an instance takes its lease for over. It covers the difference in rate of its
  /// clock and the store's over one duration, and the time that aborting its attempts takes.
  package var margin: Duration
  /// How often a lease is renewed, at most a third of its remaining time. With that the instance learns of calls
  /// that others have accepted for its shards, so that these are at most that late.
  package var interval: Duration
  /// The same while the engine requests nothing of its store, and the lease is renewed in another way
  /// (``EngineEvent/leaseRenewed(session:asked:)``), by which it also learns of calls.
  package var rest: Duration

  /// Creates settings; every argument left out has Redial's default.
  package init(
    duration: Duration = .seconds(10), margin: Duration = .seconds(2), interval: Duration = .milliseconds(250),
    rest: Duration = .milliseconds(250)
  ) {
    self.duration = duration
    self.margin = margin
    self.interval = interval
    self.rest = rest
  }
}

extension LeaseSettings {
  /// Settings for leases of a duration: a fifth of it is the margin.
  package init(lasting duration: Duration) {
    self.init(duration: duration, margin: duration / 5, rest: .seconds(1))
  }

  /// How long a lease is relied upon.
  var validity: Duration { duration - margin }
  /// How long the ends of a busy shard's attempts are waited for, to give the shard back.
  var patience: Duration { validity / 2 }
  /// How long after it has asked an instance asks again.
  var pause: Duration { min(interval, validity / 3) }
}
