@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

/// Engines that share a store, for tests.
protocol LeaseScene {}

extension LeaseScene {
  /// Ten seconds, of which eight are relied upon, renewed every second.
  static var leases: LeaseSettings {
    LeaseSettings(duration: .seconds(10), margin: .seconds(2), interval: .seconds(1))
  }
  static var settings: EngineSettings {
    var settings = EngineSettings()
    settings.leases = leases
    return settings
  }
  static var session: LeaseSession { LeaseSession(id: 7, instance: 3) }

  /// An engine that has asked for a lease and has no answer yet.
  func asking() -> EngineProbe {
    EngineProbe(Self.settings)
  }

  /// An engine that has these shards.
  func member(_ shards: ShardSet = .all, share: Int = ShardSet.count) -> EngineProbe {
    var probe = asking()
    probe.grant(shards, share: share)
    return probe
  }

  /// A target whose shard is another than those.
  func target(otherThan others: TargetKey...) -> TargetKey {
    let taken = Set(others.map(ShardSet.shard))
    let name = (0...).lazy.map { TargetKey("http://t\($0).example", in: .default) }.first {
      !taken.contains(ShardSet.shard(of: $0))
    }
    return name ?? ""
  }

  func shard(_ target: TargetKey = EngineProbe.target) -> ShardSet { ShardSet([ShardSet.shard(of: target)]) }

  var everythingElse: ShardSet { .all.subtracting(shard()) }
}

extension EngineProbe {
  var leaseAsks: [LeaseAsk] {
    requests.compactMap { if case .lease(let ask) = $0.body { ask } else { nil } }
  }

  var aborts: [CallID] { actions.compactMap { if case .abort(let id) = $0 { id } else { nil } } }

  var hasDrained: Bool { actions.contains { if case .drained = $0 { true } else { false } } }

  func attempts(of id: CallID) -> [AttemptRecord] {
    written.compactMap { if case .update(id, _, let attempt) = $0 { attempt } else { nil } }
  }

  func grantOf(
    _ gained: ShardSet, _ state: RecoveredState = RecoveredState(), share: Int = ShardSet.count
  ) -> LeaseGrant {
    LeaseGrant(
      session: LeaseSession(id: 7, instance: 3), shards: engine.desk.leases.held.union(gained), gained: gained,
      share: share,
      state: state)
  }

  /// The store commits what it was asked for before, and grants all that it was asked for a lease.
  mutating func grant(
    _ gained: ShardSet = .none, _ state: RecoveredState? = nil, share: Int = ShardSet.count,
    elsewhere: [(namespace: Namespace, unfinished: Int)] = []
  ) {
    commit()
    let asks = leaseAsks
    requests.removeAll { if case .lease = $0.body { true } else { false } }
    let found = state ?? RecoveredState(namespaces: [(.default, engine.roster.unfinished)])
    for ask in asks {
      var grant = grantOf(gained, found, share: share)
      grant.elsewhere = elsewhere
      hear(.leased(grant, ask))
    }
  }

  mutating func grant(state: RecoveredState) {
    grant(.none, state)
  }

  var hasLostLease: Bool { notices.contains { if case .leaseLost = $0 { true } else { false } } }

  /// The store refuses everything that it was asked for, since the lease is over.
  mutating func fence() {
    let failure = StoreError(kind: .leaseLost, message: "the lease is over")
    let failed = requests
    requests = []
    hear(failed.map { .storeFailed($0, failure) })
  }

  /// A call as the store returns it.
  static func record(id: CallID, at now: Timestamp) -> CallRecord {
    CallRecord(
      id: id, kind: .call, spec: .test(), body: [], createdAt: now,
      progress: CallProgress(state: .held, due: now, waiting: .startTime, roundStartedAt: now))
  }
}
