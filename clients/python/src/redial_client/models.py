"""Made by Scripts/generate from api/openapi.yaml."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired

CallID: TypeAlias = str
"""The id of a call. Ids sort by the time of acceptance."""


CallKind: TypeAlias = Literal['call', 'webhook']
"""`call`: a client submitted it. `webhook`: Redial made it, to report something."""


CallState: TypeAlias = Literal['scheduled', 'running', 'succeeded', 'failed', 'cancelled']
"""
`scheduled`: it waits. `running`: an attempt is in flight. The others are ends; a manual retry leads back to
`scheduled`.

"""


FailureReason: TypeAlias = Literal['attemptsExhausted', 'deadlineExceeded', 'notRetryable', 'tripped', 'blocked']
"""
Why a call failed. `attemptsExhausted`: it used up `maxAttempts`. `deadlineExceeded`: the next attempt would begin after
the deadline. `notRetryable`: the policy does not retry the last outcome, or it is not safe to. `tripped`: the target's
breaker opened and `onTrip` is `fail`. `blocked`: the egress policy refused the address; or, without an attempt, the
call was accepted by an older version and names a target of webhooks.

"""


WaitReason: TypeAlias = Literal['startTime', 'backoff', 'retryAfter', 'breaker', 'concurrency', 'rateLimit', 'retryBudget', 'ordering', 'paused', 'pace', 'connections']
"""
Why a scheduled call is not running; if there are several reasons, the one that lasts longest. `startTime`: its own
start. `backoff`: the wait between attempts. `retryAfter`: the target asked for a pause. `breaker`: the target's breaker
is open. `concurrency`: the target has its maximum of attempts in flight. `rateLimit`, `retryBudget`: the target has had
its maximum of attempts, or retries, for now. `ordering`: an earlier call with the same ordering key has not ended.
`paused`: somebody has paused the target, or its webhook endpoint is disabled or was removed. `pace`: the target gets no
more requests per second than it can take. `connections`: all connections to its host and port are in use.

"""


Timestamp: TypeAlias = str


Duration: TypeAlias = str
"""
A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO 8601
(`PT5M`).

"""


Statuses: TypeAlias = list[str | int]
"""Statuses and ranges of them."""


IdempotencyStatus: TypeAlias = Literal['repeated', 'rerun']
"""
What a submission has done whose call was accepted before, under the same `Idempotency-Key`. `repeated`: nothing.
`rerun`: it runs the call again, which had failed or was cancelled.

"""


RedactHeader: TypeAlias = str


class Capture(TypedDict):
    """How much of responses is kept."""

    maxBytes: NotRequired[int | None]
    """How much of each response's body is kept, in bytes."""
    redactHeaders: NotRequired[list[RedactHeader] | None]
    """
    Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
    replaces them. Fields about retries still take effect.

    """


class Redirects(TypedDict):
    """How many redirects an attempt follows."""

    max: NotRequired[int | None]
    """Maximum number of redirects; the one after them is the attempt's response."""


