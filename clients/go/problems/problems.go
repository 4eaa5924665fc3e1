// Made by Scripts/generate from api/openapi.yaml. DO NOT EDIT.

package problems

// AlertNotFound is the problem `alertNotFound`: There is no such alert.
type AlertNotFound struct{ Refusal }

// AlertWithoutReceiver is the problem `alertWithoutReceiver`: The alert has no receiver.
type AlertWithoutReceiver struct{ Refusal }

// APIKeyNotFound is the problem `apiKeyNotFound`: There is no such API key.
type APIKeyNotFound struct{ Refusal }

// BacklogFull is the problem with the code `backlogFull`.
type BacklogFull struct{ Refusal }

// BadRequest is the problem `badRequest`: The request cannot be served.
type BadRequest struct{ Refusal }

// BodyTooLarge is the problem `bodyTooLarge`: The body is too large.
type BodyTooLarge struct{ Refusal }

// CallDamaged is the problem `callDamaged`: The call is damaged.
type CallDamaged struct{ Refusal }

// CallEnded is the problem `callEnded`: The call has ended.
type CallEnded struct{ Refusal }

// CallInMemory is the problem with the code `callInMemory`.
type CallInMemory struct{ Refusal }

// CallNotEnded is the problem `callNotEnded`: The call has not ended.
type CallNotEnded struct{ Refusal }

// CallNotFound is the problem `callNotFound`: There is no such call.
type CallNotFound struct{ Refusal }

// CallRemoved is the problem with the code `callRemoved`.
type CallRemoved struct{ Refusal }

// CallRunning is the problem `callRunning`: The call is running.
type CallRunning struct{ Refusal }

// ContentErased is the problem `contentErased`: The call's content was erased.
type ContentErased struct{ Refusal }

// CrossSiteRequest is the problem with the code `crossSiteRequest`.
type CrossSiteRequest struct{ Refusal }

// Draining is the problem with the code `draining`.
type Draining struct{ Refusal }

// FirstKeyMustBeAdmin is the problem `firstKeyMustBeAdmin`: The first API key must have the scope admin in the
// default namespace.
type FirstKeyMustBeAdmin struct{ Refusal }

// ForecastsFull is the problem with the code `forecastsFull`.
type ForecastsFull struct{ Refusal }

// ForwardNotDeliberate is the problem with the code `forwardNotDeliberate`.
type ForwardNotDeliberate struct{ Refusal }

// ForwardedTooLate is the problem with the code `forwardedTooLate`.
type ForwardedTooLate struct{ Refusal }

// HostEmpty is the problem with the code `hostEmpty`.
type HostEmpty struct{ Refusal }

// HostNotAllowed is the problem with the code `hostNotAllowed`.
type HostNotAllowed struct{ Refusal }

// IdempotencyKeyReused is the problem with the code `idempotencyKeyReused`.
type IdempotencyKeyReused struct{ Refusal }

// IncidentEnded is the problem `incidentEnded`: The incident is over.
type IncidentEnded struct{ Refusal }

// IncidentNotFound is the problem `incidentNotFound`: There is no such incident.
type IncidentNotFound struct{ Refusal }

// InstanceUnreachable is the problem with the code `instanceUnreachable`.
type InstanceUnreachable struct{ Refusal }

// InsufficientScope is the problem `insufficientScope`: The API key does not allow this.
type InsufficientScope struct{ Refusal }

// InvalidAPIKey is the problem with the code `invalidAPIKey`.
type InvalidAPIKey struct{ Refusal }

// InvalidAPIKeyDraft is the problem `invalidAPIKeyDraft`: The API key cannot be made.
type InvalidAPIKeyDraft struct{ Refusal }

// InvalidAlert is the problem `invalidAlert`: The alert cannot be accepted.
type InvalidAlert struct{ Refusal }

// InvalidAttribution is the problem `invalidAttribution`: The name or reason is not valid.
type InvalidAttribution struct{ Refusal }

// InvalidBatch is the problem `invalidBatch`: The batch cannot be accepted.
type InvalidBatch struct{ Refusal }

