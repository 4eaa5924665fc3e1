// Made by Scripts/generate from api/openapi.yaml.

import { RedialProblem } from "./errors.js";
import type { Problem } from "./models.js";

/** `alertNotFound`: There is no such alert. */
export class AlertNotFound extends RedialProblem {}

/** `alertWithoutReceiver`: The alert has no receiver. */
export class AlertWithoutReceiver extends RedialProblem {}

/** `apiKeyNotFound`: There is no such API key. */
export class ApiKeyNotFound extends RedialProblem {}

/** The problem with the code `backlogFull`. */
export class BacklogFull extends RedialProblem {}

/** `badRequest`: The request cannot be served. */
export class BadRequest extends RedialProblem {}

/** `bodyTooLarge`: The body is too large. */
export class BodyTooLarge extends RedialProblem {}

/** `callDamaged`: The call is damaged. */
export class CallDamaged extends RedialProblem {}

/** `callEnded`: The call has ended. */
export class CallEnded extends RedialProblem {}

/** The problem with the code `callInMemory`. */
export class CallInMemory extends RedialProblem {}

/** `callNotEnded`: The call has not ended. */
export class CallNotEnded extends RedialProblem {}

/** `callNotFound`: There is no such call. */
export class CallNotFound extends RedialProblem {}

/** The problem with the code `callRemoved`. */
export class CallRemoved extends RedialProblem {}

/** `callRunning`: The call is running. */
export class CallRunning extends RedialProblem {}

/** `contentErased`: The call's content was erased. */
export class ContentErased extends RedialProblem {}

/** `credentialNotFound`: There is no such credential. */
export class CredentialNotFound extends RedialProblem {}

/** The problem with the code `crossSiteRequest`. */
export class CrossSiteRequest extends RedialProblem {}

/** The problem with the code `draining`. */
export class Draining extends RedialProblem {}

/** `firstKeyMustBeAdmin`: The first API key must have the scope admin in the default namespace. */
export class FirstKeyMustBeAdmin extends RedialProblem {}

/** The problem with the code `forwardNotDeliberate`. */
export class ForwardNotDeliberate extends RedialProblem {}

/** The problem with the code `forwardedTooLate`. */
export class ForwardedTooLate extends RedialProblem {}

/** The problem with the code `hostEmpty`. */
export class HostEmpty extends RedialProblem {}

/** The problem with the code `hostNotAllowed`. */
export class HostNotAllowed extends RedialProblem {}

/** The problem with the code `idempotencyKeyReused`. */
export class IdempotencyKeyReused extends RedialProblem {}

/** The problem with the code `instanceUnreachable`. */
export class InstanceUnreachable extends RedialProblem {}

/** `insufficientScope`: The API key does not allow this. */
export class InsufficientScope extends RedialProblem {}

/** The problem with the code `invalidAPIKey`. */
export class InvalidAPIKey extends RedialProblem {}

/** `invalidAPIKeyDraft`: The API key cannot be made. */
export class InvalidAPIKeyDraft extends RedialProblem {}

/** `invalidAlert`: The alert cannot be accepted. */
export class InvalidAlert extends RedialProblem {}

/** `invalidAttribution`: The name or reason is not valid. */
export class InvalidAttribution extends RedialProblem {}

/** `invalidBatch`: The batch cannot be accepted. */
export class InvalidBatch extends RedialProblem {}

/** `invalidChange`: This cannot be changed like that. */
export class InvalidChange extends RedialProblem {}

/** `invalidCredential`: The credential cannot be accepted. */
export class InvalidCredential extends RedialProblem {}

/** `invalidDescriptor`: The call descriptor cannot be accepted. */
export class InvalidDescriptor extends RedialProblem {}

/** The problem with the code `invalidForward`. */
export class InvalidForward extends RedialProblem {}

/** The problem with the code `invalidIdempotencyKey`. */
export class InvalidIdempotencyKey extends RedialProblem {}

/** `invalidIssue`: The issue cannot be changed like that. */
export class InvalidIssue extends RedialProblem {}

/** `invalidJSON`: The request body is not valid JSON. */
export class InvalidJSON extends RedialProblem {}

/** The problem with the code `invalidNamespace`. */
export class InvalidNamespace extends RedialProblem {}

/** `invalidOperation`: The operation cannot be accepted. */
export class InvalidOperation extends RedialProblem {}

/** The problem with the code `invalidOption`. */
export class InvalidOption extends RedialProblem {}

/** `invalidParameter`: A query parameter cannot be used. */
export class InvalidParameter extends RedialProblem {}

/** `invalidPolicy`: The policy cannot be accepted. */
export class InvalidPolicy extends RedialProblem {}

/** `invalidRotation`: The rotation cannot be accepted. */
export class InvalidRotation extends RedialProblem {}

/** The problem with the code `invalidTarget`. */
export class InvalidTarget extends RedialProblem {}