class Backoff(TypedDict):
    """
    The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i, spread
    by the jitter. No wait is longer than `max`, and waits stay spread there.

    """

    strategy: NotRequired[Literal['exponential', 'constant', 'linear', 'polynomial', 'fibonacci', 'power', 'doublingsThenLinear', 'schedule', 'decorrelated', 'decorrelatedSmooth'] | None]
    """
    How the base grows with the retries i, counted from 0. `exponential` b·m^i, `constant` b, `linear` b +
    i·increment, `polynomial` offset + b·(i + 1)^exponent, `fibonacci` b·F(i + 1), `power` b^(i + 1) in seconds,
    `doublingsThenLinear` b·2^i for the given doublings and then the same increase each time, `schedule` a list,
    `decorrelated` uniform between b and three times the wait before, `decorrelatedSmooth` growth by 2 from a median
    of b, spread without peaks. b is `initial`. The default is `schedule` if a schedule is given.

    """
    initial: NotRequired[Duration | None]
    """b, the first wait."""
    max: NotRequired[Duration | None]
    """
    The longest wait; no limit for a schedule unless given. No wait is shorter than 10 ms from the 101st retry on,
    nor than 1 ms if `maxAttempts` sets no limit, whatever the backoff is.

    """
    multiplier: NotRequired[float | None]
    """With `exponential`: m, by which each wait is longer than the one before."""
    increment: NotRequired[Duration | None]
    """With `linear`; by default equal to `initial`."""
    exponent: NotRequired[float | None]
    """With `polynomial`: the exponent."""
    offset: NotRequired[Duration | None]
    """With `polynomial`: the part of each wait that does not grow."""
    first: NotRequired[int | None]
    """With `polynomial`: the number of the first retry in the formula."""
    doublings: NotRequired[int | None]
    """With `doublingsThenLinear`: how often the wait doubles."""
    schedule: NotRequired[list[Duration] | None]
    """With `schedule`: the waits, in order."""
    then: NotRequired[Literal['repeatLast', 'stop'] | None]
    """What follows the last wait of a schedule."""
    jitter: NotRequired[Literal['none', 'full', 'equal', 'proportional', 'additive', 'additivePerRetry'] | None]
    """
    With d the computed wait and r uniform in [0, 1): `none` d, `full` r·d, `equal` d/2 + r·d/2, `proportional` d·(1
    − f + 2·f·r) with the `factor` f, `additive` d + r·spread, `additivePerRetry` d + r·spread·(i + 1).

    """
    factor: NotRequired[float | None]
    """With `proportional` jitter: f, the largest share by which a wait is shorter or longer."""
    spread: NotRequired[Duration | None]
    """With `additive` and `additivePerRetry` jitter: the longest addition."""
    cap: NotRequired[Literal['keepingSpread', 'afterJitter', 'beforeJitter'] | None]
    """
    How `max` limits the jittered wait. `keepingSpread`: the base is limited so that the longest jittered wait is
    `max`. `afterJitter`: the jittered wait is limited. `beforeJitter`: the base is limited, and jitter may exceed
    it.

    """


class RetryOn(TypedDict):
    """
    What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511; and 409, 413
    and 423 with `Retry-After`. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429.
    Members that are left out keep their defaults.

    """

    network: NotRequired[bool | Literal['always', 'notSent', 'never'] | None]
    """
    Network failures: `true` or `always`, `false` or `never`, or `notSent` for those where the request certainly was
    not sent.

    """
    statuses: NotRequired[Statuses | None]
    statusesWithRetryAfter: NotRequired[Statuses | None]
    """Statuses to retry only if the response has `Retry-After`."""


class StopOn(TypedDict):
    """Statuses that end the call, even if `retryOn` has them."""

    statuses: NotRequired[Statuses | None]


class RetryAfter(TypedDict):
    """
    Whether to wait for the `Retry-After` of a response that is retried. It counts for the `statuses`, for the statuses
    in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`. With 429 and 503, `RateLimit`
    fields that report an exhausted quota count as one. The wait is the longer of the backoff and what the target asks
    for.

    """

    mode: NotRequired[Literal['respect', 'ignore'] | None]
    """Whether the target's wish counts."""
    max: NotRequired[Duration | None]
    """The longest wait that the target may ask for."""
    beyond: NotRequired[Literal['stop', 'park', 'clamp'] | None]
    """
    What happens if the target asks for more than `max`: `stop` ends the call, because an earlier attempt would
    ignore the target's wish; `park` waits that long, up to the deadline; `clamp` waits only `max`.

    """
    spread: NotRequired[float | None]
    """
    The wait that the target asks for is longer by up to this share of it, at random, so that calls that got the
    same answer do not return together.

    """
    statuses: NotRequired[Statuses | None]
    """The statuses whose `Retry-After` counts."""


class Policy(TypedDict):
    """How to retry. Members that are left out have their defaults."""

    maxAttempts: NotRequired[int | None]
    """Maximum number of attempts, including the first; null for as many as the deadline allows."""
    deadline: NotRequired[Duration | None]
    """How long the call may take from its start. An attempt in flight is cut off then."""
    lastAttempt: NotRequired[Literal['endEarly', 'pullForward'] | None]
    """
    What happens to a retry that would be too late for the deadline: `endEarly` ends the call now; `pullForward` makes
    the attempt at the last possible moment, unless the target asked for the wait.

    """
    minAttemptTime: NotRequired[Duration | None]
    """How much time an attempt must have before the deadline; up to an hour."""
    attemptTimeout: NotRequired[Duration | None]
    """How long one attempt may take; up to an hour."""
    backoff: NotRequired[Backoff | None]
    """
    The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i, spread
    by the jitter. No wait is longer than `max`, and waits stay spread there.

    """
    retryOn: NotRequired[RetryOn | None]
    """
    What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511; and 409, 413
    and 423 with `Retry-After`. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429.
    Members that are left out keep their defaults.

    """
    stopOn: NotRequired[StopOn | None]
    """Statuses that end the call, even if `retryOn` has them."""
    retryAfter: NotRequired[RetryAfter | None]
    """
    Whether to wait for the `Retry-After` of a response that is retried. It counts for the `statuses`, for the statuses
    in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`. With 429 and 503, `RateLimit`
    fields that report an exhausted quota count as one. The wait is the longer of the backoff and what the target asks
    for.

    """
    onTrip: NotRequired[Literal['wait', 'fail'] | None]
    """When the target's breaker opens: wait until it closes, or fail as `tripped`."""


