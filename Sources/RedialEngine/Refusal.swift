package import RedialModel

/// Why the engine does not do what it was asked for.
package enum Refusal: Sendable, Hashable {
  // MARK: The store

  /// The disk has only the reserve left.
  case noRoom
  /// Something could not be written, because the disk is full.
  case storeFull
  /// Something could not be written.
  case storeFailed
  /// The store's files are not in their place.
  case storeMisplaced
  /// The store was lost, and has to be found again.
  case storeUnreachable
  /// Others have encrypted values by a key that this instance does not have.
  case keyMissing
  /// The data key of the namespace could not be made here.
  case keyNotMade(Namespace)
  /// Nobody knows whether it was done.
  case outcomeUnknown

  // MARK: This instance

  /// The service stops.
  case draining
  /// This instance has no lease.
  case leaseLost
  /// Another instance has the target, or none for the moment.
  case ownedElsewhere(TargetKey)
  /// Whoever has forwarded the call waits no longer for the answer.
  case forwardedTooLate

  // MARK: Limits

  /// So many calls have not ended.
  case backlogFull(Int)
  /// So many calls of the namespace have not ended.
  case namespaceBacklogFull(Int)
  /// So many targets are in use, and a call would add one.
  case tooManyTargets(Int, TargetKey)
  /// So many targets are remembered, and settings would add one.
  case tooManyTargetsInUse(Int)

  // MARK: The call

  /// The key was used for another call.
  case keyReused(IdempotencyName)
  /// There is no such call.
  case callNotFound(CallID)
  /// The call has ended in this state, and cannot be cancelled.
  case callEnded(CallID, StoredState)
  /// The call has ended, and the command is only for one that has not.
  case callNotUnfinished(CallID)
  /// The call has ended again since the operation on it was accepted.
  case callEndedAgain(CallID)
  case callNotEnded(CallID)
  /// An attempt of the call is in flight.
  case callRunning(CallID)
  /// The call's request was erased.
  case contentErased(CallID)
  /// The call is in memory, and need not be reclaimed.
  case callInMemory(CallID)
  /// What somebody else has found: the store in a damaged call, the reader of settings, the owner of a target.
  indirect case found(Problem)

  /// The store has failed.
  init(_ failure: StoreError) {
    self = failure.kind == .full ? .storeFull : .storeFailed
  }

  var isKeyReused: Bool {
    if case .keyReused = self { true } else { false }
  }

  /// Whether it means only that this instance does not do it, and another one may.
  package var othersMayAccept: Bool {
    switch self {
    case .draining, .forwardedTooLate, .keyMissing, .keyNotMade, .leaseLost, .noRoom, .ownedElsewhere, .storeFailed,
      .storeFull, .storeMisplaced, .storeUnreachable:
      true
    case .backlogFull, .callEnded, .callEndedAgain, .callInMemory, .callNotEnded, .callNotFound, .callNotUnfinished,
      .callRunning, .contentErased, .found, .keyReused, .namespaceBacklogFull, .outcomeUnknown, .tooManyTargets,
      .tooManyTargetsInUse:
      false
    }
  }
}
