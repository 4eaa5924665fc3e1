/// The kinds of problems: a stable word for each, which programs can match.
///
/// What a code means is declared once, in ``declaration``. Programs must expect codes that they do not know.
public enum ProblemCode: String, CaseIterable, Sendable, Hashable {
  case badRequest
  case methodNotAllowed
  case notFound
  case invalidJSON
  case bodyTooLarge
  case invalidParameter
  case unsupportedMediaType
  case unsupportedContentCoding
  case preconditionFailed
  case invalidAttribution
  case crossSiteRequest
  case hostNotAllowed
  case hostEmpty
  case forwardNotDeliberate

  case missingAPIKey
  case invalidAPIKey
  case insufficientScope
  case untrustedUser
  case userNotAdmitted
  case operatorsOnly
  case otherNamespace
  case invalidNamespace
  case quotaExceeded
  case apiKeyNotFound
  case invalidAPIKeyDraft
  case firstKeyMustBeAdmin
  case tooManyAPIKeys
  case noRandomness

  case invalidDescriptor
  case invalidOption
  case invalidBatch
  case invalidIdempotencyKey
  case idempotencyKeyReused
  case tooManyHops
  case callNotFound
  case callEnded
  case callNotEnded
  case callRunning
  case contentErased
  case notReplayable
  case callDamaged
  case callRemoved

  case backlogFull
  case namespaceBacklogFull
  case starting
  case draining
  case notReady
  case storageFull
  case storageUnavailable
  case outcomeUnknown
  case leaseLost
  case tooManyQueries

  case targetNotFound
  case invalidTarget
  case invalidTargetSettings
  case tooManyTargets

  case policyNotFound
  case invalidPolicy
  case policyTooLarge
  case tooManyPolicies
  case tooManyPreviews
  case previewsFull

  case invalidOperation
  case operationNotFound
  case operationEnded
  case tooManyOperations

  case invalidWebhookEndpoint
  case invalidRotation
  case webhookEndpointNotFound
  case webhookEndpointDisabled
  case tooManyWebhookEndpoints
  case tooManyListeners

  case credentialNotFound
  case invalidCredential
  case tooManyCredentials
  case noEncryptionKey

  case issueNotFound
  case invalidIssue
  case issueNotResolved
  case alertNotFound
  case invalidAlert
  case tooManyAlerts
  case alertWithoutReceiver
  case invalidChange

  case ownedElsewhere
  case leaderUnreachable
  case instanceUnreachable
  case notAPeer
  case invalidForward
  case forwardedTooLate
  case callInMemory
}