PolicyOrName: TypeAlias = Policy | str
"""
How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly one
(`patient@3`). `default` is the policy of a call that names none.

"""


class PolicyWarning(TypedDict):
    code: str
    """A stable word for programs."""
    detail: str
    """A sentence for people."""


PolicyWarnings: TypeAlias = list[PolicyWarning]


class Request(TypedDict):
    """
    The request of a call, as the client gave it; shown with `include=request`. Values of secret header fields and URL
    parameters are `REDACTED`. If the content was erased, there are no header fields and no body.

    """

    method: str
    url: str
    headers: dict[str, list[str]]
    body: str | None
    """The body, or its first mebibyte; null if it was erased."""
    encoding: Literal['utf8', 'base64'] | None
    """Whether `body` is text or base 64; null if it was erased."""
    size: int | None
    """The size of the whole body, in bytes; null if it was erased."""
    truncated: bool
    """Whether the body is longer than shown."""
    erasedAt: str | None
    """When the content was erased; null if it was not."""


IssueID: TypeAlias = str
"""The id of an issue. The same target, reason and error always give the same id."""


Outcome: TypeAlias = Literal['answered', 'notSent', 'maybeSent', 'unusable', 'localFault', 'interrupted', 'cancelled', 'blocked']
"""
How far the attempt got. `answered`: a response came. `notSent`: the request certainly was not sent. `maybeSent`: it was
sent, at least in part, and no usable response came. `unusable`: it cannot succeed as it is. `localFault`: Redial's side
failed. `interrupted`: Redial stopped or died meanwhile. `cancelled`: the call was cancelled. `blocked`: the egress
policy refused the address, and no connection was made.

"""


class Attribution(TypedDict):
    """Who wants an action, and why, in their own words."""

    by: NotRequired[str | None]
    """Who."""
    reason: NotRequired[str | None]
    """Why."""


class ManualRetry(TypedDict):
    at: Timestamp
    afterAttempt: int
    """Attempts that had begun before it."""
    by: str | None
    reason: str | None


WaitTimes: TypeAlias = dict[str, Duration]
"""
A time for each `waitingOn` that the call waited for, to the millisecond. `service`: Redial had stopped, had not taken
the target over yet, or could not write to its store.

"""


ExchangePhase: TypeAlias = Literal['setup', 'resolve', 'connect', 'tls', 'request', 'response']
"""The phase that an attempt reached, or in which it failed."""


class Exchange(TypedDict):
    """
    The phases of an attempt's request and response. Times count from its start; phases that did not happen, such as the
    name lookup on a kept connection, are left out. After redirects, everything except `redirectCount` is about the last
    request.

    """

    phase: ExchangePhase
    resolved: NotRequired[Duration]
    """When the name was resolved."""
    connected: NotRequired[Duration]
    """When the connection was made."""
    secured: NotRequired[Duration]
    """When the TLS session was made."""
    firstByte: NotRequired[Duration]
    """When the first byte of the response arrived."""
    bytesSent: int
    bytesReceived: int
    """Before decompression."""
    redirectCount: NotRequired[int]
    remoteAddress: NotRequired[str]
    httpVersion: NotRequired[Literal['1.0', '1.1', '2']]
    """The version of HTTP."""
    connectionReused: bool


class Decision(TypedDict):
    """The decision after an attempt, and its reason."""

    action: Literal['succeed', 'retry', 'park', 'stop']
    reason: NotRequired[FailureReason]
    after: NotRequired[Duration]
    """The wait."""
    until: NotRequired[Timestamp]
    """When the parked call is tried again."""
    waitingOn: NotRequired[WaitReason]
    """What the wait is for, unless the backoff."""
    because: NotRequired[str]
    computed: NotRequired[Duration]
    """The backoff before jitter."""
    jitterFactor: NotRequired[float]
    """What the jitter has multiplied it by."""
    clampedBy: NotRequired[list[Literal['max', 'deadline', 'min']]]
    """What limited the wait."""


