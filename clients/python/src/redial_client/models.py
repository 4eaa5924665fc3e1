"""Made by Scripts/generate from api/openapi.yaml."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired


class Instance(TypedDict):
    number: int
    """Its number among the instances."""
    url: str | None
    """Where the other instances reach it; null if they cannot, and on SQLite."""
    version: str
    """Its version."""
    shards: int
    """The number of its shards."""
    self: bool
    """Whether it is the one that answers."""
    leads: bool
    """Whether it makes the changes of policies, API keys, webhook endpoints and bulk operations."""


CallID: TypeAlias = str
"""The id of a call. Ids sort by the time of acceptance."""


CallKind: TypeAlias = Literal['call', 'webhook']
"""`call`: a client submitted it. `webhook`: Redial made it, to report something."""


CallState: TypeAlias = Literal['scheduled', 'running', 'succeeded', 'failed', 'cancelled']
"""
`scheduled`: it waits. `running`: an attempt is in flight. The others are ends; a manual retry leads back to
`scheduled`.

"""


FailureReason: TypeAlias = Literal['attemptsExhausted', 'deadlineExceeded', 'notRetryable', 'tripped', 'blocked', 'attemptEndedTheService']
"""
Why a call failed. `attemptsExhausted`: it used up `maxAttempts`. `deadlineExceeded`: the next attempt would begin after
the deadline. `notRetryable`: the policy does not retry the last outcome, or it is not safe to. `tripped`: the target's
breaker opened and `onTrip` is `fail`. `blocked`: the egress policy refused the address; or, without an attempt, the
call was accepted by an older version and names a target of webhooks. `attemptEndedTheService`: Redial died during its
attempts, more than once, and probably of them.

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


IdempotencyStatus: TypeAlias = Literal['repeated', 'rerun', 'notRerun']
"""
What a submission has done whose call was accepted before, under the same `Idempotency-Key`. `repeated`: nothing.
`rerun`: it runs the call again, which had failed or was cancelled. `notRerun`: nothing, since the call had failed or
was cancelled, and cannot run again: its payloads are erased, as those of a sensitive call are when it ends; or it may
have been executed, and says `"idempotent": false`; or it has ended the service.

"""


class CallDescriptorSign(TypedDict):
    """
    How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the name of a
    credential, or an object whose secrets belong to this call alone. They are not shown.

    """

    type: Literal['standardWebhooks', 'github', 'stripe', 'slack', 'hmacSHA256']
    header: NotRequired[str | None]
    secret: str
    previousSecret: NotRequired[str | None]
    prefix: NotRequired[str | None]
    encoding: NotRequired[Literal['hex', 'base64'] | None]


class CallDescriptorCapture(TypedDict):
    """How much of responses is kept."""

    maxBytes: NotRequired[int | None]
    """How much of each response's body is kept, in bytes."""
    redactHeaders: NotRequired[list[str] | None]
    """
    Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
    replaces them. Fields about retries still take effect.

    """


class Redirects(TypedDict):
    """How many redirects an attempt follows."""

    max: NotRequired[int | None]
    """Maximum number of redirects; the one after them is the attempt's response."""


class PolicyBackoff(TypedDict):
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


class PolicyRetryOn(TypedDict):
    """
    What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511 (600 to 999
    count as 5xx); 409, 413 and 423 with `Retry-After`; and 409 while the target may still be processing an earlier
    attempt. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429. Members that are left
    out keep their defaults.

    """

    network: NotRequired[bool | Literal['always', 'notSent', 'never'] | None]
    """
    Network failures: `true` or `always`, `false` or `never`, or `notSent` for those where the request certainly was
    not sent.

    """
    statuses: NotRequired[Statuses | None]
    statusesWithRetryAfter: NotRequired[Statuses | None]
    """Statuses to retry only if the response has `Retry-After`."""


class PolicyStopOn(TypedDict):
    """Statuses that end the call, even if `retryOn` has them."""

    statuses: NotRequired[Statuses | None]


class PolicyRetryAfter(TypedDict):
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
    backoff: NotRequired[PolicyBackoff | None]
    """
    The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i, spread
    by the jitter. No wait is longer than `max`, and waits stay spread there.

    """
    retryOn: NotRequired[PolicyRetryOn | None]
    """
    What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511 (600 to 999
    count as 5xx); 409, 413 and 423 with `Retry-After`; and 409 while the target may still be processing an earlier
    attempt. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429. Members that are left
    out keep their defaults.

    """
    stopOn: NotRequired[PolicyStopOn | None]
    """Statuses that end the call, even if `retryOn` has them."""
    retryAfter: NotRequired[PolicyRetryAfter | None]
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


PolicyName: TypeAlias = str
"""Letters, digits, `.`, `_` and `-`; `preview` and `default` are taken."""


class StoredPolicySummary(TypedDict):
    name: PolicyName
    version: int
    createdAt: Timestamp


class StoredPolicyVersion(TypedDict):
    version: int
    createdAt: Timestamp


class StoredPolicy(TypedDict):
    name: PolicyName
    version: int
    createdAt: Timestamp
    policy: Policy
    """The policy as its author gave it."""
    warnings: PolicyWarnings
    """Warnings about the policy, for requests that may be repeated."""
    versions: list[StoredPolicyVersion]
    """The versions that are kept, newest last."""


class ReplayChangesSign(TypedDict):
    """
    How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the name of a
    credential, or an object whose secrets belong to this call alone. They are not shown.

    """

    type: Literal['standardWebhooks', 'github', 'stripe', 'slack', 'hmacSHA256']
    header: NotRequired[str | None]
    secret: str
    previousSecret: NotRequired[str | None]
    prefix: NotRequired[str | None]
    encoding: NotRequired[Literal['hex', 'base64'] | None]


class ReplayChangesCapture(TypedDict):
    """How much of responses is kept."""

    maxBytes: NotRequired[int | None]
    """How much of each response's body is kept, in bytes."""
    redactHeaders: NotRequired[list[str] | None]
    """
    Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
    replaces them. Fields about retries still take effect.

    """


class DryRunEgress(TypedDict):
    """
    The verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is refused is answered
    with 422, as without `dryRun`.

    """

    verdict: Literal['allowed', 'decidedWhenDialled', 'refused']
    rule: str | None
    """The rule that refuses it, if one does."""
    detail: str


class PlanAttemptWait(TypedDict):
    """The shortest and longest wait before it; null if only samples are known."""

    shortest: Duration
    longest: Duration


class PlanAttemptStartsAfter(TypedDict):
    """When it starts, counted from the start of the call."""

    earliest: Duration
    p10: Duration
    p50: Duration
    p90: Duration
    p99: Duration
    latest: Duration
    isExact: bool
    """Whether these come from a formula; otherwise from samples."""


class PlanAttempt(TypedDict):
    number: int
    wait: PlanAttemptWait | None
    """The shortest and longest wait before it; null if only samples are known."""
    startsAfter: PlanAttemptStartsAfter
    """When it starts, counted from the start of the call."""
    chance: float
    """The probability that it starts before the deadline."""