/** The problem with the code `invalidTargetSettings`. */
export class InvalidTargetSettings extends RedialProblem {}

/** `invalidWebhookEndpoint`: The webhook endpoint cannot be accepted. */
export class InvalidWebhookEndpoint extends RedialProblem {}

/** `issueNotFound`: There is no such issue. */
export class IssueNotFound extends RedialProblem {}

/** `issueNotResolved`: The issue is still there. */
export class IssueNotResolved extends RedialProblem {}

/** The problem with the code `leaderUnreachable`. */
export class LeaderUnreachable extends RedialProblem {}

/** The problem with the code `leaseLost`. */
export class LeaseLost extends RedialProblem {}

/** The problem with the code `methodNotAllowed`. */
export class MethodNotAllowed extends RedialProblem {}

/** `missingAPIKey`: An API key is needed. */
export class MissingAPIKey extends RedialProblem {}

/** The problem with the code `namespaceBacklogFull`. */
export class NamespaceBacklogFull extends RedialProblem {}

/** `noEncryptionKey`: There is no key to encrypt secrets with. */
export class NoEncryptionKey extends RedialProblem {}

/** The problem with the code `noRandomness`. */
export class NoRandomness extends RedialProblem {}

/** The problem with the code `notAPeer`. */
export class NotAPeer extends RedialProblem {}

/** The problem with the code `notFound`. */
export class NotFound extends RedialProblem {}

/** `notReady`: The service is not ready. */
export class NotReady extends RedialProblem {}

/** The problem with the code `notReplayable`. */
export class NotReplayable extends RedialProblem {}

/** `operationEnded`: The operation has ended. */
export class OperationEnded extends RedialProblem {}

/** `operationNotFound`: There is no such operation. */
export class OperationNotFound extends RedialProblem {}

/** The problem with the code `operatorsOnly`. */
export class OperatorsOnly extends RedialProblem {}

/** The problem with the code `otherNamespace`. */
export class OtherNamespace extends RedialProblem {}

/** The problem with the code `outcomeUnknown`. */
export class OutcomeUnknown extends RedialProblem {}

/** The problem with the code `ownedElsewhere`. */
export class OwnedElsewhere extends RedialProblem {}

/** `policyNotFound`: There is no such policy. */
export class PolicyNotFound extends RedialProblem {}

/** `policyTooLarge`: The policy is too long. */
export class PolicyTooLarge extends RedialProblem {}

/** `preconditionFailed`: The conditions of the request are not met. */
export class PreconditionFailed extends RedialProblem {}

/** The problem with the code `previewsFull`. */
export class PreviewsFull extends RedialProblem {}

/** `quotaExceeded`: The quota of the API key is used up. */
export class QuotaExceeded extends RedialProblem {}

/** The problem with the code `starting`. */
export class Starting extends RedialProblem {}

/** `storageFull`: The store has no room. */
export class StorageFull extends RedialProblem {}

/** `storageUnavailable`: The store cannot be used. */
export class StorageUnavailable extends RedialProblem {}

/** `targetNotFound`: There is no such target. */
export class TargetNotFound extends RedialProblem {}

/** The problem with the code `tooManyAPIKeys`. */
export class TooManyAPIKeys extends RedialProblem {}

/** `tooManyAlerts`: There are too many alerts. */
export class TooManyAlerts extends RedialProblem {}

/** `tooManyCredentials`: There are too many credentials. */
export class TooManyCredentials extends RedialProblem {}

/** `tooManyHops`: The call goes round in a circle. */
export class TooManyHops extends RedialProblem {}

/** `tooManyListeners`: Too many clients listen. */
export class TooManyListeners extends RedialProblem {}

/** `tooManyOperations`: Too many bulk operations run. */
export class TooManyOperations extends RedialProblem {}

/** `tooManyPolicies`: There are too many policies. */
export class TooManyPolicies extends RedialProblem {}

/** The problem with the code `tooManyPreviews`. */
export class TooManyPreviews extends RedialProblem {}

/** The problem with the code `tooManyQueries`. */
export class TooManyQueries extends RedialProblem {}

/** `tooManyTargets`: There are too many targets. */
export class TooManyTargets extends RedialProblem {}

/** `tooManyWebhookEndpoints`: There are too many webhook endpoints. */
export class TooManyWebhookEndpoints extends RedialProblem {}

/** The problem with the code `unsupportedContentCoding`. */
export class UnsupportedContentCoding extends RedialProblem {}

/** `unsupportedMediaType`: The media type is not supported. */
export class UnsupportedMediaType extends RedialProblem {}

/** The problem with the code `untrustedUser`. */
export class UntrustedUser extends RedialProblem {}

/** The problem with the code `userNotAdmitted`. */
export class UserNotAdmitted extends RedialProblem {}

/** `webhookEndpointDisabled`: The webhook endpoint is disabled. */
export class WebhookEndpointDisabled extends RedialProblem {}