class Response(TypedDict):
    status: int | None
    headers: dict[str, list[str]]
    """Header fields, their names in lower case."""
    body: str
    """The first bytes of the body."""
    encoding: Literal['utf8', 'base64']
    truncated: bool
    """
    Whether the body was longer. It is also true for an old attempt whose body is not kept any more (the 20 latest); the
    body is then empty.

    """


class AttemptResponse(TypedDict):
    """The stored part of a response, with its body if requested."""

    status: int | None
    headers: dict[str, list[str]]
    """Header fields, their names in lower case."""
    body: NotRequired[str]
    """The first bytes of the body."""
    encoding: NotRequired[Literal['utf8', 'base64']]
    truncated: bool
    """
    Whether the body was longer. It is also true for an old attempt whose body is not kept any more (the 20 latest); the
    body is then empty.

    """


class Outage(TypedDict):
    """
    One outage of a target, however often its breaker opens meanwhile. It is over once the breaker has been closed for 30 s;
    or, because nobody calls the target any more, if no call was due and none was sent for 16 minutes.

    """

    since: Timestamp
    """When the target began to fail."""
    cause: str
    """
    What the attempt failed with that opened the breaker; a word such as `connectionRefused`, or a status. `silence`: it
    was ended after a long one. `failureRate`: too many others failed.

    """
    closedAt: str | None
    """When the breaker closed; null while it is open or half-open, and if nobody calls the target any more."""
    duration: Duration | None
    """The time between both; null until then."""
    callsWaited: int
    """The most calls that were due at once, of the times at which the breaker changed."""


CallEvent: TypeAlias = Literal['call.succeeded', 'call.failed', 'call.tripped']
"""How a call has ended, for a callback."""


class Data(TypedDict):
    """The call as lists show it, the target, the endpoint, or why events were missed."""

    reason: Literal['restarted', 'tooOld', 'tooSlow', 'overflow', 'storeUnavailable', 'instanceChanged']


class Breaker(TypedDict):
    state: Literal['closed', 'open', 'halfOpen']
    """The state of the breaker now."""
    openUntil: str | None
    """When probes are let through."""
    trips: int | None
    """Openings since the breaker last closed; only of an open one."""


class TargetEvent(TypedDict):
    """A target whose breaker has changed, that is down or has recovered, or that an operator has changed."""

    key: str
    breaker: Breaker
    outage: NotRequired[Outage]
    """The outage; only in `target.down` and `target.recovered`."""
    action: NotRequired[Literal['configure', 'pause', 'resume', 'trip', 'reset', 'release']]
    """What an operator has done; only in `target.controlled`."""
    paused: NotRequired[bool]
    """Whether the target is paused now; only in `target.controlled`."""


WebhookEventType: TypeAlias = Literal['call.succeeded', 'call.failed', 'call.tripped', 'call.cancelled', 'target.opened', 'target.halfOpened', 'target.closed', 'target.down', 'target.recovered', 'target.controlled', 'endpoint.disabled']
"""The events that an endpoint can get."""


class Secret(TypedDict):
    id: str
    createdAt: Timestamp
    expiresAt: str | None
    """Until when it signs; null for the newest."""


class WebhookEndpoint(TypedDict):
    id: str
    url: str
    """Without the values of secret parameters (`redactParameters`)."""
    description: str
    events: list[WebhookEventType]
    targets: list[str]
    createdAt: Timestamp
    enabled: bool
    disabledReason: Literal['byRequest', 'failing', 'gone'] | None
    """Why it gets no webhooks."""
    disabledAt: str | None
    failingSince: str | None
    """Since when all deliveries have failed."""
    secrets: list[Secret]
    """The secrets that sign its webhooks, newest first."""


class Error1(TypedDict):
    pointer: NotRequired[str]
    """A JSON Pointer (RFC 6901) into the request body; empty for the whole of it."""
    parameter: NotRequired[str]
    """The name of a query parameter."""
    header: NotRequired[str]
    """The name of a header field."""
    detail: str
    """What is wrong there, as a clause."""


