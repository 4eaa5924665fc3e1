/// What somebody has done, as the audit log has it: the kind of the object, and what was done to it.
public enum AuditAction: String, Sendable, Hashable, CaseIterable {
  case keyCreated = "key.created"
  case keyRevoked = "key.revoked"
  case endpointCreated = "endpoint.created"
  case endpointChanged = "endpoint.changed"
  case endpointRemoved = "endpoint.removed"
  case endpointSecretRotated = "endpoint.secretRotated"
  case endpointTested = "endpoint.tested"
  case webhookSecretRead = "webhookSecret.read"
  case policyPut = "policy.put"
  case policyRemoved = "policy.removed"
  case targetChanged = "target.changed"
  case targetPaused = "target.paused"
  case targetResumed = "target.resumed"
  case targetTripped = "target.tripped"
  case targetReset = "target.reset"
  case targetReleased = "target.released"
  case callCancelled = "call.cancelled"
  case callRetried = "call.retried"
  case callErased = "call.erased"
  case callReplayed = "call.replayed"
  case operationStarted = "operation.started"
  case operationStopped = "operation.stopped"
  case issueChanged = "issue.changed"
  case alertChanged = "alert.changed"
  case alertSilenced = "alert.silenced"
  case alertRemoved = "alert.removed"
  case alertTested = "alert.tested"
  case credentialPut = "credential.put"
  case credentialRemoved = "credential.removed"
  case dataKeysReplaced = "dataKeys.replaced"
  case dataKeysErased = "dataKeys.erased"
  case commitsLost = "commits.lost"

  /// Whether the members that are kept say all that it changes. A release or a reset of a target leaves them as they are.
  public var isShown: Bool { self != .targetReleased && self != .targetReset }

  /// The members of an object, or of the answer about it, that the log keeps; nil for all.
  public var keptMembers: Set<String>? {
    switch self {
    case .targetChanged, .targetPaused, .targetResumed, .targetTripped, .targetReset, .targetReleased:
      ["state", "paused", "tripped", "heldUntil", "overrides"]
    // A call has its own history, and the payloads do not belong here.
    case .callCancelled, .callRetried, .callErased: ["state"]
    case .callReplayed, .endpointTested, .alertTested: ["id"]
    case .webhookSecretRead: []
    default: nil
    }
  }
}