/** `webhookEndpointNotFound`: There is no such webhook endpoint. */
export class WebhookEndpointNotFound extends RedialProblem {}

const types: Readonly<Record<string, typeof RedialProblem>> = {
  alertNotFound: AlertNotFound,
  alertWithoutReceiver: AlertWithoutReceiver,
  apiKeyNotFound: ApiKeyNotFound,
  backlogFull: BacklogFull,
  badRequest: BadRequest,
  bodyTooLarge: BodyTooLarge,
  callDamaged: CallDamaged,
  callEnded: CallEnded,
  callInMemory: CallInMemory,
  callNotEnded: CallNotEnded,
  callNotFound: CallNotFound,
  callRemoved: CallRemoved,
  callRunning: CallRunning,
  contentErased: ContentErased,
  credentialNotFound: CredentialNotFound,
  crossSiteRequest: CrossSiteRequest,
  draining: Draining,
  firstKeyMustBeAdmin: FirstKeyMustBeAdmin,
  forwardNotDeliberate: ForwardNotDeliberate,
  forwardedTooLate: ForwardedTooLate,
  hostEmpty: HostEmpty,
  hostNotAllowed: HostNotAllowed,
  idempotencyKeyReused: IdempotencyKeyReused,
  instanceUnreachable: InstanceUnreachable,
  insufficientScope: InsufficientScope,
  invalidAPIKey: InvalidAPIKey,
  invalidAPIKeyDraft: InvalidAPIKeyDraft,
  invalidAlert: InvalidAlert,
  invalidAttribution: InvalidAttribution,
  invalidBatch: InvalidBatch,
  invalidChange: InvalidChange,
  invalidCredential: InvalidCredential,
  invalidDescriptor: InvalidDescriptor,
  invalidForward: InvalidForward,
  invalidIdempotencyKey: InvalidIdempotencyKey,
  invalidIssue: InvalidIssue,
  invalidJSON: InvalidJSON,
  invalidNamespace: InvalidNamespace,
  invalidOperation: InvalidOperation,
  invalidOption: InvalidOption,
  invalidParameter: InvalidParameter,
  invalidPolicy: InvalidPolicy,
  invalidRotation: InvalidRotation,
  invalidTarget: InvalidTarget,
  invalidTargetSettings: InvalidTargetSettings,
  invalidWebhookEndpoint: InvalidWebhookEndpoint,
  issueNotFound: IssueNotFound,
  issueNotResolved: IssueNotResolved,
  leaderUnreachable: LeaderUnreachable,
  leaseLost: LeaseLost,
  methodNotAllowed: MethodNotAllowed,
  missingAPIKey: MissingAPIKey,
  namespaceBacklogFull: NamespaceBacklogFull,
  noEncryptionKey: NoEncryptionKey,
  noRandomness: NoRandomness,
  notAPeer: NotAPeer,
  notFound: NotFound,
  notReady: NotReady,
  notReplayable: NotReplayable,
  operationEnded: OperationEnded,
  operationNotFound: OperationNotFound,
  operatorsOnly: OperatorsOnly,
  otherNamespace: OtherNamespace,
  outcomeUnknown: OutcomeUnknown,
  ownedElsewhere: OwnedElsewhere,
  policyNotFound: PolicyNotFound,
  policyTooLarge: PolicyTooLarge,
  preconditionFailed: PreconditionFailed,
  previewsFull: PreviewsFull,
  quotaExceeded: QuotaExceeded,
  starting: Starting,
  storageFull: StorageFull,
  storageUnavailable: StorageUnavailable,
  targetNotFound: TargetNotFound,
  tooManyAPIKeys: TooManyAPIKeys,
  tooManyAlerts: TooManyAlerts,
  tooManyCredentials: TooManyCredentials,
  tooManyHops: TooManyHops,
  tooManyListeners: TooManyListeners,
  tooManyOperations: TooManyOperations,
  tooManyPolicies: TooManyPolicies,
  tooManyPreviews: TooManyPreviews,
  tooManyQueries: TooManyQueries,
  tooManyTargets: TooManyTargets,
  tooManyWebhookEndpoints: TooManyWebhookEndpoints,
  unsupportedContentCoding: UnsupportedContentCoding,
  unsupportedMediaType: UnsupportedMediaType,
  untrustedUser: UntrustedUser,
  userNotAdmitted: UserNotAdmitted,
  webhookEndpointDisabled: WebhookEndpointDisabled,
  webhookEndpointNotFound: WebhookEndpointNotFound,
};

/** The problem in a document, as the class of its code; a code that is not here, of a later service, is a `RedialProblem`. */
export function problemOf(document: Partial<Problem>, status: number, retryAfter: number | null = null): RedialProblem {
  const code = document.code ?? "";
  const type = Object.prototype.hasOwnProperty.call(types, code) ? types[code] : undefined;
  return new (type ?? RedialProblem)(document, status, retryAfter);
}
