// Made by Scripts/generate from api/openapi.yaml.

extension RedialProblem.Code {
  /// There is no such alert.
  public static let alertNotFound = Self(rawValue: "alertNotFound")
  /// The alert has no receiver.
  public static let alertWithoutReceiver = Self(rawValue: "alertWithoutReceiver")
  /// There is no such API key.
  public static let apiKeyNotFound = Self(rawValue: "apiKeyNotFound")
  /// The code `backlogFull`.
  public static let backlogFull = Self(rawValue: "backlogFull")
  /// The request cannot be served.
  public static let badRequest = Self(rawValue: "badRequest")
  /// The body is too large.
  public static let bodyTooLarge = Self(rawValue: "bodyTooLarge")
  /// The call is damaged.
  public static let callDamaged = Self(rawValue: "callDamaged")
  /// The call has ended.
  public static let callEnded = Self(rawValue: "callEnded")
  /// The code `callInMemory`.
  public static let callInMemory = Self(rawValue: "callInMemory")
  /// The call has not ended.
  public static let callNotEnded = Self(rawValue: "callNotEnded")
  /// There is no such call.
  public static let callNotFound = Self(rawValue: "callNotFound")
  /// The code `callRemoved`.
  public static let callRemoved = Self(rawValue: "callRemoved")
  /// The call is running.
  public static let callRunning = Self(rawValue: "callRunning")
  /// The call's content was erased.
  public static let contentErased = Self(rawValue: "contentErased")
  /// There is no such credential.
  public static let credentialNotFound = Self(rawValue: "credentialNotFound")
  /// The code `crossSiteRequest`.
  public static let crossSiteRequest = Self(rawValue: "crossSiteRequest")
  /// The code `draining`.
  public static let draining = Self(rawValue: "draining")
  /// The first API key must have the scope admin in the default namespace.
  public static let firstKeyMustBeAdmin = Self(rawValue: "firstKeyMustBeAdmin")
  /// The code `forwardNotDeliberate`.
  public static let forwardNotDeliberate = Self(rawValue: "forwardNotDeliberate")
  /// The code `forwardedTooLate`.
  public static let forwardedTooLate = Self(rawValue: "forwardedTooLate")
  /// The code `hostEmpty`.
  public static let hostEmpty = Self(rawValue: "hostEmpty")
  /// The code `hostNotAllowed`.
  public static let hostNotAllowed = Self(rawValue: "hostNotAllowed")
  /// The code `idempotencyKeyReused`.
  public static let idempotencyKeyReused = Self(rawValue: "idempotencyKeyReused")
  /// The code `instanceUnreachable`.
  public static let instanceUnreachable = Self(rawValue: "instanceUnreachable")
  /// The API key does not allow this.
  public static let insufficientScope = Self(rawValue: "insufficientScope")
  /// The code `invalidAPIKey`.
  public static let invalidAPIKey = Self(rawValue: "invalidAPIKey")
  /// The API key cannot be made.
  public static let invalidAPIKeyDraft = Self(rawValue: "invalidAPIKeyDraft")
  /// The alert cannot be accepted.
  public static let invalidAlert = Self(rawValue: "invalidAlert")
  /// The name or reason is not valid.
  public static let invalidAttribution = Self(rawValue: "invalidAttribution")
  /// The batch cannot be accepted.
  public static let invalidBatch = Self(rawValue: "invalidBatch")
  /// This cannot be changed like that.
  public static let invalidChange = Self(rawValue: "invalidChange")
  /// The credential cannot be accepted.
  public static let invalidCredential = Self(rawValue: "invalidCredential")
  /// The call descriptor cannot be accepted.
  public static let invalidDescriptor = Self(rawValue: "invalidDescriptor")
  /// The code `invalidForward`.
  public static let invalidForward = Self(rawValue: "invalidForward")
  /// The code `invalidIdempotencyKey`.
  public static let invalidIdempotencyKey = Self(rawValue: "invalidIdempotencyKey")
  /// The issue cannot be changed like that.
  public static let invalidIssue = Self(rawValue: "invalidIssue")
  /// The request body is not valid JSON.
  public static let invalidJSON = Self(rawValue: "invalidJSON")
  /// The code `invalidNamespace`.
  public static let invalidNamespace = Self(rawValue: "invalidNamespace")
  /// The operation cannot be accepted.
  public static let invalidOperation = Self(rawValue: "invalidOperation")
  /// The code `invalidOption`.
  public static let invalidOption = Self(rawValue: "invalidOption")
  /// A query parameter cannot be used.
  public static let invalidParameter = Self(rawValue: "invalidParameter")
  /// The policy cannot be accepted.
  public static let invalidPolicy = Self(rawValue: "invalidPolicy")
  /// The rotation cannot be accepted.
  public static let invalidRotation = Self(rawValue: "invalidRotation")
  /// The code `invalidTarget`.
  public static let invalidTarget = Self(rawValue: "invalidTarget")
  /// The code `invalidTargetSettings`.
  public static let invalidTargetSettings = Self(rawValue: "invalidTargetSettings")
  /// The webhook endpoint cannot be accepted.
  public static let invalidWebhookEndpoint = Self(rawValue: "invalidWebhookEndpoint")
  /// There is no such issue.
  public static let issueNotFound = Self(rawValue: "issueNotFound")
  /// The issue is still there.
  public static let issueNotResolved = Self(rawValue: "issueNotResolved")
  /// The code `leaderUnreachable`.
  public static let leaderUnreachable = Self(rawValue: "leaderUnreachable")
  /// The code `leaseLost`.
  public static let leaseLost = Self(rawValue: "leaseLost")
  /// The code `methodNotAllowed`.
  public static let methodNotAllowed = Self(rawValue: "methodNotAllowed")
  /// An API key is needed.
  public static let missingAPIKey = Self(rawValue: "missingAPIKey")
  /// The code `namespaceBacklogFull`.
  public static let namespaceBacklogFull = Self(rawValue: "namespaceBacklogFull")
  /// There is no key to encrypt secrets with.
  public static let noEncryptionKey = Self(rawValue: "noEncryptionKey")
  /// The code `noRandomness`.
  public static let noRandomness = Self(rawValue: "noRandomness")
  /// The code `notAPeer`.
  public static let notAPeer = Self(rawValue: "notAPeer")
  /// The code `notFound`.
  public static let notFound = Self(rawValue: "notFound")
  /// The service is not ready.
  public static let notReady = Self(rawValue: "notReady")
  /// The code `notReplayable`.
  public static let notReplayable = Self(rawValue: "notReplayable")
  /// The operation has ended.
  public static let operationEnded = Self(rawValue: "operationEnded")
  /// There is no such operation.
  public static let operationNotFound = Self(rawValue: "operationNotFound")
  /// The code `operatorsOnly`.
  public static let operatorsOnly = Self(rawValue: "operatorsOnly")
  /// The code `otherNamespace`.
  public static let otherNamespace = Self(rawValue: "otherNamespace")
  /// The code `outcomeUnknown`.
  public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
  /// The code `ownedElsewhere`.
  public static let ownedElsewhere = Self(rawValue: "ownedElsewhere")
  /// There is no such policy.
  public static let policyNotFound = Self(rawValue: "policyNotFound")
  /// The policy is too long.
  public static let policyTooLarge = Self(rawValue: "policyTooLarge")
  /// The conditions of the request are not met.
  public static let preconditionFailed = Self(rawValue: "preconditionFailed")
  /// The code `previewsFull`.
  public static let previewsFull = Self(rawValue: "previewsFull")
  /// The quota of the API key is used up.
  public static let quotaExceeded = Self(rawValue: "quotaExceeded")
  /// The code `starting`.
  public static let starting = Self(rawValue: "starting")
  /// The store has no room.
  public static let storageFull = Self(rawValue: "storageFull")
  /// The store cannot be used.
  public static let storageUnavailable = Self(rawValue: "storageUnavailable")
  /// There is no such target.
  public static let targetNotFound = Self(rawValue: "targetNotFound")
  /// The code `tooManyAPIKeys`.
  public static let tooManyAPIKeys = Self(rawValue: "tooManyAPIKeys")
  /// There are too many alerts.
  public static let tooManyAlerts = Self(rawValue: "tooManyAlerts")
  /// There are too many credentials.
  public static let tooManyCredentials = Self(rawValue: "tooManyCredentials")
  /// The call goes round in a circle.
  public static let tooManyHops = Self(rawValue: "tooManyHops")
  /// Too many clients listen.
  public static let tooManyListeners = Self(rawValue: "tooManyListeners")
  /// Too many bulk operations run.
  public static let tooManyOperations = Self(rawValue: "tooManyOperations")
  /// There are too many policies.
  public static let tooManyPolicies = Self(rawValue: "tooManyPolicies")
  /// The code `tooManyPreviews`.
  public static let tooManyPreviews = Self(rawValue: "tooManyPreviews")
  /// The code `tooManyQueries`.
  public static let tooManyQueries = Self(rawValue: "tooManyQueries")
  /// There are too many targets.
  public static let tooManyTargets = Self(rawValue: "tooManyTargets")
  /// There are too many webhook endpoints.
  public static let tooManyWebhookEndpoints = Self(rawValue: "tooManyWebhookEndpoints")
  /// The code `unsupportedContentCoding`.
  public static let unsupportedContentCoding = Self(rawValue: "unsupportedContentCoding")
  /// The media type is not supported.
  public static let unsupportedMediaType = Self(rawValue: "unsupportedMediaType")
  /// The code `untrustedUser`.
  public static let untrustedUser = Self(rawValue: "untrustedUser")
  /// The code `userNotAdmitted`.
  public static let userNotAdmitted = Self(rawValue: "userNotAdmitted")
  /// The webhook endpoint is disabled.
  public static let webhookEndpointDisabled = Self(rawValue: "webhookEndpointDisabled")
  /// There is no such webhook endpoint.
  public static let webhookEndpointNotFound = Self(rawValue: "webhookEndpointNotFound")
}
