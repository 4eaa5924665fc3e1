internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Why the calls of each target wait, kept from the engine's notices, so that a query can show it without asking the
/// engine.
final class TargetStandings: Sendable {
  /// A target that takes calls may be missing.
  private let standings = Mutex<[TargetKey: TargetStanding]>([:])
  /// The shards whose calls this instance runs.
  private let own: Mutex<ShardSet>
  /// Beyond this number, expired entries are removed.
  private static let mostRemembered = 16_384

  private let endpoints: WebhookEndpoints?

  /// - Parameters:
  ///   - endpoints: The webhook endpoints, if there may be any.
  ///   - isShared: Whether this instance runs only the calls of shards that it gains.
  init(of endpoints: WebhookEndpoints? = nil, isShared: Bool = false) {
    self.endpoints = endpoints
    own = Mutex(isShared ? .none : .all)
  }

  /// Records a change.
  func record(_ notice: Notice, at now: Timestamp) {
    switch notice {
    case .breakerOpened(let target, let until, _, _, _): set(target) { $0.breaker = .open(until: until) }
    case .breakerHalfOpen(let target): set(target) { $0.breaker = .halfOpen }
    case .breakerClosed(let target): set(target) { $0.breaker = .closed }
    case .targetStands(let target, let standing):
      set(target) { $0 = standing }
      standings.withLock { standings in
        guard standings.count > Self.mostRemembered else { return }
        standings = standings.filter { !$0.value.isClear(at: now) }
      }
    case .shardsGained(let shards): own.withLock { $0 = $0.union(shards) }
    case .shardsReleased(let shards): forget(shards)
    case .leaseLost: forget(.all)
    default: break
    }
  }

  /// Another instance runs the calls of these shards, and only that one knows how their targets stand.
  private func forget(_ shards: ShardSet) {
    own.withLock { $0 = $0.subtracting(shards) }
    standings.withLock { standings in standings = standings.filter { !shards.contains(target: $0.key) } }
  }

  /// Why a call waits, and until when, as ``wait(of:stored:at:)``.
  func wait(of call: StoredCall, at now: Timestamp) -> CallView.Wait? {
    wait(of: call.record, stored: call.target, at: now)
  }

  /// Why a call waits, and until when; nil if it does not wait, or if only the instance that runs its target's calls knows.
  ///
  /// - Parameter stored: What the store knows of its target. This counts if another instance runs the target's calls.
  func wait(of call: CallRecord, stored: TargetRecord? = nil, at now: Timestamp) -> CallView.Wait? {
    if own.withLock({ $0.contains(target: call.spec.target) }) {
      let standing = standings.withLock { $0[call.spec.target] }
      return CallView.Wait(of: call, for: standing ?? TargetStanding(), at: now)
    }
    return KnownStandings(at: now, own: .none, isHeldBack: isHeldBack).wait(of: call, stored: stored)
  }

  /// How all targets stand, for a list of calls by their wait reason.
  func known(at now: Timestamp) -> KnownStandings {
    KnownStandings(
      at: now, own: own.withLock { $0 }, standings: standings.withLock { $0 }, isHeldBack: isHeldBack)
  }

  /// Whether the webhooks to a target wait because its endpoint is disabled, or was removed.
  private var isHeldBack: @Sendable (TargetKey) -> Bool {
    { [endpoints] target in endpoints?.holdBack(target) == true }
  }

  private func set(_ target: TargetKey, _ change: (inout TargetStanding) -> Void) {
    standings.withLock { standings in
      var standing = standings[target] ?? TargetStanding()
      change(&standing)
      standings[target] = standing == TargetStanding() ? nil : standing
    }
  }
}
