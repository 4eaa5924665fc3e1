package import RedialCore
package import RedialModel

/// How targets stand at one time, as far as one instance knows.
package struct KnownStandings: Sendable {
  package var now: Timestamp
  /// The shards whose calls the instance runs.
  package var own: ShardSet
  /// How targets of these shards stand; one that takes calls may be missing.
  package var standings: [TargetKey: TargetStanding]
  /// Whether the webhooks to a target wait because its endpoint is disabled, or was removed.
  package var isHeldBack: @Sendable (TargetKey) -> Bool

  /// Creates it; by default, all targets are the instance's and take calls.
  package init(
    at now: Timestamp, own: ShardSet = .all, standings: [TargetKey: TargetStanding] = [:],
    isHeldBack: @escaping @Sendable (TargetKey) -> Bool = { _ in false }
  ) {
    self.now = now
    self.own = own
    self.standings = standings
    self.isHeldBack = isHeldBack
  }

  /// How a target stands, and whether that is all: of another instance's target, only the store's part is known.
  ///
  /// - Parameter stored: What the store knows of the target. This counts if another instance runs its calls.
  func standing(of target: TargetKey, stored: TargetRecord?) -> (standing: TargetStanding, isWhole: Bool) {
    if own.contains(target: target) { return (standings[target] ?? TargetStanding(), true) }
    var standing = stored?.standing(at: now) ?? TargetStanding()
    if isHeldBack(target) { standing.isPaused = true }
    return (standing, false)
  }

  /// Whether a reason is what is shown. The store knows the call's own reasons, and some of its target's. Without one of
  /// them its owner has another.
  static func isShown(_ reason: WaitReason, isWhole: Bool) -> Bool { isWhole || reason != .concurrency }

  /// Why a call waits, and until when; nil if it does not wait, or if only the instance that runs its target's calls knows.
  ///
  /// - Parameter stored: What the store knows of its target. This counts if another instance runs the target's calls.
  package func wait(of call: CallRecord, stored: TargetRecord?) -> CallView.Wait? {
    let (standing, isWhole) = standing(of: call.spec.target, stored: stored)
    return CallView.Wait(of: call, for: standing, at: now).flatMap { wait in
      Self.isShown(wait.reason, isWhole: isWhole) ? wait : nil
    }
  }
}