class Plan(TypedDict):
    """When a policy makes its attempts."""

    policyName: str | None
    """`default`, or the stored policy with its version; null for a policy that was given as an object."""
    policy: NotRequired[Policy]
    """Left out in a dry run of a call, which has it in `call`."""
    attempts: list[PlanAttempt]
    """The attempts, up to the first that would be after the deadline."""
    isComplete: bool
    """Whether there are no attempts after those listed."""
    latestEnd: Duration | None
    """The latest time at which the call can still run; null if there is none."""
    chanceOfAllAttempts: float
    warnings: PolicyWarnings


class Request(TypedDict):
    """
    The request of a call, as the client gave it; shown with `include=request`. Values of secret header fields and URL
    parameters are `REDACTED`. If the content was erased, or is withheld, there are no header fields and no body.

    """

    method: str
    url: str
    headers: dict[str, list[str]]
    latin1: NotRequired[list[str]]
    """
    The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a character for
    each byte, and sent as they came. Left out if there are none.

    """
    body: str | None
    """The body, or its first mebibyte; null if it was erased or is withheld."""
    encoding: Literal['utf8', 'base64'] | None
    """Whether `body` is text or base 64; null without one."""
    size: int | None
    """The size of the whole body, in bytes; null if it was erased or is withheld."""
    truncated: bool
    """Whether the body is longer than shown."""
    erasedAt: str | None
    """When the content was erased; null if it was not."""
    withheld: Literal['sensitive', 'redact'] | None
    """
    Why the request is not shown: `sensitive` for a sensitive call, and `redact` for a body that is not whole, or not
    JSON, so that nobody can tell where the members are that `redact` names. Null if it is shown.

    """


AverageBacklog: TypeAlias = float
"""
How many calls were due and waited for their target, on average over the time. While the service did not run, none are
counted.

"""


class TimeToSuccess(TypedDict):
    """
    How long the calls took that succeeded, since they were due for their first attempts: the time that 50, 95 and 99 % of
    them did not exceed, within a fifth; null if there are none.

    """

    p50: Duration
    p95: Duration
    p99: Duration


class EndedAttempts(TypedDict):
    """Attempts after which the call succeeded, and others."""

    succeeded: int
    failed: int


class AttemptLatency(TypedDict):
    """The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none."""

    p50: Duration
    p95: Duration
    p99: Duration


BulkOperationID: TypeAlias = str
"""The id of a bulk operation. Ids sort by the time of acceptance."""


BulkAction: TypeAlias = Literal['retry', 'cancel', 'release', 'purge', 'replay']
"""
`retry`: retry calls that have ended. `cancel`: cancel calls that have not. `release`: run waiting calls now. `purge`:
remove calls that have ended. `replay`: submit a new call like each that has ended.

"""


AuditAction: TypeAlias = Literal['key.created', 'key.revoked', 'endpoint.created', 'endpoint.changed', 'endpoint.removed', 'endpoint.secretRotated', 'endpoint.tested', 'webhookSecret.read', 'policy.put', 'policy.removed', 'target.changed', 'target.paused', 'target.resumed', 'target.tripped', 'target.reset', 'target.released', 'call.cancelled', 'call.retried', 'call.erased', 'call.replayed', 'operation.started', 'operation.stopped', 'issue.changed', 'alert.changed', 'alert.silenced', 'alert.removed', 'alert.tested', 'credential.put', 'credential.removed', 'dataKeys.replaced', 'dataKeys.erased', 'commits.lost']
"""What somebody has done; a newer version may have written words that are not here."""


IssueID: TypeAlias = str
"""The id of an issue. The same target, reason and error always give the same id."""


IssueKind: TypeAlias = Literal['down', 'late', 'held', 'failing', 'failed', 'stuck']
"""
`down`: a target has an outage. `held`: somebody has paused or tripped a target, and calls wait. `late`: calls have been
due for a minute or more for a target that is neither. `failing`: no attempt at a target has succeeded in a quarter of
an hour, without so many failures that it is down; or calls with something in common fail again and again while the
others work. `failed`: calls have failed, all their attempts used or given up. `stuck`: a check of the store finds calls
that nothing moves (only in the namespace `default`).

"""


IssueState: TypeAlias = Literal['open', 'acknowledged', 'resolved']
"""
`open`: there is no statement about it. `acknowledged`: somebody knows of it. `resolved`: it is over, or somebody has
said that it is done with, and no call has failed so since.

"""


class IssueChange(TypedDict):
    """What somebody states about an issue."""

    state: IssueState
    until: NotRequired[Timestamp | Duration | None]
    """Until when it counts as acknowledged, or how long from now; 7 days if it is left out."""
    by: NotRequired[str | None]
    """Who."""
    reason: NotRequired[str | None]
    """Why."""


class IssueMark(TypedDict):
    """The last statement about it; null for none."""

    state: Literal['acknowledged', 'resolved']
    at: Timestamp
    by: str | None
    reason: str | None
    until: str | None


class AffectedCallsPath(TypedDict):
    path: str
    calls: int


class AffectedCallsLabel(TypedDict):
    name: str
    value: str
    calls: int


class AffectedCalls(TypedDict):
    """
    Whom an issue concerns: its newest calls, at most 1,000, summed by the path of their URLs and by label. Only in the
    answer about one issue.

    """

    counted: int
    """How many calls were counted."""
    isComplete: bool
    """Whether these are all of the issue."""
    paths: list[AffectedCallsPath]
    """The 10 paths of the most calls. `{n}` and `{id}` stand for numbers and ids."""
    labels: list[AffectedCallsLabel]
    """The 20 labels of the most calls."""


CredentialName: TypeAlias = str
"""Letters, digits, `.`, `_` and `-`."""


CredentialType: TypeAlias = Literal['bearer', 'basic', 'header', 'query', 'oauth2', 'awsSigV4', 'standardWebhooks', 'github', 'stripe', 'slack', 'hmacSHA256']
"""
What proves who sends a request: `bearer`, `basic`, `header`, `query`, `oauth2` (client credentials, RFC 6749 §4.4) and
`awsSigV4`. What signs its content: `standardWebhooks`, `github`, `stripe`, `slack` and `hmacSHA256`.

"""


