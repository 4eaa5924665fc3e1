"""A class for each code of a problem. Made by Scripts/generate from api/openapi.yaml.

``except problems.CallEnded`` catches the problems with the code `callEnded`. One with a code that is not here, of a later version
of the service, is a plain ``RedialProblem``.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Type

from ._errors import RedialProblem


class AlertNotFound(RedialProblem):
    """`alertNotFound`: There is no such alert."""


class AlertWithoutReceiver(RedialProblem):
    """`alertWithoutReceiver`: The alert has no receiver."""


class ApiKeyNotFound(RedialProblem):
    """`apiKeyNotFound`: There is no such API key."""


class BacklogFull(RedialProblem):
    """The problem with the code `backlogFull`."""


class BadRequest(RedialProblem):
    """`badRequest`: The request cannot be served."""


class BodyTooLarge(RedialProblem):
    """`bodyTooLarge`: The body is too large."""


class CallDamaged(RedialProblem):
    """`callDamaged`: The call is damaged."""


class CallEnded(RedialProblem):
    """`callEnded`: The call has ended."""


class CallInMemory(RedialProblem):
    """The problem with the code `callInMemory`."""


class CallNotEnded(RedialProblem):
    """`callNotEnded`: The call has not ended."""


class CallNotFound(RedialProblem):
    """`callNotFound`: There is no such call."""


class CallRemoved(RedialProblem):
    """The problem with the code `callRemoved`."""


class CallRunning(RedialProblem):
    """`callRunning`: The call is running."""


class ContentErased(RedialProblem):
    """`contentErased`: The call's content was erased."""


class CredentialNotFound(RedialProblem):
    """`credentialNotFound`: There is no such credential."""


class CrossSiteRequest(RedialProblem):
    """The problem with the code `crossSiteRequest`."""


class Draining(RedialProblem):
    """The problem with the code `draining`."""


class FirstKeyMustBeAdmin(RedialProblem):
    """`firstKeyMustBeAdmin`: The first API key must have the scope admin in the default namespace."""


class ForwardNotDeliberate(RedialProblem):
    """The problem with the code `forwardNotDeliberate`."""


class ForwardedTooLate(RedialProblem):
    """The problem with the code `forwardedTooLate`."""


class HostEmpty(RedialProblem):
    """The problem with the code `hostEmpty`."""


class HostNotAllowed(RedialProblem):
    """The problem with the code `hostNotAllowed`."""


class IdempotencyKeyReused(RedialProblem):
    """The problem with the code `idempotencyKeyReused`."""


class InstanceUnreachable(RedialProblem):
    """The problem with the code `instanceUnreachable`."""


class InsufficientScope(RedialProblem):
    """`insufficientScope`: The API key does not allow this."""


class InvalidAPIKey(RedialProblem):
    """The problem with the code `invalidAPIKey`."""


class InvalidAPIKeyDraft(RedialProblem):
    """`invalidAPIKeyDraft`: The API key cannot be made."""


class InvalidAlert(RedialProblem):
    """`invalidAlert`: The alert cannot be accepted."""


class InvalidAttribution(RedialProblem):
    """`invalidAttribution`: The name or reason is not valid."""


class InvalidBatch(RedialProblem):
    """`invalidBatch`: The batch cannot be accepted."""


class InvalidChange(RedialProblem):
    """`invalidChange`: This cannot be changed like that."""


class InvalidCredential(RedialProblem):
    """`invalidCredential`: The credential cannot be accepted."""


class InvalidDescriptor(RedialProblem):
    """`invalidDescriptor`: The call descriptor cannot be accepted."""


class InvalidForward(RedialProblem):
    """The problem with the code `invalidForward`."""


class InvalidIdempotencyKey(RedialProblem):
    """The problem with the code `invalidIdempotencyKey`."""


class InvalidIssue(RedialProblem):
    """`invalidIssue`: The issue cannot be changed like that."""


class InvalidJSON(RedialProblem):
    """`invalidJSON`: The request body is not valid JSON."""


class InvalidNamespace(RedialProblem):
    """The problem with the code `invalidNamespace`."""


class InvalidOperation(RedialProblem):
    """`invalidOperation`: The operation cannot be accepted."""


class InvalidOption(RedialProblem):
    """The problem with the code `invalidOption`."""


class InvalidParameter(RedialProblem):
    """`invalidParameter`: A query parameter cannot be used."""


class InvalidPolicy(RedialProblem):
    """`invalidPolicy`: The policy cannot be accepted."""


class InvalidRotation(RedialProblem):
    """`invalidRotation`: The rotation cannot be accepted."""


class InvalidTarget(RedialProblem):
    """The problem with the code `invalidTarget`."""


class InvalidTargetSettings(RedialProblem):
    """The problem with the code `invalidTargetSettings`."""