// InvalidChange is the problem `invalidChange`: This cannot be changed like that.
type InvalidChange struct{ Refusal }

// InvalidDescriptor is the problem `invalidDescriptor`: The call descriptor cannot be accepted.
type InvalidDescriptor struct{ Refusal }

// InvalidForward is the problem with the code `invalidForward`.
type InvalidForward struct{ Refusal }

// InvalidIdempotencyKey is the problem with the code `invalidIdempotencyKey`.
type InvalidIdempotencyKey struct{ Refusal }

// InvalidIssue is the problem `invalidIssue`: The issue cannot be changed like that.
type InvalidIssue struct{ Refusal }

// InvalidJSON is the problem `invalidJSON`: The request body is not valid JSON.
type InvalidJSON struct{ Refusal }

// InvalidNamespace is the problem with the code `invalidNamespace`.
type InvalidNamespace struct{ Refusal }

// InvalidOperation is the problem `invalidOperation`: The operation cannot be accepted.
type InvalidOperation struct{ Refusal }

// InvalidOption is the problem with the code `invalidOption`.
type InvalidOption struct{ Refusal }

// InvalidParameter is the problem `invalidParameter`: A query parameter cannot be used.
type InvalidParameter struct{ Refusal }

// InvalidPolicy is the problem `invalidPolicy`: The policy cannot be accepted.
type InvalidPolicy struct{ Refusal }

// InvalidRotation is the problem `invalidRotation`: The rotation cannot be accepted.
type InvalidRotation struct{ Refusal }

// InvalidScenario is the problem `invalidScenario`: The scenario is not valid.
type InvalidScenario struct{ Refusal }

// InvalidTarget is the problem with the code `invalidTarget`.
type InvalidTarget struct{ Refusal }

// InvalidTargetSettings is the problem with the code `invalidTargetSettings`.
type InvalidTargetSettings struct{ Refusal }

// InvalidWebhookEndpoint is the problem `invalidWebhookEndpoint`: The webhook endpoint cannot be accepted.
type InvalidWebhookEndpoint struct{ Refusal }

// IssueNotFound is the problem `issueNotFound`: There is no such issue.
type IssueNotFound struct{ Refusal }

// IssueNotResolved is the problem `issueNotResolved`: Calls still wait.
type IssueNotResolved struct{ Refusal }

// LeaderUnreachable is the problem with the code `leaderUnreachable`.
type LeaderUnreachable struct{ Refusal }

// LeaseLost is the problem with the code `leaseLost`.
type LeaseLost struct{ Refusal }

// MethodNotAllowed is the problem with the code `methodNotAllowed`.
type MethodNotAllowed struct{ Refusal }

// MissingAPIKey is the problem `missingAPIKey`: An API key is needed.
type MissingAPIKey struct{ Refusal }

// NamespaceBacklogFull is the problem with the code `namespaceBacklogFull`.
type NamespaceBacklogFull struct{ Refusal }

// NoRandomness is the problem with the code `noRandomness`.
type NoRandomness struct{ Refusal }

// NotAPeer is the problem with the code `notAPeer`.
type NotAPeer struct{ Refusal }

// NotFound is the problem with the code `notFound`.
type NotFound struct{ Refusal }

// NotReady is the problem `notReady`: The service is not ready.
type NotReady struct{ Refusal }

// NotReplayable is the problem with the code `notReplayable`.
type NotReplayable struct{ Refusal }

// OperationEnded is the problem `operationEnded`: The operation has ended.
type OperationEnded struct{ Refusal }

// OperationNotFound is the problem `operationNotFound`: There is no such operation.
type OperationNotFound struct{ Refusal }

// OperatorsOnly is the problem with the code `operatorsOnly`.
type OperatorsOnly struct{ Refusal }

// OtherNamespace is the problem with the code `otherNamespace`.
type OtherNamespace struct{ Refusal }

// OutcomeUnknown is the problem with the code `outcomeUnknown`.
type OutcomeUnknown struct{ Refusal }