class CredentialDraft(TypedDict):
    """What a client says about a credential."""

    type: CredentialType
    """What it is; each other member says to which types it belongs."""
    token: NotRequired[str | None]
    """`bearer`: the token."""
    username: NotRequired[str | None]
    """`basic`: the user."""
    password: NotRequired[str | None]
    """`basic`: the password."""
    header: NotRequired[str | None]
    """`header` and `hmacSHA256`: the name of the header field."""
    value: NotRequired[str | None]
    """`header` and `query`: the value."""
    parameter: NotRequired[str | None]
    """`query`: the name of the parameter."""
    tokenURL: NotRequired[str | None]
    """
    `oauth2`: the URL of the token endpoint. The egress policy has to allow it, and no redirect is followed.

    """
    clientID: NotRequired[str | None]
    """`oauth2`: the id of the client."""
    clientSecret: NotRequired[str | None]
    """`oauth2`: the secret of the client, for `basic` and `post`."""
    clientAuthentication: NotRequired[Literal['basic', 'post', 'privateKeyJWT'] | None]
    """
    `oauth2`: how the client says who it is (`client_secret_basic`, `client_secret_post`, `private_key_jwt`). By default
    `privateKeyJWT` with a private key, and `basic` without.

    """
    privateKey: NotRequired[str | None]
    """`oauth2`: the private key in PEM, without a pass phrase, for `privateKeyJWT`."""
    keyID: NotRequired[str | None]
    """`oauth2`: the `kid` of the assertion."""
    algorithm: NotRequired[Literal['RS256', 'ES256'] | None]
    """`oauth2`: how the assertion is signed; `RS256` by default."""
    scope: NotRequired[str | None]
    """`oauth2`: the scope of the token."""
    audience: NotRequired[str | None]
    """`oauth2`: the audience, for services that want one."""
    resource: NotRequired[str | None]
    """`oauth2`: the resource (RFC 8707)."""
    accessKeyID: NotRequired[str | None]
    """`awsSigV4`: the id of the access key."""
    secretAccessKey: NotRequired[str | None]
    """`awsSigV4`: the secret access key."""
    sessionToken: NotRequired[str | None]
    """`awsSigV4`: the session token of temporary keys."""
    region: NotRequired[str | None]
    """`awsSigV4`: the region, such as `eu-central-1`."""
    service: NotRequired[str | None]
    """`awsSigV4`: the service, such as `execute-api` or `s3`."""
    secret: NotRequired[str | None]
    """What signs: for `standardWebhooks` `whsec_` or `whsk_` and base 64, for others any text."""
    previousSecret: NotRequired[str | None]
    """
    The secret from before a rotation; it signs, too, until it is left out. `standardWebhooks`, `stripe` and
    `hmacSHA256` have room for two signatures.

    """
    prefix: NotRequired[str | None]
    """`hmacSHA256`: what stands before the signature, such as `sha256=`."""
    encoding: NotRequired[Literal['hex', 'base64'] | None]
    """`hmacSHA256`: how the signature is written; `hex` by default."""
    origins: list[str]
    """The origins to which it may be sent, such as `https://api.example.com`."""
    description: NotRequired[str | None]
    """What it is for, for people."""


class CredentialAccessToken(TypedDict):
    """Only for `oauth2`, how its access token stands at the instance that answers."""

    state: Literal['none', 'fetching', 'valid', 'failing']
    expiresAt: NotRequired[Timestamp]
    problem: NotRequired[str]
    """Why the last fetch failed."""
    nextFetchAt: NotRequired[Timestamp]
    """Until then no token is fetched."""


class Credential(TypedDict):
    name: CredentialName
    type: CredentialType
    username: NotRequired[str]
    header: NotRequired[str]
    parameter: NotRequired[str]
    tokenURL: NotRequired[str]
    clientID: NotRequired[str]
    clientAuthentication: NotRequired[str]
    keyID: NotRequired[str]
    algorithm: NotRequired[str]
    scope: NotRequired[str]
    audience: NotRequired[str]
    resource: NotRequired[str]
    accessKeyID: NotRequired[str]
    region: NotRequired[str]
    service: NotRequired[str]
    prefix: NotRequired[str]
    encoding: NotRequired[str]
    origins: list[str]
    description: str | None
    createdAt: Timestamp
    changedAt: Timestamp
    accessToken: NotRequired[CredentialAccessToken]
    """Only for `oauth2`, how its access token stands at the instance that answers."""


AlertName: TypeAlias = str
"""Letters, digits, `.`, `_` and `-`."""


class AlertDraftTo(TypedDict):
    """
    Where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to be allowed by the
    egress policy.

    """

    endpoint: NotRequired[str | None]
    """The id of a webhook endpoint; it gets events of type `alert.opened` and `alert.ended`, signed."""
    slack: NotRequired[str | None]
    """The URL of an incoming webhook of Slack."""
    teams: NotRequired[str | None]
    """The URL of a workflow of Microsoft Teams that posts when a webhook request comes."""
    pagerDuty: NotRequired[str | None]
    """The integration key of a PagerDuty service (Events API v2)."""
    url: NotRequired[str | None]
    """Only for PagerDuty, where its events go; such as `https://events.eu.pagerduty.com/v2/enqueue`."""


class AlertDraft(TypedDict):
    """What a client says about an alert."""

    kinds: NotRequired[list[IssueKind] | None]
    """The kinds of issues that it watches for; all by default."""
    targets: NotRequired[list[str] | None]
    """If not empty, only issues of these targets."""
    after: NotRequired[Duration | None]
    """
    How long an issue has to be there, up to 7 days; by default 5 minutes for `down`, `late`, `failing` and `stuck`, 30
    minutes for `held`, 1 minute for `failed`.

    """
    to: NotRequired[AlertDraftTo | None]
    """
    Where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to be allowed by the
    egress policy.

    """


class AlertTo(TypedDict):
    """Where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing."""

    endpoint: NotRequired[str]
    slack: NotRequired[str]
    teams: NotRequired[str]
    pagerDuty: NotRequired[str]
    url: NotRequired[str]


class AlertSilence(TypedDict):
    """Until when nobody is notified that an issue begins; null if they are."""

    until: Timestamp
    by: str | None
    reason: str | None


class Silence(TypedDict):
    """Whether messages of an alert are held back."""

    silenced: bool
    """False to end it."""
    until: NotRequired[Timestamp | Duration | None]
    """Until when, or how long from now; 1 hour if it is left out."""
    by: NotRequired[str | None]
    """Who."""
    reason: NotRequired[str | None]
    """Why."""


Outcome: TypeAlias = Literal['answered', 'notSent', 'maybeSent', 'unusable', 'localFault', 'interrupted', 'cancelled', 'blocked']
"""
How far the attempt got. `answered`: a response came, and its status decides. `notSent`: the request certainly was not
sent. `maybeSent`: it was sent, at least in part, and no usable response came, or a 2xx that was cut. `unusable`: it
cannot succeed as it is. `localFault`: Redial's side failed. `interrupted`: Redial stopped or died meanwhile.
`cancelled`: the call was cancelled. `blocked`: the egress policy refused the address, and no connection was made.

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
    latin1: NotRequired[list[str]]
    """
    The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a character for
    each byte. Left out if there are none.

    """
    body: str
    """The first bytes of the body. Of a text that was cut within a character, that character is left out."""
    encoding: Literal['utf8', 'base64']
    withheld: NotRequired[Literal['redact']]
    """
    `redact` for a body that is not shown, because it is not whole, or not JSON, so that nobody can tell where the
    members are that the call's `redact` names; `body` is then empty. Left out otherwise.

    """
    truncated: bool
    """
    Whether the body was longer, or the response is not whole. It is also true for an old attempt whose body is not kept
    any more (the 20 latest); the body is then empty.

    """


class AttemptResponse(TypedDict):
    """The stored part of a response, with its body if requested."""

    status: int | None
    headers: dict[str, list[str]]
    """Header fields, their names in lower case."""
    latin1: NotRequired[list[str]]
    """
    The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a character for
    each byte. Left out if there are none.

    """
    body: NotRequired[str]
    """The first bytes of the body. Of a text that was cut within a character, that character is left out."""
    encoding: NotRequired[Literal['utf8', 'base64']]
    withheld: NotRequired[Literal['redact']]
    """
    `redact` for a body that is not shown, because it is not whole, or not JSON, so that nobody can tell where the
    members are that the call's `redact` names; `body` is then empty. Left out otherwise.

    """
    truncated: bool
    """
    Whether the body was longer, or the response is not whole. It is also true for an old attempt whose body is not kept
    any more (the 20 latest); the body is then empty.

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