class Call1(TypedDict):
    """The call that cannot be read; only with `callDamaged`."""

    id: CallID
    target: str | None
    """The target; null if it cannot be read."""
    labels: dict[str, str]
    """The labels, as far as they can be read."""


ProblemCode: TypeAlias = Literal['badRequest', 'methodNotAllowed', 'notFound', 'invalidJSON', 'bodyTooLarge', 'invalidParameter', 'unsupportedMediaType', 'unsupportedContentCoding', 'preconditionFailed', 'invalidAttribution', 'crossSiteRequest', 'hostNotAllowed', 'hostEmpty', 'forwardNotDeliberate', 'missingAPIKey', 'invalidAPIKey', 'insufficientScope', 'operatorsOnly', 'otherNamespace', 'invalidNamespace', 'quotaExceeded', 'apiKeyNotFound', 'invalidAPIKeyDraft', 'firstKeyMustBeAdmin', 'tooManyAPIKeys', 'noRandomness', 'invalidDescriptor', 'invalidOption', 'invalidBatch', 'invalidIdempotencyKey', 'idempotencyKeyReused', 'tooManyHops', 'callNotFound', 'callEnded', 'callNotEnded', 'callRunning', 'contentErased', 'notReplayable', 'callDamaged', 'callRemoved', 'backlogFull', 'namespaceBacklogFull', 'draining', 'notReady', 'storageFull', 'storageUnavailable', 'outcomeUnknown', 'leaseLost', 'tooManyQueries', 'targetNotFound', 'invalidTarget', 'invalidTargetSettings', 'tooManyTargets', 'policyNotFound', 'invalidPolicy', 'policyTooLarge', 'tooManyPolicies', 'invalidScenario', 'previewTooLarge', 'simulationTooLarge', 'tooManyForecasts', 'forecastsFull', 'invalidOperation', 'operationNotFound', 'operationEnded', 'tooManyOperations', 'invalidWebhookEndpoint', 'invalidRotation', 'webhookEndpointNotFound', 'webhookEndpointDisabled', 'tooManyWebhookEndpoints', 'tooManyListeners', 'issueNotFound', 'invalidIssue', 'issueNotResolved', 'alertNotFound', 'invalidAlert', 'tooManyAlerts', 'alertWithoutReceiver', 'invalidChange', 'incidentNotFound', 'incidentEnded', 'ownedElsewhere', 'leaderUnreachable', 'instanceUnreachable', 'notAPeer', 'invalidForward', 'forwardedTooLate', 'callInMemory']
"""
The kind of a problem: a stable word that programs can match. Later versions may add some: a program treats a code that
it does not know by its status.

"""


class Callback(TypedDict):
    """Where to send the webhook when the call ends."""

    url: str
    """Where it is sent; it must be allowed by the egress policy."""
    events: NotRequired[list[CallEvent] | None]
    """The events that cause a webhook; all by default."""