class InvalidWebhookEndpoint(RedialProblem):
    """`invalidWebhookEndpoint`: The webhook endpoint cannot be accepted."""


class IssueNotFound(RedialProblem):
    """`issueNotFound`: There is no such issue."""


class IssueNotResolved(RedialProblem):
    """`issueNotResolved`: The issue is still there."""


class LeaderUnreachable(RedialProblem):
    """The problem with the code `leaderUnreachable`."""


class LeaseLost(RedialProblem):
    """The problem with the code `leaseLost`."""


class MethodNotAllowed(RedialProblem):
    """The problem with the code `methodNotAllowed`."""


class MissingAPIKey(RedialProblem):
    """`missingAPIKey`: An API key is needed."""


class NamespaceBacklogFull(RedialProblem):
    """The problem with the code `namespaceBacklogFull`."""


class NoEncryptionKey(RedialProblem):
    """`noEncryptionKey`: There is no key to encrypt secrets with."""


class NoRandomness(RedialProblem):
    """The problem with the code `noRandomness`."""


class NotAPeer(RedialProblem):
    """The problem with the code `notAPeer`."""


class NotFound(RedialProblem):
    """The problem with the code `notFound`."""


class NotReady(RedialProblem):
    """`notReady`: The service is not ready."""


class NotReplayable(RedialProblem):
    """The problem with the code `notReplayable`."""


class OperationEnded(RedialProblem):
    """`operationEnded`: The operation has ended."""


class OperationNotFound(RedialProblem):
    """`operationNotFound`: There is no such operation."""


class OperatorsOnly(RedialProblem):
    """The problem with the code `operatorsOnly`."""


class OtherNamespace(RedialProblem):
    """The problem with the code `otherNamespace`."""


class OutcomeUnknown(RedialProblem):
    """The problem with the code `outcomeUnknown`."""


class OwnedElsewhere(RedialProblem):
    """The problem with the code `ownedElsewhere`."""


class PolicyNotFound(RedialProblem):
    """`policyNotFound`: There is no such policy."""


class PolicyTooLarge(RedialProblem):
    """`policyTooLarge`: The policy is too long."""


class PreconditionFailed(RedialProblem):
    """`preconditionFailed`: The conditions of the request are not met."""


class PreviewsFull(RedialProblem):
    """The problem with the code `previewsFull`."""


class QuotaExceeded(RedialProblem):
    """`quotaExceeded`: The quota of the API key is used up."""


class Starting(RedialProblem):
    """The problem with the code `starting`."""


class StorageFull(RedialProblem):
    """`storageFull`: The store has no room."""


class StorageUnavailable(RedialProblem):
    """`storageUnavailable`: The store cannot be used."""


class TargetNotFound(RedialProblem):
    """`targetNotFound`: There is no such target."""


class TooManyAPIKeys(RedialProblem):
    """The problem with the code `tooManyAPIKeys`."""


class TooManyAlerts(RedialProblem):
    """`tooManyAlerts`: There are too many alerts."""


class TooManyCredentials(RedialProblem):
    """`tooManyCredentials`: There are too many credentials."""


class TooManyHops(RedialProblem):
    """`tooManyHops`: The call goes round in a circle."""


class TooManyListeners(RedialProblem):
    """`tooManyListeners`: Too many clients listen."""


class TooManyOperations(RedialProblem):
    """`tooManyOperations`: Too many bulk operations run."""


class TooManyPolicies(RedialProblem):
    """`tooManyPolicies`: There are too many policies."""


class TooManyPreviews(RedialProblem):
    """The problem with the code `tooManyPreviews`."""


class TooManyQueries(RedialProblem):
    """The problem with the code `tooManyQueries`."""


class TooManyTargets(RedialProblem):
    """`tooManyTargets`: There are too many targets."""


class TooManyWebhookEndpoints(RedialProblem):
    """`tooManyWebhookEndpoints`: There are too many webhook endpoints."""


class UnsupportedContentCoding(RedialProblem):
    """The problem with the code `unsupportedContentCoding`."""


class UnsupportedMediaType(RedialProblem):
    """`unsupportedMediaType`: The media type is not supported."""


class UntrustedUser(RedialProblem):
    """The problem with the code `untrustedUser`."""


class UserNotAdmitted(RedialProblem):
    """The problem with the code `userNotAdmitted`."""


class WebhookEndpointDisabled(RedialProblem):
    """`webhookEndpointDisabled`: The webhook endpoint is disabled."""


class WebhookEndpointNotFound(RedialProblem):
    """`webhookEndpointNotFound`: There is no such webhook endpoint."""