class TargetBreaker(TypedDict):
    state: Literal['closed', 'open', 'halfOpen']
    """`open`: no attempt is made. `halfOpen`: probes are made."""
    openUntil: str | None
    """When probes are let through; null unless it is open."""
    trips: int
    """Openings since it last closed."""
    consecutiveFailures: int


class TargetPace(TypedDict):
    """
    How fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within these limits
    and as fast as the target can take them. The other members are there if it is adaptive.

    """

    mode: Literal['fixed', 'adaptive']
    """Whether it is adapted to what the target can take."""
    rate: NotRequired[float | None]
    """
    Attempts per second that may start, found from what the target refused and how fast it answered; null without a
    limit, because it has shown no sign of overload.

    """
    deliveredPerSecond: NotRequired[float]
    """Requests per second that the target processed, on average of its last requests."""
    reason: NotRequired[Literal['noOverload', 'recovered', 'grew', 'refused', 'queued', 'notLoad']]
    """
    Why the rate changed last. `noOverload`: there was no sign of overload yet, or none for long. `recovered`: the
    target works again after an outage. `grew`: it took all that it got. `refused`: it refused requests, or did not
    answer them in time. `queued`: it answered the slower the more it got. `notLoad`: a lower rate did not help, so
    a higher one is tried, or the signs were not caused by load.

    """
    changedAt: NotRequired[str | None]
    """When the rate changed last; null if it never has."""


class TargetBacklog(TypedDict):
    """The calls that have not run yet, due or not, counted by their wait reason."""

    total: int
    isComplete: bool
    """False if more wait in the store than are counted: 10,000 for their time and 10,000 for their turn."""
    byReason: dict[WaitReason, int]
    """
    Calls in the store whose own time has not come count for that time, such as `backoff`, also while the target is
    paused or its breaker is open. `GET /v1/calls?waitingOn=` lists each call under the reason that it shows.

    """


class RecentAttempts(TypedDict):
    succeeded: int
    """Attempts after which their call succeeded."""
    failed: int
    """Attempts after which it did not."""
    latency: AttemptLatency | None
    """The latency that this percentage of attempts did not exceed, within a fifth; null without attempts."""


class TargetSettingsBreaker(TypedDict):
    """When the circuit breaker opens, and how it closes again."""

    consecutiveFailures: NotRequired[int | None]
    """
    Least failures in a row that open it; 0 turns this rule off. Failures of one call count once, and those of
    attempts that began before one that has succeeded do not count.

    """
    significance: NotRequired[float | None]
    """
    A run of failures opens it only if it comes by chance with this probability at most, at the share of failures
    that is usual for the target. 1 opens it at each run.

    """
    failureTime: NotRequired[Duration | None]
    """
    Least time that a run of failures lasts before it opens. Twice the usual response time is added, unless it is
    `0s`.

    """
    failureRate: NotRequired[float | None]
    """Failure rate in the window that opens it; 0 turns this rule off."""
    window: NotRequired[Duration | None]
    """The window of the failure rate."""
    minCalls: NotRequired[int | None]
    """Least attempts in the window for the failure rate to count."""
    openInterval: NotRequired[Duration | None]
    """How long it is open the first time; each time longer until a probe succeeds."""
    maxOpenInterval: NotRequired[Duration | None]
    """The longest time for which it is open."""
    probes: NotRequired[int | None]
    """
    Maximum attempts in flight while it is half-open, without those that go beside one that hangs, one in 2 s.

    """


class TargetSettingsRate(TypedDict):
    """How many attempts may start per second."""

    perSecond: NotRequired[float | None]
    """Maximum attempts started per second; null for no limit."""
    burst: NotRequired[int | None]
    """Attempts that may start at once after a quiet time."""


class TargetSettingsRetryBudget(TypedDict):
    """Retries beyond it wait."""

    share: NotRequired[float | None]
    """Retries as a share of the first attempts of the last 10 s."""
    minPerSecond: NotRequired[int | None]
    """Retries per second in addition to the share; null for no limit on retries."""


class TargetSettingsTls(TypedDict):
    """
    How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within the
    directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without the setting,
    every path is. Files are read when a connection is made; their content is neither stored nor shown.

    All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
    these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if the
    target is the origin itself, by every call to it; never after a redirect from another origin.

    """

    certificate: NotRequired[str | None]
    """Redial's client certificate, in PEM, followed by those of its issuers."""
    key: NotRequired[str | None]
    """The certificate's private key, in PEM, unless it is in the certificate's file."""
    caFile: NotRequired[str | None]
    """Certificate authorities, in PEM, that are trusted for this target, and no others."""
    pins: NotRequired[list[str] | None]
    """SHA-256 digests of public keys, in base 64. The target must have one of these keys."""
    minVersion: NotRequired[Literal['1.2', '1.3'] | None]
    """Oldest allowed version of TLS."""
    origins: NotRequired[list[str] | None]
    """
    The origins that all of it applies to. Required, unless the target's key is an origin as in URLs: then it
    applies to that one.

    """


class TargetSettingsSign(TypedDict):
    """
    How calls are signed that do not say it: the name of a credential, or an object, whose secrets are not shown.

    """

    type: Literal['standardWebhooks', 'github', 'stripe', 'slack', 'hmacSHA256']
    header: NotRequired[str | None]
    secret: str
    previousSecret: NotRequired[str | None]
    prefix: NotRequired[str | None]
    encoding: NotRequired[Literal['hex', 'base64'] | None]


class TargetSettings(TypedDict):
    """Limits of a target. Members that are left out follow the service's settings."""

    breaker: NotRequired[TargetSettingsBreaker | None]
    """When the circuit breaker opens, and how it closes again."""
    maxInFlight: NotRequired[int | None]
    """Maximum attempts in flight."""
    rate: NotRequired[TargetSettingsRate | None]
    """How many attempts may start per second."""
    retryBudget: NotRequired[TargetSettingsRetryBudget | None]
    """Retries beyond it wait."""
    pace: NotRequired[Literal['fixed', 'adaptive'] | None]
    """
    How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or `fixed`, as
    fast as these allow.

    """
    newCallShare: NotRequired[float | None]
    """
    The share of the attempts that new calls get while a backlog waits too; what they do not use goes to the backlog. 0:
    all calls start by age.

    """
    slowStart: NotRequired[Duration | None]
    """
    With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time.

    """
    attemptTimeout: NotRequired[Duration | None]
    """Maximum duration of an attempt, whatever the policy says."""
    sensitive: NotRequired[bool | None]
    """Whether its new calls are sensitive, whatever they say; those that it has stay as they are."""
    redact: NotRequired[list[str] | None]
    """
    JSON Pointers to members of JSON bodies that nobody sees of its new calls, besides those that they name; see
    `redact` in a call.

    """
    tls: NotRequired[TargetSettingsTls | None]
    """
    How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within the
    directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without the setting,
    every path is. Files are read when a connection is made; their content is neither stored nor shown.

    All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
    these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if the
    target is the origin itself, by every call to it; never after a redirect from another origin.

    """
    credential: NotRequired[str | None]
    """The name of the credential of calls that name none. Calls to origins that it does not list go without."""
    sign: NotRequired[str | TargetSettingsSign | None]
    """
    How calls are signed that do not say it: the name of a credential, or an object, whose secrets are not shown.

    """