class CallDescriptor(TypedDict):
    """The call to make, and how to retry it. Give at most one of `body`, `json` and `bodyBase64`."""

    url: str
    """
    An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses are
    allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
    `egressAllow` names them.

    """
    method: NotRequired[str | None]
    """
    Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no body.

    """
    headers: NotRequired[dict[str, Any] | None]
    """
    Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
    framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`,
    `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`, which Redial
    sets itself.

    """
    body: NotRequired[str | None]
    """The request body, as text that is sent in UTF-8."""
    json: NotRequired[Any]
    """
    The request body, as JSON, sent byte for byte as you wrote it, with `Content-Type: application/json` unless the
    headers say otherwise.

    """
    bodyBase64: NotRequired[str | None]
    """The request body, in base 64 with padding (RFC 4648)."""
    policy: NotRequired[PolicyOrName | None]
    delay: NotRequired[Duration | None]
    """How long after its acceptance the call starts; up to 366 days."""
    startAt: NotRequired[Timestamp | None]
    """When the call starts; at once if that time has passed. At most 366 days from now."""
    target: NotRequired[str | None]
    """
    Calls of one target share a breaker, limits and ordering. By default it is the URL's origin. The setting
    `targetNaming` says who may name another: by default keys with the scope `operate`, and everybody while there are no
    keys. Names that begin with `webhook:` are reserved. It must be in the Unicode normalization form NFC.

    """
    idempotent: NotRequired[bool | None]
    """
    Whether the request may be repeated once it may have been executed. By default it may, whatever its method, because
    each attempt carries the same `Idempotency-Key`. `false` is for a target that must not get it twice: then only
    failures before the request was sent, and 408, 425 and 429, are retried. If Redial crashes during an attempt, the
    attempt is repeated in any case.

    """
    onRepeat: NotRequired[Literal['rerun', 'answer'] | None]
    """
    What a submission does under the `Idempotency-Key` of this call once it has failed or was cancelled. `rerun` runs
    the call again, with all attempts of its policy: exactly once for each time that it has ended, whoever submits at
    the same time. A call with `"idempotent": false` runs again only if no attempt may have been executed: each was
    refused with a status of 4xx other than 409, or was never sent. `answer` only answers with the call as it is. If it
    is left out, the setting `onRepeat` decides.

    """
    description: NotRequired[str | None]
    """What the call is for, in a line for people. It is shown with the call, and nothing depends on it."""
    labels: NotRequired[dict[str, str]]
    """
    Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
    normalization form NFC.

    """
    callback: NotRequired[Callback | None]
    """Where to send the webhook when the call ends."""
    redirects: NotRequired[Redirects | None]
    """
    Whether an attempt follows redirects: 301, 302, 303, 307 and 308. All of them share the attempt's timeout; method
    and body follow RFC 9110. When the origin changes, credentials are not sent on: `Authorization`, `Cookie`, fields
    with a word for a credential in their name, such as `X-Api-Key`, `X-Auth` or `X-Session-Id` (but not
    `Idempotency-Key`), and the fields in `capture.redactHeaders` and in the setting `redactHeaders`. The egress policy
    is checked for each. Without this member, a redirect is the response.

    """
    orderingKey: NotRequired[str | None]
    """
    Calls of one target with the same ordering key run one at a time, in the order in which they were accepted. The next
    one starts when the one before has ended, also if that one failed. It must be in the Unicode normalization form NFC.

    """
    priority: NotRequired[int | None]
    """
    Of the due calls of a target, the highest priority starts first. Every tenth to start is the one that has been due
    longest.

    """
    capture: NotRequired[Capture | None]
    """How much of responses is kept."""


class CallBase(TypedDict):
    """The members that a call always has."""

    id: CallID
    kind: CallKind
    state: CallState
    failureReason: FailureReason | None
    issue: IssueID | None
    """The issue that a failed call belongs to; null for others, and for calls of an older version."""
    waitingOn: WaitReason | None
    """Why it is not running; null unless it is scheduled, and where only another instance knows why."""
    nextAttemptAt: str | None
    """
    As things stand, it does not run before this time. It may run later: calls before it in its target's queue go first.
    While it waits for `rateLimit` or `pace`, this is when the next attempt to the target may start. Null unless it is
    scheduled and that is known.

    """
    url: str
    """Without the values of secret parameters, such as `token`."""
    method: str
    """The method."""
    target: str
    """The target whose breaker and limits it shares."""
    redirects: NotRequired[Redirects]
    """How many redirects an attempt follows; left out if 0."""
    replayOf: NotRequired[CallID]
    """The call that it repeats, perhaps with changes; left out if it repeats none."""
    priority: NotRequired[int]
    """Its priority; only if it is not 5, the default."""
    orderingKey: NotRequired[str]
    """Its ordering key, if it has one."""
    policy: str | None
    """
    The policy that it was accepted with, `default` or a stored one such as `patient@3`; null if it was given as an
    object.

    """
    description: NotRequired[str]
    """What its client says that it is for; left out if it says nothing."""
    labels: dict[str, str]
    """Its labels."""
    createdAt: Timestamp
    finishedAt: str | None
    deadlineAt: str | None
    """
    At this time the call ends: no attempt begins later, and one in flight is cut off. Of a call that has ended, the
    deadline that it had; null if it is damaged.

    """
    attemptCount: int
    """Attempts that have begun, including those that Redial itself cut off."""
    maxAttempts: int | None
    """Maximum number of attempts; null if only the deadline limits them."""
    lastStatus: NotRequired[int | None]
    """
    The status of the last attempt that has ended; null without a response. Events, and webhooks that show the call as
    lists do, leave it and `lastError` out.

    """
    lastError: NotRequired[str | None]
    """The code of what went wrong with that attempt, such as `connectionRefused`; null if it was answered."""
    contentErasedAt: str | None
    """When its payloads were erased; null if they were not."""