// OwnedElsewhere is the problem with the code `ownedElsewhere`.
type OwnedElsewhere struct{ Refusal }

// PolicyNotFound is the problem `policyNotFound`: There is no such policy.
type PolicyNotFound struct{ Refusal }

// PolicyTooLarge is the problem `policyTooLarge`: The policy is too long.
type PolicyTooLarge struct{ Refusal }

// PreconditionFailed is the problem `preconditionFailed`: The conditions of the request are not met.
type PreconditionFailed struct{ Refusal }

// PreviewTooLarge is the problem with the code `previewTooLarge`.
type PreviewTooLarge struct{ Refusal }

// QuotaExceeded is the problem `quotaExceeded`: The quota of the API key is used up.
type QuotaExceeded struct{ Refusal }

// SimulationTooLarge is the problem with the code `simulationTooLarge`.
type SimulationTooLarge struct{ Refusal }

// StorageFull is the problem `storageFull`: The store has no room.
type StorageFull struct{ Refusal }

// StorageUnavailable is the problem `storageUnavailable`: The store cannot be used.
type StorageUnavailable struct{ Refusal }

// TargetNotFound is the problem `targetNotFound`: There is no such target.
type TargetNotFound struct{ Refusal }

// TooManyAPIKeys is the problem with the code `tooManyAPIKeys`.
type TooManyAPIKeys struct{ Refusal }

// TooManyAlerts is the problem `tooManyAlerts`: There are too many alerts.
type TooManyAlerts struct{ Refusal }

// TooManyForecasts is the problem with the code `tooManyForecasts`.
type TooManyForecasts struct{ Refusal }

// TooManyHops is the problem `tooManyHops`: The call goes round in a circle.
type TooManyHops struct{ Refusal }

// TooManyListeners is the problem `tooManyListeners`: Too many clients listen.
type TooManyListeners struct{ Refusal }

// TooManyOperations is the problem `tooManyOperations`: Too many bulk operations run.
type TooManyOperations struct{ Refusal }

// TooManyPolicies is the problem `tooManyPolicies`: There are too many policies.
type TooManyPolicies struct{ Refusal }

// TooManyQueries is the problem with the code `tooManyQueries`.
type TooManyQueries struct{ Refusal }

// TooManyTargets is the problem `tooManyTargets`: There are too many targets.
type TooManyTargets struct{ Refusal }

// TooManyWebhookEndpoints is the problem `tooManyWebhookEndpoints`: There are too many webhook endpoints.
type TooManyWebhookEndpoints struct{ Refusal }

// UnsupportedContentCoding is the problem with the code `unsupportedContentCoding`.
type UnsupportedContentCoding struct{ Refusal }

// UnsupportedMediaType is the problem `unsupportedMediaType`: The media type is not supported.
type UnsupportedMediaType struct{ Refusal }

// WebhookEndpointDisabled is the problem `webhookEndpointDisabled`: The webhook endpoint is disabled.
type WebhookEndpointDisabled struct{ Refusal }

// WebhookEndpointNotFound is the problem `webhookEndpointNotFound`: There is no such webhook endpoint.
type WebhookEndpointNotFound struct{ Refusal }