class TargetPatchBreaker(TypedDict):
    consecutiveFailures: NotRequired[int | None]
    significance: NotRequired[float | None]
    failureTime: NotRequired[str | None]
    failureRate: NotRequired[float | None]
    window: NotRequired[str | None]
    minCalls: NotRequired[int | None]
    openInterval: NotRequired[str | None]
    maxOpenInterval: NotRequired[str | None]
    probes: NotRequired[int | None]


class TargetPatchRate(TypedDict):
    perSecond: NotRequired[float | None]
    burst: NotRequired[int | None]


class TargetPatchRetryBudget(TypedDict):
    share: NotRequired[float | None]
    minPerSecond: NotRequired[int | None]


class TargetPatchTls(TypedDict):
    certificate: NotRequired[str | None]
    key: NotRequired[str | None]
    caFile: NotRequired[str | None]
    pins: NotRequired[list[str] | None]
    minVersion: NotRequired[str | None]
    origins: NotRequired[list[str] | None]


class TargetPatch(TypedDict):
    """Members of `TargetSettings`, with their ranges. Null removes what was set."""

    breaker: NotRequired[TargetPatchBreaker | None]
    maxInFlight: NotRequired[int | None]
    rate: NotRequired[TargetPatchRate | None]
    retryBudget: NotRequired[TargetPatchRetryBudget | None]
    pace: NotRequired[str | None]
    newCallShare: NotRequired[float | None]
    slowStart: NotRequired[str | None]
    attemptTimeout: NotRequired[str | None]
    sensitive: NotRequired[bool | None]
    redact: NotRequired[list[str] | None]
    tls: NotRequired[TargetPatchTls | None]
    credential: NotRequired[str | None]
    sign: NotRequired[str | dict[str, Any] | None]


CallEvent: TypeAlias = Literal['call.succeeded', 'call.failed', 'call.tripped']
"""How a call has ended, for a callback."""


class EventData(TypedDict):
    """The call as lists show it, the target, the endpoint, or why events were missed."""

    reason: Literal['restarted', 'tooOld', 'tooSlow', 'overflow', 'storeUnavailable', 'instanceChanged']


class TargetEventBreaker(TypedDict):
    state: Literal['closed', 'open', 'halfOpen']
    """The state of the breaker now."""
    openUntil: str | None
    """When probes are let through."""
    trips: int | None
    """Openings since the breaker last closed; only of an open one."""


class TargetEvent(TypedDict):
    """A target whose breaker has changed, that is down or has recovered, or that an operator has changed."""

    key: str
    breaker: TargetEventBreaker
    outage: NotRequired[Outage]
    """The outage; only in `target.down` and `target.recovered`."""
    action: NotRequired[Literal['configure', 'pause', 'resume', 'trip', 'reset', 'release']]
    """What an operator has done; only in `target.controlled`."""
    paused: NotRequired[bool]
    """Whether the target is paused now; only in `target.controlled`."""


WebhookEventType: TypeAlias = Literal['call.succeeded', 'call.failed', 'call.tripped', 'call.cancelled', 'target.opened', 'target.halfOpened', 'target.closed', 'target.down', 'target.recovered', 'target.controlled', 'endpoint.disabled']
"""The events that an endpoint can get."""


class WebhookEndpointDraft(TypedDict):
    """What a client says about a webhook endpoint."""

    url: str
    """
    Where its webhooks are sent; absolute, http or https, and allowed by the egress policy. A `PUT` with the URL as it
    is shown leaves the URL as it is.

    """
    description: NotRequired[str | None]
    """A name for people."""
    events: NotRequired[list[WebhookEventType] | None]
    """The events that it gets; all by default."""
    targets: NotRequired[list[str] | None]
    """If not empty, only events of these targets, and of calls to them."""
    enabled: NotRequired[bool | None]
    """Whether it gets webhooks."""


class WebhookEndpointSecret(TypedDict):
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
    secrets: list[WebhookEndpointSecret]
    """The secrets that sign its webhooks, newest first."""


class WebhookEndpointWithSecretSecret(TypedDict):
    id: str
    createdAt: Timestamp
    expiresAt: str | None
    """Until when it signs; null for the newest."""


class WebhookEndpointWithSecret(TypedDict):
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
    secrets: list[WebhookEndpointWithSecretSecret]
    """The secrets that sign its webhooks, newest first."""
    secret: str
    """The newest secret. It is not shown again."""


APIScope: TypeAlias = Literal['submit', 'read', 'payloads', 'operate', 'metrics', 'admin']
"""
The actions that a key allows. `submit`: submit calls. `read`: read everything except the requests of calls. `payloads`:
read those; with `submit` and `operate`, replay calls with another request. `operate`: act on calls and targets; with
`submit`, replay calls. `metrics`: read the metrics, for keys of the namespace `default`. `admin`: all of these, and
manage API keys and webhook endpoints.

"""


Namespace: TypeAlias = str
"""The namespace that a key acts in; by default that of the key that makes it."""


class APIKeyDraft(TypedDict):
    """What a client says about an API key."""

    name: str
    """A name for people."""
    scopes: list[APIScope]
    """What it allows."""
    quota: NotRequired[int | None]
    """Maximum requests per minute; no limit if left out."""
    namespace: NotRequired[Namespace | None]


class APIKey(TypedDict):
    id: str
    name: str
    namespace: Namespace
    scopes: list[APIScope]
    quota: int | None
    """Maximum requests per minute; null for no limit."""
    createdAt: Timestamp
    revokedAt: str | None


class APIKeyWithText(TypedDict):
    id: str
    name: str
    namespace: Namespace
    scopes: list[APIScope]
    quota: int | None
    """Maximum requests per minute; null for no limit."""
    createdAt: Timestamp
    revokedAt: str | None
    key: str
    """The key itself. It is not shown again."""


class ProblemError(TypedDict):
    pointer: NotRequired[str]
    """A JSON Pointer (RFC 6901) into the request body; empty for the whole of it."""
    parameter: NotRequired[str]
    """The name of a query parameter."""
    header: NotRequired[str]
    """The name of a header field."""
    detail: str
    """What is wrong there, as a clause."""


class ProblemCall(TypedDict):
    """The call that cannot be read; only with `callDamaged`."""

    id: CallID
    target: str | None
    """The target; null if it cannot be read."""
    labels: dict[str, str]
    """The labels, as far as they can be read."""