TYPES: Dict[str, Type[RedialProblem]] = {
    "alertNotFound": AlertNotFound,
    "alertWithoutReceiver": AlertWithoutReceiver,
    "apiKeyNotFound": ApiKeyNotFound,
    "backlogFull": BacklogFull,
    "badRequest": BadRequest,
    "bodyTooLarge": BodyTooLarge,
    "callDamaged": CallDamaged,
    "callEnded": CallEnded,
    "callInMemory": CallInMemory,
    "callNotEnded": CallNotEnded,
    "callNotFound": CallNotFound,
    "callRemoved": CallRemoved,
    "callRunning": CallRunning,
    "contentErased": ContentErased,
    "credentialNotFound": CredentialNotFound,
    "crossSiteRequest": CrossSiteRequest,
    "draining": Draining,
    "firstKeyMustBeAdmin": FirstKeyMustBeAdmin,
    "forwardNotDeliberate": ForwardNotDeliberate,
    "forwardedTooLate": ForwardedTooLate,
    "hostEmpty": HostEmpty,
    "hostNotAllowed": HostNotAllowed,
    "idempotencyKeyReused": IdempotencyKeyReused,
    "instanceUnreachable": InstanceUnreachable,
    "insufficientScope": InsufficientScope,
    "invalidAPIKey": InvalidAPIKey,
    "invalidAPIKeyDraft": InvalidAPIKeyDraft,
    "invalidAlert": InvalidAlert,
    "invalidAttribution": InvalidAttribution,
    "invalidBatch": InvalidBatch,
    "invalidChange": InvalidChange,
    "invalidCredential": InvalidCredential,
    "invalidDescriptor": InvalidDescriptor,
    "invalidForward": InvalidForward,
    "invalidIdempotencyKey": InvalidIdempotencyKey,
    "invalidIssue": InvalidIssue,
    "invalidJSON": InvalidJSON,
    "invalidNamespace": InvalidNamespace,
    "invalidOperation": InvalidOperation,
    "invalidOption": InvalidOption,
    "invalidParameter": InvalidParameter,
    "invalidPolicy": InvalidPolicy,
    "invalidRotation": InvalidRotation,
    "invalidTarget": InvalidTarget,
    "invalidTargetSettings": InvalidTargetSettings,
    "invalidWebhookEndpoint": InvalidWebhookEndpoint,
    "issueNotFound": IssueNotFound,
    "issueNotResolved": IssueNotResolved,
    "leaderUnreachable": LeaderUnreachable,
    "leaseLost": LeaseLost,
    "methodNotAllowed": MethodNotAllowed,
    "missingAPIKey": MissingAPIKey,
    "namespaceBacklogFull": NamespaceBacklogFull,
    "noEncryptionKey": NoEncryptionKey,
    "noRandomness": NoRandomness,
    "notAPeer": NotAPeer,
    "notFound": NotFound,
    "notReady": NotReady,
    "notReplayable": NotReplayable,
    "operationEnded": OperationEnded,
    "operationNotFound": OperationNotFound,
    "operatorsOnly": OperatorsOnly,
    "otherNamespace": OtherNamespace,
    "outcomeUnknown": OutcomeUnknown,
    "ownedElsewhere": OwnedElsewhere,
    "policyNotFound": PolicyNotFound,
    "policyTooLarge": PolicyTooLarge,
    "preconditionFailed": PreconditionFailed,
    "previewsFull": PreviewsFull,
    "quotaExceeded": QuotaExceeded,
    "starting": Starting,
    "storageFull": StorageFull,
    "storageUnavailable": StorageUnavailable,
    "targetNotFound": TargetNotFound,
    "tooManyAPIKeys": TooManyAPIKeys,
    "tooManyAlerts": TooManyAlerts,
    "tooManyCredentials": TooManyCredentials,
    "tooManyHops": TooManyHops,
    "tooManyListeners": TooManyListeners,
    "tooManyOperations": TooManyOperations,
    "tooManyPolicies": TooManyPolicies,
    "tooManyPreviews": TooManyPreviews,
    "tooManyQueries": TooManyQueries,
    "tooManyTargets": TooManyTargets,
    "tooManyWebhookEndpoints": TooManyWebhookEndpoints,
    "unsupportedContentCoding": UnsupportedContentCoding,
    "unsupportedMediaType": UnsupportedMediaType,
    "untrustedUser": UntrustedUser,
    "userNotAdmitted": UserNotAdmitted,
    "webhookEndpointDisabled": WebhookEndpointDisabled,
    "webhookEndpointNotFound": WebhookEndpointNotFound,
}
"""The class of each code."""


def problem(document: Mapping[str, Any], status: int, retry_after: float | None = None) -> RedialProblem:
    """The problem in a document, as the class of its code."""
    return TYPES.get(document.get("code", ""), RedialProblem)(document, status, retry_after)