var types = map[string]func(Refusal) error{
	"alertNotFound":            func(refusal Refusal) error { return &AlertNotFound{refusal} },
	"alertWithoutReceiver":     func(refusal Refusal) error { return &AlertWithoutReceiver{refusal} },
	"apiKeyNotFound":           func(refusal Refusal) error { return &APIKeyNotFound{refusal} },
	"backlogFull":              func(refusal Refusal) error { return &BacklogFull{refusal} },
	"badRequest":               func(refusal Refusal) error { return &BadRequest{refusal} },
	"bodyTooLarge":             func(refusal Refusal) error { return &BodyTooLarge{refusal} },
	"callDamaged":              func(refusal Refusal) error { return &CallDamaged{refusal} },
	"callEnded":                func(refusal Refusal) error { return &CallEnded{refusal} },
	"callInMemory":             func(refusal Refusal) error { return &CallInMemory{refusal} },
	"callNotEnded":             func(refusal Refusal) error { return &CallNotEnded{refusal} },
	"callNotFound":             func(refusal Refusal) error { return &CallNotFound{refusal} },
	"callRemoved":              func(refusal Refusal) error { return &CallRemoved{refusal} },
	"callRunning":              func(refusal Refusal) error { return &CallRunning{refusal} },
	"contentErased":            func(refusal Refusal) error { return &ContentErased{refusal} },
	"crossSiteRequest":         func(refusal Refusal) error { return &CrossSiteRequest{refusal} },
	"draining":                 func(refusal Refusal) error { return &Draining{refusal} },
	"firstKeyMustBeAdmin":      func(refusal Refusal) error { return &FirstKeyMustBeAdmin{refusal} },
	"forecastsFull":            func(refusal Refusal) error { return &ForecastsFull{refusal} },
	"forwardNotDeliberate":     func(refusal Refusal) error { return &ForwardNotDeliberate{refusal} },
	"forwardedTooLate":         func(refusal Refusal) error { return &ForwardedTooLate{refusal} },
	"hostEmpty":                func(refusal Refusal) error { return &HostEmpty{refusal} },
	"hostNotAllowed":           func(refusal Refusal) error { return &HostNotAllowed{refusal} },
	"idempotencyKeyReused":     func(refusal Refusal) error { return &IdempotencyKeyReused{refusal} },
	"incidentEnded":            func(refusal Refusal) error { return &IncidentEnded{refusal} },
	"incidentNotFound":         func(refusal Refusal) error { return &IncidentNotFound{refusal} },
	"instanceUnreachable":      func(refusal Refusal) error { return &InstanceUnreachable{refusal} },
	"insufficientScope":        func(refusal Refusal) error { return &InsufficientScope{refusal} },
	"invalidAPIKey":            func(refusal Refusal) error { return &InvalidAPIKey{refusal} },
	"invalidAPIKeyDraft":       func(refusal Refusal) error { return &InvalidAPIKeyDraft{refusal} },
	"invalidAlert":             func(refusal Refusal) error { return &InvalidAlert{refusal} },
	"invalidAttribution":       func(refusal Refusal) error { return &InvalidAttribution{refusal} },
	"invalidBatch":             func(refusal Refusal) error { return &InvalidBatch{refusal} },
	"invalidChange":            func(refusal Refusal) error { return &InvalidChange{refusal} },
	"invalidDescriptor":        func(refusal Refusal) error { return &InvalidDescriptor{refusal} },
	"invalidForward":           func(refusal Refusal) error { return &InvalidForward{refusal} },
	"invalidIdempotencyKey":    func(refusal Refusal) error { return &InvalidIdempotencyKey{refusal} },
	"invalidIssue":             func(refusal Refusal) error { return &InvalidIssue{refusal} },
	"invalidJSON":              func(refusal Refusal) error { return &InvalidJSON{refusal} },
	"invalidNamespace":         func(refusal Refusal) error { return &InvalidNamespace{refusal} },
	"invalidOperation":         func(refusal Refusal) error { return &InvalidOperation{refusal} },
	"invalidOption":            func(refusal Refusal) error { return &InvalidOption{refusal} },
	"invalidParameter":         func(refusal Refusal) error { return &InvalidParameter{refusal} },
	"invalidPolicy":            func(refusal Refusal) error { return &InvalidPolicy{refusal} },
	"invalidRotation":          func(refusal Refusal) error { return &InvalidRotation{refusal} },
	"invalidScenario":          func(refusal Refusal) error { return &InvalidScenario{refusal} },
	"invalidTarget":            func(refusal Refusal) error { return &InvalidTarget{refusal} },
	"invalidTargetSettings":    func(refusal Refusal) error { return &InvalidTargetSettings{refusal} },
	"invalidWebhookEndpoint":   func(refusal Refusal) error { return &InvalidWebhookEndpoint{refusal} },
	"issueNotFound":            func(refusal Refusal) error { return &IssueNotFound{refusal} },
	"issueNotResolved":         func(refusal Refusal) error { return &IssueNotResolved{refusal} },
	"leaderUnreachable":        func(refusal Refusal) error { return &LeaderUnreachable{refusal} },
	"leaseLost":                func(refusal Refusal) error { return &LeaseLost{refusal} },
	"methodNotAllowed":         func(refusal Refusal) error { return &MethodNotAllowed{refusal} },
	"missingAPIKey":            func(refusal Refusal) error { return &MissingAPIKey{refusal} },
	"namespaceBacklogFull":     func(refusal Refusal) error { return &NamespaceBacklogFull{refusal} },
	"noRandomness":             func(refusal Refusal) error { return &NoRandomness{refusal} },
	"notAPeer":                 func(refusal Refusal) error { return &NotAPeer{refusal} },
	"notFound":                 func(refusal Refusal) error { return &NotFound{refusal} },
	"notReady":                 func(refusal Refusal) error { return &NotReady{refusal} },
	"notReplayable":            func(refusal Refusal) error { return &NotReplayable{refusal} },
	"operationEnded":           func(refusal Refusal) error { return &OperationEnded{refusal} },
	"operationNotFound":        func(refusal Refusal) error { return &OperationNotFound{refusal} },
	"operatorsOnly":            func(refusal Refusal) error { return &OperatorsOnly{refusal} },
	"otherNamespace":           func(refusal Refusal) error { return &OtherNamespace{refusal} },
	"outcomeUnknown":           func(refusal Refusal) error { return &OutcomeUnknown{refusal} },
	"ownedElsewhere":           func(refusal Refusal) error { return &OwnedElsewhere{refusal} },
	"policyNotFound":           func(refusal Refusal) error { return &PolicyNotFound{refusal} },
	"policyTooLarge":           func(refusal Refusal) error { return &PolicyTooLarge{refusal} },
	"preconditionFailed":       func(refusal Refusal) error { return &PreconditionFailed{refusal} },
	"previewTooLarge":          func(refusal Refusal) error { return &PreviewTooLarge{refusal} },
	"quotaExceeded":            func(refusal Refusal) error { return &QuotaExceeded{refusal} },
	"simulationTooLarge":       func(refusal Refusal) error { return &SimulationTooLarge{refusal} },
	"storageFull":              func(refusal Refusal) error { return &StorageFull{refusal} },
	"storageUnavailable":       func(refusal Refusal) error { return &StorageUnavailable{refusal} },
	"targetNotFound":           func(refusal Refusal) error { return &TargetNotFound{refusal} },
	"tooManyAPIKeys":           func(refusal Refusal) error { return &TooManyAPIKeys{refusal} },
	"tooManyAlerts":            func(refusal Refusal) error { return &TooManyAlerts{refusal} },
	"tooManyForecasts":         func(refusal Refusal) error { return &TooManyForecasts{refusal} },
	"tooManyHops":              func(refusal Refusal) error { return &TooManyHops{refusal} },
	"tooManyListeners":         func(refusal Refusal) error { return &TooManyListeners{refusal} },
	"tooManyOperations":        func(refusal Refusal) error { return &TooManyOperations{refusal} },
	"tooManyPolicies":          func(refusal Refusal) error { return &TooManyPolicies{refusal} },
	"tooManyQueries":           func(refusal Refusal) error { return &TooManyQueries{refusal} },
	"tooManyTargets":           func(refusal Refusal) error { return &TooManyTargets{refusal} },
	"tooManyWebhookEndpoints":  func(refusal Refusal) error { return &TooManyWebhookEndpoints{refusal} },
	"unsupportedContentCoding": func(refusal Refusal) error { return &UnsupportedContentCoding{refusal} },
	"unsupportedMediaType":     func(refusal Refusal) error { return &UnsupportedMediaType{refusal} },
	"webhookEndpointDisabled":  func(refusal Refusal) error { return &WebhookEndpointDisabled{refusal} },
	"webhookEndpointNotFound":  func(refusal Refusal) error { return &WebhookEndpointNotFound{refusal} },
}