ProblemCode: TypeAlias = Literal['badRequest', 'methodNotAllowed', 'notFound', 'invalidJSON', 'bodyTooLarge', 'invalidParameter', 'unsupportedMediaType', 'unsupportedContentCoding', 'preconditionFailed', 'invalidAttribution', 'crossSiteRequest', 'hostNotAllowed', 'hostEmpty', 'forwardNotDeliberate', 'missingAPIKey', 'invalidAPIKey', 'insufficientScope', 'untrustedUser', 'userNotAdmitted', 'operatorsOnly', 'otherNamespace', 'invalidNamespace', 'quotaExceeded', 'apiKeyNotFound', 'invalidAPIKeyDraft', 'firstKeyMustBeAdmin', 'tooManyAPIKeys', 'noRandomness', 'invalidDescriptor', 'invalidOption', 'invalidBatch', 'invalidIdempotencyKey', 'idempotencyKeyReused', 'tooManyHops', 'callNotFound', 'callEnded', 'callNotEnded', 'callRunning', 'contentErased', 'notReplayable', 'callDamaged', 'callRemoved', 'backlogFull', 'namespaceBacklogFull', 'starting', 'draining', 'notReady', 'storageFull', 'storageUnavailable', 'outcomeUnknown', 'leaseLost', 'tooManyQueries', 'targetNotFound', 'invalidTarget', 'invalidTargetSettings', 'tooManyTargets', 'policyNotFound', 'invalidPolicy', 'policyTooLarge', 'tooManyPolicies', 'tooManyPreviews', 'previewsFull', 'invalidOperation', 'operationNotFound', 'operationEnded', 'tooManyOperations', 'invalidWebhookEndpoint', 'invalidRotation', 'webhookEndpointNotFound', 'webhookEndpointDisabled', 'tooManyWebhookEndpoints', 'tooManyListeners', 'credentialNotFound', 'invalidCredential', 'tooManyCredentials', 'noEncryptionKey', 'issueNotFound', 'invalidIssue', 'issueNotResolved', 'alertNotFound', 'invalidAlert', 'tooManyAlerts', 'alertWithoutReceiver', 'invalidChange', 'ownedElsewhere', 'leaderUnreachable', 'instanceUnreachable', 'notAPeer', 'invalidForward', 'forwardedTooLate', 'callInMemory']
"""
The kind of a problem: a stable word that programs can match. Later versions may add some: a program treats a code that
it does not know by its status.

"""


class BulkDryRunSkippedReasons(TypedDict):
    """
    How many for which reason: their payloads were erased, they cannot be read, they have an ordering key
    and would be replayed in another order, or they changed since they were counted.

    """

    contentErased: NotRequired[int]
    callDamaged: NotRequired[int]
    ordered: NotRequired[int]
    stateChanged: NotRequired[int]


class BulkDryRunSkipped(TypedDict):
    """Of the newest matching calls, at most 5,000, those that would be left as they are."""

    calls: int
    checked: int
    """How many were looked at."""
    reasons: BulkDryRunSkippedReasons
    """
    How many for which reason: their payloads were erased, they cannot be read, they have an ordering key
    and would be replayed in another order, or they changed since they were counted.

    """


class SecretRotation(TypedDict):
    """Give a webhook endpoint a new secret."""

    overlap: NotRequired[str | None]
    """How long the old secret also signs, 0s to 30d."""


class WebhookSecret(TypedDict):
    """Show the secret that the callbacks of calls are signed with."""

    namespace: Namespace
    secret: str


class PolicyPreview(TypedDict):
    """Show when a policy makes its attempts."""

    policy: NotRequired[PolicyOrName | None]
    idempotent: NotRequired[bool | None]
    attemptDuration: NotRequired[Duration | None]
    """Assumed duration of each attempt; up to an hour."""
    limit: NotRequired[int | None]
    """Maximum number of attempts to list."""


class CallDescriptorCallback(TypedDict):
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
    sensitive: NotRequired[bool | None]
    """
    Whether nobody may see its payloads: the header fields and the body of its request, the query of its URL, and the
    answers of its target. They are in no answer of the API, whatever the key, and in no event, webhook, span or log.
    They are erased when it ends, so that it cannot be run again or replayed afterwards. Its answers are not stored at
    all: also who waits for its end sees only the status.

    """
    redact: NotRequired[list[str] | None]
    """
    JSON Pointers (RFC 6901) to members of JSON bodies that nobody sees, such as `/card/number`; `*` in place of an
    index stands for each element of an array. In what is shown of the request and of answers, also in webhooks, their
    values are `[redacted]`; what is stored and sent stays as it is. A body that is not whole, or not JSON, is withheld.

    """
    method: NotRequired[str | None]
    """
    Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no body.
    Methods are case-sensitive: `patch` is sent as it is, with a warning.

    """
    headers: NotRequired[dict[str, Any] | None]
    """
    Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
    framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`,
    `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`, which Redial
    sets itself. `Host` and `Content-Type` have one value.

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
    keys. Names that begin with `webhook:` are reserved; `.` and `..` can be in no path, and are refused, also
    percent-encoded. It must be in the Unicode normalization form NFC.

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
    refused with a status of 4xx other than 409, or was never sent. One that ended as `attemptEndedTheService` never
    does. `answer` only answers with the call as it is. If it is left out, the setting `onRepeat` decides.

    """
    credential: NotRequired[str | None]
    """
    The name of a stored credential that proves to the target who sends the call (`PUT /v1/credentials/{name}`).

    """
    sign: NotRequired[str | CallDescriptorSign | None]
    """
    How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the name of a
    credential, or an object whose secrets belong to this call alone. They are not shown.

    """
    description: NotRequired[str | None]
    """What the call is for, in a line for people. It is shown with the call, and nothing depends on it."""
    labels: NotRequired[dict[str, str]]
    """
    Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
    normalization form NFC.

    """
    callback: NotRequired[CallDescriptorCallback | None]
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
    capture: NotRequired[CallDescriptorCapture | None]
    """How much of responses is kept."""


class ReplayChangesCallback(TypedDict):
    """Where to send the webhook when the call ends."""

    url: str
    """Where it is sent; it must be allowed by the egress policy."""
    events: NotRequired[list[CallEvent] | None]
    """The events that cause a webhook; all by default."""