class CallSummary(CallBase):
    """A call without its attempts and its response."""

    damage: NotRequired[str]
    """
    Why the call cannot be read; only for such a one. Its `id` is right, and so are `target` and `labels` as far as they
    are shown; the other members mean nothing. Everything else that is asked of it is answered with `callDamaged`.

    """


class Error(TypedDict):
    """What went wrong, if there was no response."""

    code: str
    """A stable word."""
    phase: NotRequired[ExchangePhase]
    message: str


class AttemptBase(TypedDict):
    number: int
    startedAt: Timestamp
    outcome: Outcome
    status: int | None
    duration: Duration
    error: NotRequired[Error]
    """What went wrong, if there was no response."""
    decision: Decision | None


class Attempt(AttemptBase):
    waited: NotRequired[WaitTimes]
    """How long the call waited before it, since the attempt before or its acceptance. Events have `heldBack`."""
    heldBack: NotRequired[WaitTimes]
    """
    Only in events: what held it back after it was due. Left out if nothing did for long, and if nobody knows since when
    it was due: a retry that waited in the store.

    """


class AttemptWithResponse(AttemptBase):
    waited: WaitTimes
    """How long the call waited before it, since the attempt before or its acceptance."""
    exchange: Exchange | None
    response: AttemptResponse | None


class Event(TypedDict):
    """An event of the event stream."""

    type: Literal['call.accepted', 'call.attempted', 'call.succeeded', 'call.failed', 'call.tripped', 'call.cancelled', 'target.opened', 'target.halfOpened', 'target.closed', 'target.down', 'target.recovered', 'target.controlled', 'endpoint.disabled', 'reset']
    """What has happened; `reset` tells that events were missed."""
    timestamp: str
    data: CallSummary | TargetEvent | WebhookEndpoint | Data
    """The call as lists show it, the target, the endpoint, or why events were missed."""
    attempt: NotRequired[Attempt]
    """The attempt that has ended; only in `call.attempted`."""


class CallPage(TypedDict):
    data: list[CallSummary]
    nextCursor: CallID | None
    """The cursor of the next page; null on the last page."""


class Problem(TypedDict):
    """An error (RFC 9457). docs/problems.md has every code with its cause and what to do."""

    type: str
    title: str
    """A short summary; each code has one."""
    status: int
    code: ProblemCode
    detail: str
    """What was wrong this time, on which input, and what to do."""
    errors: NotRequired[list[Error1]]
    """
    The wrong places in the input. Each is in the body (`pointer`), in the query (`parameter`) or in the header section
    (`header`).

    """
    call: NotRequired[Call1]
    """The call that cannot be read; only with `callDamaged`."""


class Call(CallBase):
    warnings: NotRequired[PolicyWarnings]
    """Warnings: settings that are allowed but rarely intended. Only in the answer that accepts the call."""
    retries: list[ManualRetry]
    """The manual retries, latest last; at most the latest 100."""
    waited: WaitTimes
    """How long it waited before the attempts that have ended, all together."""
    attempts: list[Attempt]
    """The attempts that have ended, oldest first."""
    response: Response | None
    """The stored part of the last attempt's response."""
    policyInForce: NotRequired[Policy]
    """
    The whole policy that it was accepted with, also if a stored one has changed since. In answers about one call, not
    in the answer that accepts it.

    """
    request: NotRequired[Request]


class WebhookPayload(TypedDict):
    type: CallEvent
    timestamp: Timestamp
    """When the call ended."""
    data: Call


class BatchItem(TypedDict):
    """The result of one descriptor of a batch."""

    status: int
    """The status that a single submission would have been answered with."""
    line: NotRequired[int | None]
    """
    In a stream, the number of its line, from 1, with blank lines counted; null for the last line of a stream that ended
    early.

    """
    idempotencyStatus: NotRequired[IdempotencyStatus]
    """
    Present if it was accepted before under the same key, as in `Idempotency-Status`; the call is then shown as in
    lists.

    """
    id: NotRequired[CallID]
    """In a stream with `return=minimal`, in place of the call."""
    call: NotRequired[Call | CallSummary]
    problem: NotRequired[Problem]
    headers: NotRequired[dict[str, str]]
    """
    In a stream that ends early because the quota is used up: the fields `retry-after`, `ratelimit` and
    `ratelimit-policy`.

    """