class ReplayChanges(TypedDict):
    """
    Members of a descriptor; each replaces the original's. `null` removes the original's, so that the default applies.

    """

    url: NotRequired[str]
    """
    An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses are
    allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
    `egressAllow` names them.

    """
    sensitive: NotRequired[bool | None]
    """
    Whether nobody may see its payloads: the header fields and the body of its request, the query of its URL, and the
    answers of its target. They are in no answer of the API, whatever the key, and in no event, webhook, span or log.
    They are erased when it ends, so that it cannot be run again or replayed afterwards. Its answers are not stored at
    all: also who waits for its end sees only the status.

    """
    redact: NotRequired[list[str] | None]
    """
    JSON Pointers (RFC 6901) to members of JSON bodies that nobody sees, such as `/card/number`; `*` in place of an
    index stands for each element of an array. In what is shown of the request and of answers, also in webhooks, their
    values are `[redacted]`; what is stored and sent stays as it is. A body that is not whole, or not JSON, is withheld.

    """
    method: NotRequired[str | None]
    """
    Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no body.
    Methods are case-sensitive: `patch` is sent as it is, with a warning.

    """
    headers: NotRequired[dict[str, Any] | None]
    """
    Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
    framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`,
    `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`, which Redial
    sets itself. `Host` and `Content-Type` have one value.

    """
    body: NotRequired[str | None]
    """The request body, as text that is sent in UTF-8."""
    json: NotRequired[Any]
    """The request body, as JSON."""
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
    keys. Names that begin with `webhook:` are reserved; `.` and `..` can be in no path, and are refused, also
    percent-encoded. It must be in the Unicode normalization form NFC.

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
    refused with a status of 4xx other than 409, or was never sent. One that ended as `attemptEndedTheService` never
    does. `answer` only answers with the call as it is. If it is left out, the setting `onRepeat` decides.

    """
    credential: NotRequired[str | None]
    """
    The name of a stored credential that proves to the target who sends the call (`PUT /v1/credentials/{name}`).

    """
    sign: NotRequired[str | ReplayChangesSign | None]
    """
    How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the name of a
    credential, or an object whose secrets belong to this call alone. They are not shown.

    """
    description: NotRequired[str | None]
    """What the call is for, in a line for people. It is shown with the call, and nothing depends on it."""
    labels: NotRequired[dict[str, str]]
    """
    Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
    normalization form NFC.

    """
    callback: NotRequired[ReplayChangesCallback | None]
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
    capture: NotRequired[ReplayChangesCapture | None]
    """How much of responses is kept."""


class DryRun(TypedDict):
    """What a call would do."""

    startsAt: Timestamp
    """When it would start if it were submitted now."""
    call: dict[str, Any]
    """The descriptor with all defaults, without its body and its start."""
    egress: DryRunEgress
    """
    The verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is refused is answered
    with 422, as without `dryRun`.

    """
    plan: Plan
    warnings: PolicyWarnings
    """Warnings about the call."""


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
    """Without the values of secret parameters, such as `token`; that of a sensitive call without its query."""
    sensitive: NotRequired[bool]
    """True if nobody may see its payloads; left out otherwise."""
    redact: NotRequired[list[str]]
    """The members of JSON bodies that nobody sees; left out if there are none."""
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
    credential: NotRequired[str]
    """The name of its credential, if it has one."""
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
    The status that the last attempt which has ended got; null without a response. Events, and webhooks that show the
    call as lists do, leave it and `lastError` out.

    """
    lastError: NotRequired[str | None]
    """
    The code of what went wrong with that attempt or its response, such as `connectionRefused`; null if nothing did.

    """
    contentErasedAt: str | None
    """When its payloads were erased; null if they were not."""


class CallSummary(CallBase):
    """A call without its attempts and its response."""

    damage: NotRequired[str]
    """
    Why the call cannot be read; only for such a one. Its `id` is right, and so are `target` and `labels` as far as they
    are shown; the other members mean nothing. Everything else that is asked of it is answered with `callDamaged`.

    """


class EndedCalls(TypedDict):
    """Calls that ended."""

    succeeded: int
    retried: int
    """Those of `succeeded` that needed more than one attempt."""
    failed: int
    cancelled: int
    successRate: float | None
    """The share that succeeded of those that were not cancelled; null if there are none."""
    timeToSuccess: TimeToSuccess | None


class CallFilter(TypedDict):
    """
    The calls to act on: those for which all conditions hold, as for a list. The default of `state` is `failed` for `retry`
    and `replay`, and `scheduled` for `cancel` and `release`; `purge` needs it.

    """

    kind: NotRequired[CallKind]
    state: NotRequired[CallState | list[CallState]]
    """One state, or several."""
    target: NotRequired[str]
    """They have this target."""
    createdAfter: NotRequired[Timestamp]
    """They were accepted then or later."""
    createdBefore: NotRequired[Timestamp]
    """They were accepted earlier."""
    olderThan: NotRequired[Duration]
    """
    Accepted at least so long before the request. The operation shows it as `createdBefore`; if both are given, the
    earlier of the two.

    """
    attempts: NotRequired[int]
    """At least so many attempts have begun."""
    waitingOn: NotRequired[WaitReason]
    """
    They wait for this when the operation comes to them, for actions on calls that wait: `cancel` and `release`.

    """
    nextAttemptBefore: NotRequired[Timestamp | Duration]
    """
    They wait, and their next attempt may begin before this time when the operation comes to them. A duration counts
    from the request; the operation shows the time.

    """
    status: NotRequired[int | str]
    """A status such as 503, or a range such as `500-599`."""
    outcome: NotRequired[Outcome]
    failureReason: NotRequired[FailureReason]
    issue: NotRequired[IssueID]
    url: NotRequired[str]
    """Their URL, as it is shown, contains this text."""
    idempotencyKey: NotRequired[str]
    """They were accepted under this `Idempotency-Key`."""
    labels: NotRequired[dict[str, str]]
    """They have all of these labels."""


class BulkRequest(TypedDict):
    """An action on all calls that a filter selects."""

    action: BulkAction
    filter: NotRequired[CallFilter | None]
    ratePerSecond: NotRequired[int | None]
    """Maximum calls per second; 100 by default."""
    by: NotRequired[str | None]
    """Who."""
    reason: NotRequired[str | None]
    """Why."""
    all: NotRequired[bool | None]
    """
    Act on all calls that the action applies to, if `filter` is left out or has no condition except `kind`. Without it
    such a request is refused, a dry run too.

    """


class BulkOperation(TypedDict):
    id: BulkOperationID
    action: BulkAction
    filter: CallFilter
    ratePerSecond: int
    by: NotRequired[str]
    reason: NotRequired[str]
    state: Literal['counting', 'running', 'completed', 'cancelled']
    """`counting`: it counts the matching calls. `running`: it acts on them. The others are ends."""
    createdAt: Timestamp
    finishedAt: str | None
    matched: int
    """The calls that matched when they were counted; while counting, those so far."""
    done: int
    """
    Calls that it acted on. After a crash, or if an instance that led loses its lease, up to one page of calls (a tenth
    of `ratePerSecond`, at most 100) can be missing here although it acted on them, or be among the skipped.

    """
    skipped: int
    """
    Calls that it could not act on, because they had changed meanwhile, or because another instance of the service runs
    them.

    """


class AuditRecord(TypedDict):
    """Who did what. Nothing changes it; it is removed after `auditRetentionTime`."""

    id: str
    at: Timestamp
    namespace: Namespace
    """That of whoever did it."""
    actorKind: Literal['key', 'adminKey', 'person', 'anybody', 'command', 'instance']
    """
    `key`: a client with an API key. `adminKey`: with the admin key of the settings. `person`: somebody whom a trusted
    proxy has named. `anybody`: no key was needed. `command`: `redial keys` while no service ran. `instance`: the
    service itself.

    """
    actor: str | None
    """The key's id; the name of the person, or of the system's user who ran the command; null for others."""
    actorName: str | None
    """The key's name; null for others."""
    address: str | None
    """The client's address, also behind one of the `trustedProxies`; null over a Unix domain socket."""
    action: AuditAction
    object: str
    """The id, name or key of what was changed."""
    before: dict[str, Any] | None
    """The members that differ, as they were; null for none, or if that is not known. No secrets."""
    after: dict[str, Any] | None
    """The members that differ, as they are now; null for none."""


class Issue(TypedDict):
    id: IssueID
    state: IssueState
    kind: IssueKind
    target: str | None
    """Null for calls that a check of the store finds."""
    reason: FailureReason | WaitReason | None
    """Why its calls failed, or what most of them wait for; null for none."""
    error: str | None
    """
    What the last attempt of its calls failed with: the status and what the answer says, or the code and the message of
    a failure. `{n}`, `{id}`, `{time}`, `{address}` and `{email}` stand for what differs. For `down`, what the outage
    began with; for `failing`, what the calls have in common, and with what they failed last; for `held`, `paused` or
    `tripped`; for `stuck`, the check. Null if there is none, such as when a deadline passed meanwhile.

    """
    calls: int
    """The calls that it concerns now; of `failing` ones up to 1,000 are counted."""
    firstAt: Timestamp
    """Since when it is so. When the first of its calls failed; since when the oldest late one is due."""
    lastAt: Timestamp
    """When the last of its calls failed; otherwise the time of the answer."""
    lastHours: list[int] | None
    """How many of them failed in each of the last 24 hours, the latest last; null unless they have failed."""
    mark: IssueMark | None
    """The last statement about it; null for none."""
    filter: CallFilter | None
    """
    What selects its calls, in a list and in an operation; null for `stuck`. That of a target selects all that wait for
    it, also those whose own time has not come.

    """
    affected: NotRequired[AffectedCalls]


class Alert(TypedDict):
    name: AlertName
    kinds: list[IssueKind]
    targets: list[str]
    after: Duration | None
    """How long an issue has to be there; null for the usual time of each kind."""
    to: AlertTo
    """Where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing."""
    createdAt: Timestamp
    silence: AlertSilence | None
    """Until when nobody is notified that an issue begins; null if they are."""
    problem: str | None
    """Why its messages cannot be sent, in words; null if they can."""
    filter: CallFilter
    """What selects its messages in a list of calls; also others to its webhook endpoint."""


class AttemptBaseError(TypedDict):
    """
    What went wrong. Beside the outcome `answered`, whose status decides: what was wrong with the rest of the response
    (`responseCorrupt`, `responseHeaderTooLarge`, `responseIncomplete`, `timeout`).

    """

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
    error: NotRequired[AttemptBaseError]
    """
    What went wrong. Beside the outcome `answered`, whose status decides: what was wrong with the rest of the response
    (`responseCorrupt`, `responseHeaderTooLarge`, `responseIncomplete`, `timeout`).

    """
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


TargetRecent = TypedDict(
    'TargetRecent',
    {
        '1m': RecentAttempts,
        '5m': RecentAttempts,
        '15m': RecentAttempts,
    },
)


class Target(TypedDict):
    key: str
    state: Literal['up', 'degraded', 'down']
    """
    `down`: it failed, and its breaker is open or half-open. `degraded`: its outage is not over yet, its pace is
    limited, or more than a tenth of its attempts in the last five minutes failed. `up`: none of that. What operators
    have done is in `paused` and `tripped`.

    """
    outage: Outage | None
    """Its outage; null if it has none."""
    pastOutages: list[Outage]
    """
    Its outages that are over, the latest first: at most 10, of the last 30 days. They outlive restarts. `closedAt` and
    `duration` are null if nobody called the target any more.

    """
    breaker: TargetBreaker
    inFlight: int
    waiting: int
    """Due calls that wait for the target."""
    oldestDueAt: str | None
    """
    Since when the oldest of them has been due; null if there are none. If they were due before a restart, it is at
    least since then.

    """
    paused: bool
    """
    Somebody has paused it, or it is the target of a webhook endpoint that is disabled or was removed; no call to it
    starts.

    """
    tripped: bool
    """Somebody holds its breaker open."""
    heldUntil: str | None
    """
    The end of the pause that the target asked for with `Retry-After`, or with `RateLimit` fields that report an
    exhausted quota; null if there is none.

    """
    pace: TargetPace
    """
    How fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within these limits
    and as fast as the target can take them. The other members are there if it is adaptive.

    """
    settings: TargetSettings
    """The settings in effect."""
    overrides: TargetSettings
    """The settings that were set for this target by a PUT."""
    pattern: str | None
    """
    The pattern of the rule (setting `targetRules`) that applies where no PUT did, before the service's settings; null
    if none matches.

    """
    backlog: TargetBacklog
    """The calls that have not run yet, due or not, counted by their wait reason."""
    recent: TargetRecent
    """
    The results of the attempts of the last minutes, without those that were aborted by a cancel or a stop. Old attempts
    are forgotten in steps of ten seconds, in the longer windows of a minute. Not kept over a restart.

    """
    timeToSuccess: TimeToSuccess | None
    """The times of the calls that succeeded in the last 15 minutes."""
    drainEstimate: Duration | None
    """
    How long the due calls and those in flight would take if everything went on as in the last minute: the attempts
    needed, at the recent number per call, by concurrency over mean duration, and at most at the rate that is set, or
    that the pace has found. New calls are not counted. Null if unknown: its breaker is not closed, it is paused or
    asked for a pause, or no call to it has ended in the last minute.

    """


class Event(TypedDict):
    """An event of the event stream."""

    type: Literal['call.accepted', 'call.attempted', 'call.succeeded', 'call.failed', 'call.tripped', 'call.cancelled', 'target.opened', 'target.halfOpened', 'target.closed', 'target.down', 'target.recovered', 'target.controlled', 'endpoint.disabled', 'reset']
    """What has happened; `reset` tells that events were missed."""
    timestamp: str
    data: CallSummary | TargetEvent | WebhookEndpoint | EventData
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
    errors: NotRequired[list[ProblemError]]
    """
    The wrong places in the input. Each is in the body (`pointer`), in the query (`parameter`) or in the header section
    (`header`).

    """
    call: NotRequired[ProblemCall]
    """The call that cannot be read; only with `callDamaged`."""


class BulkDryRun(TypedDict):
    """Start a bulk operation: one action on all calls that match a filter."""

    dryRun: Literal[True]
    action: BulkAction
    filter: CallFilter
    matched: int
    """
    The calls that met all conditions of `filter`, as it is shown here. At least so many if the count is not
    complete.

    """
    isComplete: bool
    skipped: BulkDryRunSkipped
    """Of the newest matching calls, at most 5,000, those that would be left as they are."""
    countedAt: Timestamp
    """When they met them; `waitingOn` and `nextAttemptBefore` are as of this time."""


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


StatisticsWindowStep = TypedDict(
    'StatisticsWindowStep',
    {
        'from': Timestamp,
        'backlog': AverageBacklog,
        'calls': EndedCalls,
        'attempts': EndedAttempts,
        'latency': AttemptLatency | None,
    },
)


StatisticsWindow = TypedDict(
    'StatisticsWindow',
    {
        'window': Literal['15m', '24h', '7d'],
        'from': Timestamp,
        'step': Duration,
        'backlog': AverageBacklog,
        'calls': EndedCalls,
        'attempts': EndedAttempts,
        'latency': AttemptLatency | None,
        'steps': list[StatisticsWindowStep],
    },
)


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
