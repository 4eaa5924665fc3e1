// Made by Scripts/generate from api/openapi.yaml. DO NOT EDIT.

package redial

import (
	"encoding/json"
	"time"
)

// Instance: as in the contract.
type Instance struct {
	// Its number among the instances.
	Number int `json:"number"`
	// Where the other instances reach it; null if they cannot, and on SQLite.
	URL string `json:"url,omitempty"`
	// Its version.
	Version string `json:"version"`
	// The number of its shards.
	Shards int `json:"shards"`
	// Whether it is the one that answers.
	Self bool `json:"self"`
	// Whether it makes the changes of policies, API keys, webhook endpoints and bulk operations.
	Leads bool `json:"leads"`
}

// CallKind: `call`: a client submitted it. `webhook`: Redial made it, to report something.
type CallKind string

// The words of CallKind.
const (
	CallKindCall    CallKind = "call"
	CallKindWebhook CallKind = "webhook"
)

// CallState: `scheduled`: it waits. `running`: an attempt is in flight. The others are ends; a manual retry leads
// back to `scheduled`.
type CallState string

// The words of CallState.
const (
	CallStateScheduled CallState = "scheduled"
	CallStateRunning   CallState = "running"
	CallStateSucceeded CallState = "succeeded"
	CallStateFailed    CallState = "failed"
	CallStateCancelled CallState = "cancelled"
)

// FailureReason: why a call failed. `attemptsExhausted`: it used up `maxAttempts`. `deadlineExceeded`: the next
// attempt would begin after the deadline. `notRetryable`: the policy does not retry the last outcome, or it is not
// safe to. `tripped`: the target's breaker opened and `onTrip` is `fail`. `blocked`: the egress policy refused the
// address; or, without an attempt, the call was accepted by an older version and names a target of webhooks.
type FailureReason string

// The words of FailureReason.
const (
	FailureReasonAttemptsExhausted FailureReason = "attemptsExhausted"
	FailureReasonDeadlineExceeded  FailureReason = "deadlineExceeded"
	FailureReasonNotRetryable      FailureReason = "notRetryable"
	FailureReasonTripped           FailureReason = "tripped"
	FailureReasonBlocked           FailureReason = "blocked"
)

// WaitReason: why a scheduled call is not running; if there are several reasons, the one that lasts longest.
// `startTime`: its own start. `backoff`: the wait between attempts. `retryAfter`: the target asked for a pause.
// `breaker`: the target's breaker is open. `concurrency`: the target has its maximum of attempts in flight.
// `rateLimit`, `retryBudget`: the target has had its maximum of attempts, or retries, for now. `ordering`: an
// earlier call with the same ordering key has not ended. `paused`: somebody has paused the target, or its webhook
// endpoint is disabled or was removed. `pace`: the target gets no more requests per second than it can take.
// `connections`: all connections to its host and port are in use.
type WaitReason string

// The words of WaitReason.
const (
	WaitReasonStartTime   WaitReason = "startTime"
	WaitReasonBackoff     WaitReason = "backoff"
	WaitReasonRetryAfter  WaitReason = "retryAfter"
	WaitReasonBreaker     WaitReason = "breaker"
	WaitReasonConcurrency WaitReason = "concurrency"
	WaitReasonRateLimit   WaitReason = "rateLimit"
	WaitReasonRetryBudget WaitReason = "retryBudget"
	WaitReasonOrdering    WaitReason = "ordering"
	WaitReasonPaused      WaitReason = "paused"
	WaitReasonPace        WaitReason = "pace"
	WaitReasonConnections WaitReason = "connections"
)

// IdempotencyStatus: what a submission has done whose call was accepted before, under the same `Idempotency-Key`.
// `repeated`: nothing. `rerun`: it runs the call again, which had failed or was cancelled.
type IdempotencyStatus string

// The words of IdempotencyStatus.
const (
	IdempotencyStatusRepeated IdempotencyStatus = "repeated"
	IdempotencyStatusRerun    IdempotencyStatus = "rerun"
)

// CallDescriptorOnRepeat: what a submission does under the `Idempotency-Key` of this call once it has failed or
// was cancelled. `rerun` runs the call again, with all attempts of its policy: exactly once for each time that it
// has ended, whoever submits at the same time. A call with `"idempotent": false` runs again only if no attempt may
// have been executed: each was refused with a status of 4xx other than 409, or was never sent. `answer` only
// answers with the call as it is. If it is left out, the setting `onRepeat` decides.
type CallDescriptorOnRepeat string

// The words of CallDescriptorOnRepeat.
const (
	CallDescriptorOnRepeatRerun  CallDescriptorOnRepeat = "rerun"
	CallDescriptorOnRepeatAnswer CallDescriptorOnRepeat = "answer"
)

// CallDescriptorCallback: where to send the webhook when the call ends.
type CallDescriptorCallback struct {
	// Where it is sent; it must be allowed by the egress policy.
	URL string `json:"url"`
	// The events that cause a webhook; all by default.
	Events []CallEvent `json:"events,omitempty"`
}

// CallDescriptorCapture: how much of responses is kept.
type CallDescriptorCapture struct {
	// How much of each response's body is kept, in bytes.
	MaxBytes *int `json:"maxBytes,omitempty"`
	// Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
	// replaces them. Fields about retries still take effect.
	RedactHeaders []string `json:"redactHeaders,omitempty"`
}

// CallDescriptor: the call to make, and how to retry it. Give at most one of `body`, `json` and `bodyBase64`.
type CallDescriptor struct {
	// An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses
	// are allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
	// `egressAllow` names them.
	URL string `json:"url"`
	// Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no
	// body.
	Method string `json:"method,omitempty"`
	// Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
	// framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`,
	// `TE`, `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`,
	// which Redial sets itself.
	Headers Headers `json:"headers,omitempty"`
	// The request body, as text that is sent in UTF-8.
	Body *string `json:"body,omitempty"`
	// The request body, as JSON, sent byte for byte as you wrote it, with `Content-Type: application/json` unless the
	// headers say otherwise.
	JSON any `json:"json,omitempty"`
	// The request body, in base 64 with padding (RFC 4648).
	BodyBase64 *string `json:"bodyBase64,omitempty"`
	// How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly one
	// (`patient@3`).
	Policy *PolicyOrName `json:"policy,omitempty"`
	// How long after its acceptance the call starts; up to 366 days.
	Delay Duration `json:"delay,omitempty"`
	// When the call starts; at once if that time has passed. At most 366 days from now.
	StartAt *time.Time `json:"startAt,omitempty"`
	// Calls of one target share a breaker, limits and ordering. By default it is the URL's origin. The setting
	// `targetNaming` says who may name another: by default keys with the scope `operate`, and everybody while there
	// are no keys. Names that begin with `webhook:` are reserved. It must be in the Unicode normalization form NFC.
	Target string `json:"target,omitempty"`
	// Whether the request may be repeated once it may have been executed. By default it may, whatever its method,
	// because each attempt carries the same `Idempotency-Key`. `false` is for a target that must not get it twice:
	// then only failures before the request was sent, and 408, 425 and 429, are retried. If Redial crashes during an
	// attempt, the attempt is repeated in any case.
	Idempotent *bool `json:"idempotent,omitempty"`
	// What a submission does under the `Idempotency-Key` of this call once it has failed or was cancelled. `rerun`
	// runs the call again, with all attempts of its policy: exactly once for each time that it has ended, whoever
	// submits at the same time. A call with `"idempotent": false` runs again only if no attempt may have been
	// executed: each was refused with a status of 4xx other than 409, or was never sent. `answer` only answers with
	// the call as it is. If it is left out, the setting `onRepeat` decides.
	OnRepeat CallDescriptorOnRepeat `json:"onRepeat,omitempty"`
	// What the call is for, in a line for people. It is shown with the call, and nothing depends on it.
	Description string `json:"description,omitempty"`
	// Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
	// normalization form NFC.
	Labels map[string]string `json:"labels,omitempty"`
	// Where to send the webhook when the call ends.
	Callback *CallDescriptorCallback `json:"callback,omitempty"`
	// Whether an attempt follows redirects: 301, 302, 303, 307 and 308. All of them share the attempt's timeout;
	// method and body follow RFC 9110. When the origin changes, credentials are not sent on: `Authorization`,
	// `Cookie`, fields with a word for a credential in their name, such as `X-Api-Key`, `X-Auth` or `X-Session-Id`
	// (but not `Idempotency-Key`), and the fields in `capture.redactHeaders` and in the setting `redactHeaders`. The
	// egress policy is checked for each. Without this member, a redirect is the response.
	Redirects *Redirects `json:"redirects,omitempty"`
	// Calls of one target with the same ordering key run one at a time, in the order in which they were accepted. The
	// next one starts when the one before has ended, also if that one failed. It must be in the Unicode normalization
	// form NFC.
	OrderingKey string `json:"orderingKey,omitempty"`
	// Of the due calls of a target, the highest priority starts first. Every tenth to start is the one that has been
	// due longest.
	Priority *int `json:"priority,omitempty"`
	// How much of responses is kept.
	Capture *CallDescriptorCapture `json:"capture,omitempty"`
}

// Redirects: how many redirects an attempt follows.
type Redirects struct {
	// Maximum number of redirects; the one after them is the attempt's response.
	Max *int `json:"max,omitempty"`
}

// PolicyLastAttempt: what happens to a retry that would be too late for the deadline: `endEarly` ends the call
// now; `pullForward` makes the attempt at the last possible moment, unless the target asked for the wait.
type PolicyLastAttempt string

// The words of PolicyLastAttempt.
const (
	PolicyLastAttemptEndEarly    PolicyLastAttempt = "endEarly"
	PolicyLastAttemptPullForward PolicyLastAttempt = "pullForward"
)

// PolicyBackoffStrategy: how the base grows with the retries i, counted from 0. `exponential` b·m^i, `constant` b,
// `linear` b + i·increment, `polynomial` offset + b·(i + 1)^exponent, `fibonacci` b·F(i + 1), `power` b^(i + 1) in
// seconds, `doublingsThenLinear` b·2^i for the given doublings and then the same increase each time, `schedule` a
// list, `decorrelated` uniform between b and three times the wait before, `decorrelatedSmooth` growth by 2 from a
// median of b, spread without peaks. b is `initial`. The default is `schedule` if a schedule is given.
type PolicyBackoffStrategy string

// The words of PolicyBackoffStrategy.
const (
	PolicyBackoffStrategyExponential         PolicyBackoffStrategy = "exponential"
	PolicyBackoffStrategyConstant            PolicyBackoffStrategy = "constant"
	PolicyBackoffStrategyLinear              PolicyBackoffStrategy = "linear"
	PolicyBackoffStrategyPolynomial          PolicyBackoffStrategy = "polynomial"
	PolicyBackoffStrategyFibonacci           PolicyBackoffStrategy = "fibonacci"
	PolicyBackoffStrategyPower               PolicyBackoffStrategy = "power"
	PolicyBackoffStrategyDoublingsThenLinear PolicyBackoffStrategy = "doublingsThenLinear"
	PolicyBackoffStrategySchedule            PolicyBackoffStrategy = "schedule"
	PolicyBackoffStrategyDecorrelated        PolicyBackoffStrategy = "decorrelated"
	PolicyBackoffStrategyDecorrelatedSmooth  PolicyBackoffStrategy = "decorrelatedSmooth"
)

// PolicyBackoffThen: what follows the last wait of a schedule.
type PolicyBackoffThen string

// The words of PolicyBackoffThen.
const (
	PolicyBackoffThenRepeatLast PolicyBackoffThen = "repeatLast"
	PolicyBackoffThenStop       PolicyBackoffThen = "stop"
)

// PolicyBackoffJitter: with d the computed wait and r uniform in [0, 1): `none` d, `full` r·d, `equal` d/2 +
// r·d/2, `proportional` d·(1 − f + 2·f·r) with the `factor` f, `additive` d + r·spread, `additivePerRetry` d +
// r·spread·(i + 1).
type PolicyBackoffJitter string

// The words of PolicyBackoffJitter.
const (
	PolicyBackoffJitterNone             PolicyBackoffJitter = "none"
	PolicyBackoffJitterFull             PolicyBackoffJitter = "full"
	PolicyBackoffJitterEqual            PolicyBackoffJitter = "equal"
	PolicyBackoffJitterProportional     PolicyBackoffJitter = "proportional"
	PolicyBackoffJitterAdditive         PolicyBackoffJitter = "additive"
	PolicyBackoffJitterAdditivePerRetry PolicyBackoffJitter = "additivePerRetry"
)

// PolicyBackoffCap: how `max` limits the jittered wait. `keepingSpread`: the base is limited so that the longest
// jittered wait is `max`. `afterJitter`: the jittered wait is limited. `beforeJitter`: the base is limited, and
// jitter may exceed it.
type PolicyBackoffCap string

// The words of PolicyBackoffCap.
const (
	PolicyBackoffCapKeepingSpread PolicyBackoffCap = "keepingSpread"
	PolicyBackoffCapAfterJitter   PolicyBackoffCap = "afterJitter"
	PolicyBackoffCapBeforeJitter  PolicyBackoffCap = "beforeJitter"
)

// PolicyBackoff: the wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the
// power of i, spread by the jitter. No wait is longer than `max`, and waits stay spread there.
type PolicyBackoff struct {
	// How the base grows with the retries i, counted from 0. `exponential` b·m^i, `constant` b, `linear` b +
	// i·increment, `polynomial` offset + b·(i + 1)^exponent, `fibonacci` b·F(i + 1), `power` b^(i + 1) in seconds,
	// `doublingsThenLinear` b·2^i for the given doublings and then the same increase each time, `schedule` a list,
	// `decorrelated` uniform between b and three times the wait before, `decorrelatedSmooth` growth by 2 from a median
	// of b, spread without peaks. b is `initial`. The default is `schedule` if a schedule is given.
	Strategy PolicyBackoffStrategy `json:"strategy,omitempty"`
	// b, the first wait.
	Initial Duration `json:"initial,omitempty"`
	// The longest wait; no limit for a schedule unless given. No wait is shorter than 10 ms from the 101st retry on,
	// nor than 1 ms if `maxAttempts` sets no limit, whatever the backoff is.
	Max Duration `json:"max,omitempty"`
	// With `exponential`: m, by which each wait is longer than the one before.
	Multiplier *float64 `json:"multiplier,omitempty"`
	// With `linear`; by default equal to `initial`.
	Increment Duration `json:"increment,omitempty"`
	// With `polynomial`: the exponent.
	Exponent *float64 `json:"exponent,omitempty"`
	// With `polynomial`: the part of each wait that does not grow.
	Offset Duration `json:"offset,omitempty"`
	// With `polynomial`: the number of the first retry in the formula.
	First *int `json:"first,omitempty"`
	// With `doublingsThenLinear`: how often the wait doubles.
	Doublings *int `json:"doublings,omitempty"`
	// With `schedule`: the waits, in order.
	Schedule []Duration `json:"schedule,omitempty"`
	// What follows the last wait of a schedule.
	Then PolicyBackoffThen `json:"then,omitempty"`
	// With d the computed wait and r uniform in [0, 1): `none` d, `full` r·d, `equal` d/2 + r·d/2, `proportional` d·(1
	// − f + 2·f·r) with the `factor` f, `additive` d + r·spread, `additivePerRetry` d + r·spread·(i + 1).
	Jitter PolicyBackoffJitter `json:"jitter,omitempty"`
	// With `proportional` jitter: f, the largest share by which a wait is shorter or longer.
	Factor *float64 `json:"factor,omitempty"`
	// With `additive` and `additivePerRetry` jitter: the longest addition.
	Spread Duration `json:"spread,omitempty"`
	// How `max` limits the jittered wait. `keepingSpread`: the base is limited so that the longest jittered wait is
	// `max`. `afterJitter`: the jittered wait is limited. `beforeJitter`: the base is limited, and jitter may exceed
	// it.
	Cap PolicyBackoffCap `json:"cap,omitempty"`
}

// PolicyRetryOn: what to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and
// 511; and 409, 413 and 423 with `Retry-After`. With `"idempotent": false`: failures before the request was sent,
// and 408, 425, 429. Members that are left out keep their defaults.
type PolicyRetryOn struct {
	// Network failures: `true` or `always`, `false` or `never`, or `notSent` for those where the request certainly was
	// not sent.
	Network any `json:"network,omitempty"`
	// Statuses and ranges of them.
	Statuses *Statuses `json:"statuses,omitempty"`
	// Statuses to retry only if the response has `Retry-After`.
	StatusesWithRetryAfter *Statuses `json:"statusesWithRetryAfter,omitempty"`
}

// PolicyStopOn: statuses that end the call, even if `retryOn` has them.
type PolicyStopOn struct {
	// Statuses and ranges of them.
	Statuses *Statuses `json:"statuses,omitempty"`
}

// PolicyRetryAfterMode: whether the target's wish counts.
type PolicyRetryAfterMode string

// The words of PolicyRetryAfterMode.
const (
	PolicyRetryAfterModeRespect PolicyRetryAfterMode = "respect"
	PolicyRetryAfterModeIgnore  PolicyRetryAfterMode = "ignore"
)

// PolicyRetryAfterBeyond: what happens if the target asks for more than `max`: `stop` ends the call, because an
// earlier attempt would ignore the target's wish; `park` waits that long, up to the deadline; `clamp` waits only
// `max`.
type PolicyRetryAfterBeyond string

// The words of PolicyRetryAfterBeyond.
const (
	PolicyRetryAfterBeyondStop  PolicyRetryAfterBeyond = "stop"
	PolicyRetryAfterBeyondPark  PolicyRetryAfterBeyond = "park"
	PolicyRetryAfterBeyondClamp PolicyRetryAfterBeyond = "clamp"
)

// PolicyRetryAfter: whether to wait for the `Retry-After` of a response that is retried. It counts for the
// `statuses`, for the statuses in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`.
// With 429 and 503, `RateLimit` fields that report an exhausted quota count as one. The wait is the longer of the
// backoff and what the target asks for.
type PolicyRetryAfter struct {
	// Whether the target's wish counts.
	Mode PolicyRetryAfterMode `json:"mode,omitempty"`
	// The longest wait that the target may ask for.
	Max Duration `json:"max,omitempty"`
	// What happens if the target asks for more than `max`: `stop` ends the call, because an earlier attempt would
	// ignore the target's wish; `park` waits that long, up to the deadline; `clamp` waits only `max`.
	Beyond PolicyRetryAfterBeyond `json:"beyond,omitempty"`
	// The wait that the target asks for is longer by up to this share of it, at random, so that calls that got the
	// same answer do not return together.
	Spread *float64 `json:"spread,omitempty"`
	// The statuses whose `Retry-After` counts.
	Statuses *Statuses `json:"statuses,omitempty"`
}

// PolicyOnTrip: when the target's breaker opens: wait until it closes, or fail as `tripped`.
type PolicyOnTrip string

// The words of PolicyOnTrip.
const (
	PolicyOnTripWait PolicyOnTrip = "wait"
	PolicyOnTripFail PolicyOnTrip = "fail"
)

// Policy: how to retry. Members that are left out have their defaults.
type Policy struct {
	// Maximum number of attempts, including the first; null for as many as the deadline allows.
	MaxAttempts *int `json:"maxAttempts,omitempty"`
	// How long the call may take from its start. An attempt in flight is cut off then.
	Deadline Duration `json:"deadline,omitempty"`
	// What happens to a retry that would be too late for the deadline: `endEarly` ends the call now; `pullForward`
	// makes the attempt at the last possible moment, unless the target asked for the wait.
	LastAttempt PolicyLastAttempt `json:"lastAttempt,omitempty"`
	// How much time an attempt must have before the deadline; up to an hour.
	MinAttemptTime Duration `json:"minAttemptTime,omitempty"`
	// How long one attempt may take; up to an hour.
	AttemptTimeout Duration `json:"attemptTimeout,omitempty"`
	// The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i,
	// spread by the jitter. No wait is longer than `max`, and waits stay spread there.
	Backoff *PolicyBackoff `json:"backoff,omitempty"`
	// What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511; and 409,
	// 413 and 423 with `Retry-After`. With `"idempotent": false`: failures before the request was sent, and 408, 425,
	// 429. Members that are left out keep their defaults.
	RetryOn *PolicyRetryOn `json:"retryOn,omitempty"`
	// Statuses that end the call, even if `retryOn` has them.
	StopOn *PolicyStopOn `json:"stopOn,omitempty"`
	// Whether to wait for the `Retry-After` of a response that is retried. It counts for the `statuses`, for the
	// statuses in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`. With 429 and 503,
	// `RateLimit` fields that report an exhausted quota count as one. The wait is the longer of the backoff and what
	// the target asks for.
	RetryAfter *PolicyRetryAfter `json:"retryAfter,omitempty"`
	// When the target's breaker opens: wait until it closes, or fail as `tripped`.
	OnTrip PolicyOnTrip `json:"onTrip,omitempty"`
}

// PolicyWarning: as in the contract.
type PolicyWarning struct {
	// A stable word for programs.
	Code string `json:"code"`
	// A sentence for people.
	Detail string `json:"detail"`
}

// StoredPolicySummary: as in the contract.
type StoredPolicySummary struct {
	// Letters, digits, `.`, `_` and `-`; `preview` and `default` are taken.
	Name      string    `json:"name"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
}

// StoredPolicyVersion: as in the contract.
type StoredPolicyVersion struct {
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
}

// StoredPolicy: as in the contract.
type StoredPolicy struct {
	// Letters, digits, `.`, `_` and `-`; `preview` and `default` are taken.
	Name      string    `json:"name"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"createdAt"`
	// The policy as its author gave it.
	Policy Policy `json:"policy"`
	// Warnings about the policy, for requests that may be repeated.
	Warnings []PolicyWarning `json:"warnings"`
	// The versions that are kept, newest last.
	Versions []StoredPolicyVersion `json:"versions"`
}

// ReplayChangesOnRepeat: what a submission does under the `Idempotency-Key` of this call once it has failed or was
// cancelled. `rerun` runs the call again, with all attempts of its policy: exactly once for each time that it has
// ended, whoever submits at the same time. A call with `"idempotent": false` runs again only if no attempt may
// have been executed: each was refused with a status of 4xx other than 409, or was never sent. `answer` only
// answers with the call as it is. If it is left out, the setting `onRepeat` decides.
type ReplayChangesOnRepeat string

// The words of ReplayChangesOnRepeat.
const (
	ReplayChangesOnRepeatRerun  ReplayChangesOnRepeat = "rerun"
	ReplayChangesOnRepeatAnswer ReplayChangesOnRepeat = "answer"
)

// ReplayChangesCallback: where to send the webhook when the call ends.
type ReplayChangesCallback struct {
	// Where it is sent; it must be allowed by the egress policy.
	URL string `json:"url"`
	// The events that cause a webhook; all by default.
	Events []CallEvent `json:"events,omitempty"`
}

// ReplayChangesCapture: how much of responses is kept.
type ReplayChangesCapture struct {
	// How much of each response's body is kept, in bytes.
	MaxBytes *int `json:"maxBytes,omitempty"`
	// Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
	// replaces them. Fields about retries still take effect.
	RedactHeaders []string `json:"redactHeaders,omitempty"`
}

// ReplayChanges: members of a descriptor; each replaces the original's. `null` removes the original's, so that the
// default applies.
type ReplayChanges struct {
	// An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses
	// are allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
	// `egressAllow` names them.
	URL string `json:"url,omitempty"`
	// Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no
	// body.
	Method Nullable[string] `json:"method,omitempty"`
	// Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
	// framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`,
	// `TE`, `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`,
	// which Redial sets itself.
	Headers Nullable[Headers] `json:"headers,omitempty"`
	// The request body, as text that is sent in UTF-8.
	Body Nullable[string] `json:"body,omitempty"`
	// The request body, as JSON.
	JSON Nullable[any] `json:"json,omitempty"`
	// The request body, in base 64 with padding (RFC 4648).
	BodyBase64 Nullable[string] `json:"bodyBase64,omitempty"`
	// How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly one
	// (`patient@3`).
	Policy Nullable[PolicyOrName] `json:"policy,omitempty"`
	// How long after its acceptance the call starts; up to 366 days.
	Delay Nullable[Duration] `json:"delay,omitempty"`
	// When the call starts; at once if that time has passed. At most 366 days from now.
	StartAt Nullable[time.Time] `json:"startAt,omitempty"`
	// Calls of one target share a breaker, limits and ordering. By default it is the URL's origin. The setting
	// `targetNaming` says who may name another: by default keys with the scope `operate`, and everybody while there
	// are no keys. Names that begin with `webhook:` are reserved. It must be in the Unicode normalization form NFC.
	Target Nullable[string] `json:"target,omitempty"`
	// Whether the request may be repeated once it may have been executed. By default it may, whatever its method,
	// because each attempt carries the same `Idempotency-Key`. `false` is for a target that must not get it twice:
	// then only failures before the request was sent, and 408, 425 and 429, are retried. If Redial crashes during an
	// attempt, the attempt is repeated in any case.
	Idempotent Nullable[bool] `json:"idempotent,omitempty"`
	// What a submission does under the `Idempotency-Key` of this call once it has failed or was cancelled. `rerun`
	// runs the call again, with all attempts of its policy: exactly once for each time that it has ended, whoever
	// submits at the same time. A call with `"idempotent": false` runs again only if no attempt may have been
	// executed: each was refused with a status of 4xx other than 409, or was never sent. `answer` only answers with
	// the call as it is. If it is left out, the setting `onRepeat` decides.
	OnRepeat Nullable[ReplayChangesOnRepeat] `json:"onRepeat,omitempty"`
	// What the call is for, in a line for people. It is shown with the call, and nothing depends on it.
	Description Nullable[string] `json:"description,omitempty"`
	// Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
	// normalization form NFC.
	Labels Nullable[map[string]string] `json:"labels,omitempty"`
	// Where to send the webhook when the call ends.
	Callback Nullable[ReplayChangesCallback] `json:"callback,omitempty"`
	// Whether an attempt follows redirects: 301, 302, 303, 307 and 308. All of them share the attempt's timeout;
	// method and body follow RFC 9110. When the origin changes, credentials are not sent on: `Authorization`,
	// `Cookie`, fields with a word for a credential in their name, such as `X-Api-Key`, `X-Auth` or `X-Session-Id`
	// (but not `Idempotency-Key`), and the fields in `capture.redactHeaders` and in the setting `redactHeaders`. The
	// egress policy is checked for each. Without this member, a redirect is the response.
	Redirects Nullable[Redirects] `json:"redirects,omitempty"`
	// Calls of one target with the same ordering key run one at a time, in the order in which they were accepted. The
	// next one starts when the one before has ended, also if that one failed. It must be in the Unicode normalization
	// form NFC.
	OrderingKey Nullable[string] `json:"orderingKey,omitempty"`
	// Of the due calls of a target, the highest priority starts first. Every tenth to start is the one that has been
	// due longest.
	Priority Nullable[int] `json:"priority,omitempty"`
	// How much of responses is kept.
	Capture Nullable[ReplayChangesCapture] `json:"capture,omitempty"`
}

// DryRunEgressVerdict: a word of the contract.
type DryRunEgressVerdict string

// The words of DryRunEgressVerdict.
const (
	DryRunEgressVerdictAllowed            DryRunEgressVerdict = "allowed"
	DryRunEgressVerdictDecidedWhenDialled DryRunEgressVerdict = "decidedWhenDialled"
	DryRunEgressVerdictRefused            DryRunEgressVerdict = "refused"
)

// DryRunEgress: the verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is
// refused is answered with 422, as without `dryRun`.
type DryRunEgress struct {
	Verdict DryRunEgressVerdict `json:"verdict"`
	// The rule that refuses it, if one does.
	Rule   string `json:"rule,omitempty"`
	Detail string `json:"detail"`
}

// DryRun: what a call would do.
type DryRun struct {
	// When it would start if it were submitted now.
	StartsAt time.Time `json:"startsAt"`
	// The descriptor with all defaults, without its body and its start.
	Call any `json:"call"`
	// The verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is refused is answered
	// with 422, as without `dryRun`.
	Egress DryRunEgress `json:"egress"`
	// When a policy makes its attempts.
	Plan Plan `json:"plan"`
	// Warnings about the call.
	Warnings []PolicyWarning `json:"warnings"`
}

// BatchItem: the result of one descriptor of a batch.
type BatchItem struct {
	// The status that a single submission would have been answered with.
	Status int `json:"status"`
	// In a stream, the number of its line, from 1, with blank lines counted; null for the last line of a stream that
	// ended early.
	Line int `json:"line,omitempty"`
	// Present if it was accepted before under the same key, as in `Idempotency-Status`; the call is then shown as in
	// lists.
	IdempotencyStatus IdempotencyStatus `json:"idempotencyStatus,omitempty"`
	// In a stream with `return=minimal`, in place of the call.
	ID   string `json:"id,omitempty"`
	Call *Call  `json:"call,omitempty"`
	// An error (RFC 9457).
	Problem *Problem `json:"problem,omitempty"`
	// In a stream that ends early because the quota is used up: the fields `retry-after`, `ratelimit` and
	// `ratelimit-policy`.
	Headers map[string]string `json:"headers,omitempty"`
}

// PlanAttemptWait: the shortest and longest wait before it; null if only samples are known.
type PlanAttemptWait struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Shortest Duration `json:"shortest"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Longest Duration `json:"longest"`
}

// PlanAttemptStartsAfter: when it starts, counted from the start of the call.
type PlanAttemptStartsAfter struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Earliest Duration `json:"earliest"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P10 Duration `json:"p10"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P50 Duration `json:"p50"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P90 Duration `json:"p90"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P99 Duration `json:"p99"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Latest Duration `json:"latest"`
	// Whether these come from a formula; otherwise from samples.
	IsExact bool `json:"isExact"`
}

// PlanAttempt: as in the contract.
type PlanAttempt struct {
	Number int `json:"number"`
	// The shortest and longest wait before it; null if only samples are known.
	Wait *PlanAttemptWait `json:"wait"`
	// When it starts, counted from the start of the call.
	StartsAfter PlanAttemptStartsAfter `json:"startsAfter"`
	// The probability that it starts before the deadline.
	Chance float64 `json:"chance"`
}

// Plan: when a policy makes its attempts.
type Plan struct {
	// `default`, or the stored policy with its version; null for a policy that was given as an object.
	PolicyName string `json:"policyName,omitempty"`
	// Left out in a dry run of a call, which has it in `call`.
	Policy *Policy `json:"policy,omitempty"`
	// The attempts, up to the first that would be after the deadline.
	Attempts []PlanAttempt `json:"attempts"`
	// Whether there are no attempts after those listed.
	IsComplete bool `json:"isComplete"`
	// The latest time at which the call can still run; null if there is none.
	LatestEnd           Duration        `json:"latestEnd,omitempty"`
	ChanceOfAllAttempts float64         `json:"chanceOfAllAttempts"`
	Warnings            []PolicyWarning `json:"warnings"`
}

// ScenarioTarget: the target, outside the outage.
type ScenarioTarget struct {
	// Requests per second that the target answers. Requests that arrive faster wait in its queue for up to a second;
	// longer waits are refused with status 503. No limit by default.
	Capacity *int `json:"capacity,omitempty"`
	// Mean time of an answer.
	Latency Duration `json:"latency,omitempty"`
}

// ScenarioOutage: when the target fails, and how.
type ScenarioOutage struct {
	// When it begins, from the start of the simulation.
	From Duration `json:"from,omitempty"`
	// When it ends, likewise.
	To Duration `json:"to,omitempty"`
	// The share of requests that fail during the outage.
	ErrorRate *float64 `json:"errorRate,omitempty"`
	// How they fail. `unanswered` lasts until the attempt's timeout; a number is a status.
	Failure any `json:"failure,omitempty"`
	// Mean time of an answer during the outage; by default unchanged.
	Latency Duration `json:"latency,omitempty"`
}

// ScenarioPace: whether the pace follows the target's capacity; see the settings of a target.
type ScenarioPace string

// The words of ScenarioPace.
const (
	ScenarioPaceFixed    ScenarioPace = "fixed"
	ScenarioPaceAdaptive ScenarioPace = "adaptive"
)

// Scenario: an outage, and the calls that arrive meanwhile.
type Scenario struct {
	// How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly one
	// (`patient@3`).
	Policy *PolicyOrName `json:"policy,omitempty"`
	// Whether the requests may be repeated once they may have been executed.
	Idempotent *bool `json:"idempotent,omitempty"`
	// New calls per second, on average, at random times. With the duration, at most 100,000 calls are simulated.
	Rate *float64 `json:"rate,omitempty"`
	// How long calls arrive and the simulation runs, up to a week. By default until five minutes after the outage, or
	// twice its length.
	Duration Duration `json:"duration,omitempty"`
	// The target, outside the outage.
	Target *ScenarioTarget `json:"target,omitempty"`
	// When the target fails, and how.
	Outage *ScenarioOutage `json:"outage,omitempty"`
	// Whether the target has a circuit breaker.
	Breaker *bool `json:"breaker,omitempty"`
	// Maximum attempts in flight to the target.
	Concurrency *int `json:"concurrency,omitempty"`
	// With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time; up
	// to an hour.
	SlowStart Duration `json:"slowStart,omitempty"`
	// Whether the pace follows the target's capacity; see the settings of a target.
	Pace ScenarioPace `json:"pace,omitempty"`
	// The share of the attempts for new calls while a backlog waits too; see the settings of a target.
	NewCallShare *float64 `json:"newCallShare,omitempty"`
	// Seed of the random numbers.
	Seed *int `json:"seed,omitempty"`
}

// ForecastPeak: as in the contract.
type ForecastPeak struct {
	AttemptsPerSecond float64 `json:"attemptsPerSecond"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	At Duration `json:"at"`
	// The peak as a multiple of the rate of new calls.
	TimesTheRate float64 `json:"timesTheRate"`
}

// ForecastSeries: the load over time, one number per step.
type ForecastSeries struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Step               Duration  `json:"step"`
	CallsPerSecond     []float64 `json:"callsPerSecond"`
	AttemptsPerSecond  []float64 `json:"attemptsPerSecond"`
	OverloadPerSecond  []float64 `json:"overloadPerSecond"`
	SucceededPerSecond []float64 `json:"succeededPerSecond"`
	FailedPerSecond    []float64 `json:"failedPerSecond"`
	Unfinished         []float64 `json:"unfinished"`
	BreakerOpen        []bool    `json:"breakerOpen"`
}

// Forecast: the result of an outage.
type Forecast struct {
	// Calls that arrived.
	Calls int `json:"calls"`
	// Requests that the target got.
	Attempts int `json:"attempts"`
	// Attempts per call.
	Amplification float64 `json:"amplification"`
	// Attempts refused because the target had no capacity.
	Overload  int `json:"overload"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	// The calls that failed, by reason.
	FailedBy map[string]int `json:"failedBy"`
	// Calls that had not ended at the end of the simulation.
	Unfinished int          `json:"unfinished"`
	Peak       ForecastPeak `json:"peak"`
	// How long after the outage the number of unfinished calls was back at its earlier level; null if it was not
	// within the duration.
	RecoveredAfter Duration `json:"recoveredAfter,omitempty"`
	// How long calls that succeeded took; null if none did.
	Latency *LatencyQuantiles `json:"latency"`
	// The same of the calls that were accepted between the end of the outage and the recovery; null if there was none.
	LatencyInRecovery *LatencyQuantiles `json:"latencyInRecovery"`
	// Whether it ended early because of too many attempts.
	IsCutShort bool `json:"isCutShort"`
	Seed       int  `json:"seed"`
	// The load over time, one number per step.
	Series ForecastSeries `json:"series"`
}

// LatencyQuantiles: the times that half, 90 and 99 % did not exceed, and the longest; null if there are none.
type LatencyQuantiles struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P50 Duration `json:"p50"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P90 Duration `json:"p90"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P99 Duration `json:"p99"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Longest Duration `json:"longest"`
}

// CallBase: the members that a call always has.
type CallBase struct {
	// The id of a call.
	ID string `json:"id"`
	// `call`: a client submitted it.
	Kind CallKind `json:"kind"`
	// `scheduled`: it waits.
	State CallState `json:"state"`
	// Why a call failed.
	FailureReason FailureReason `json:"failureReason,omitempty"`
	// The issue that a failed call belongs to; null for others, and for calls of an older version.
	Issue string `json:"issue,omitempty"`
	// Why it is not running; null unless it is scheduled, and where only another instance knows why.
	WaitingOn WaitReason `json:"waitingOn,omitempty"`
	// As things stand, it does not run before this time. It may run later: calls before it in its target's queue go
	// first. While it waits for `rateLimit` or `pace`, this is when the next attempt to the target may start. Null
	// unless it is scheduled and that is known.
	NextAttemptAt *time.Time `json:"nextAttemptAt"`
	// Without the values of secret parameters, such as `token`.
	URL string `json:"url"`
	// The method.
	Method string `json:"method"`
	// The target whose breaker and limits it shares.
	Target string `json:"target"`
	// How many redirects an attempt follows; left out if 0.
	Redirects *Redirects `json:"redirects,omitempty"`
	// The call that it repeats, perhaps with changes; left out if it repeats none.
	ReplayOf string `json:"replayOf,omitempty"`
	// Its priority; only if it is not 5, the default.
	Priority *int `json:"priority,omitempty"`
	// Its ordering key, if it has one.
	OrderingKey string `json:"orderingKey,omitempty"`
	// The policy that it was accepted with, `default` or a stored one such as `patient@3`; null if it was given as an
	// object.
	Policy string `json:"policy,omitempty"`
	// What its client says that it is for; left out if it says nothing.
	Description string `json:"description,omitempty"`
	// Its labels.
	Labels     map[string]string `json:"labels"`
	CreatedAt  time.Time         `json:"createdAt"`
	FinishedAt *time.Time        `json:"finishedAt"`
	// At this time the call ends: no attempt begins later, and one in flight is cut off. Of a call that has ended, the
	// deadline that it had; null if it is damaged.
	DeadlineAt *time.Time `json:"deadlineAt"`
	// Attempts that have begun, including those that Redial itself cut off.
	AttemptCount int `json:"attemptCount"`
	// Maximum number of attempts; null if only the deadline limits them.
	MaxAttempts *int `json:"maxAttempts"`
	// The status of the last attempt that has ended; null without a response. Events, and webhooks that show the call
	// as lists do, leave it and `lastError` out.
	LastStatus *int `json:"lastStatus,omitempty"`
	// The code of what went wrong with that attempt, such as `connectionRefused`; null if it was answered.
	LastError string `json:"lastError,omitempty"`
	// When its payloads were erased; null if they were not.
	ContentErasedAt *time.Time `json:"contentErasedAt"`
}

// CallSummary: a call without its attempts and its response.
type CallSummary struct {
	CallBase
	// Why the call cannot be read; only for such a one. Its `id` is right, and so are `target` and `labels` as far as
	// they are shown; the other members mean nothing. Everything else that is asked of it is answered with
	// `callDamaged`.
	Damage string `json:"damage,omitempty"`
}

// Call: as in the contract.
type Call struct {
	CallBase
	// Warnings: settings that are allowed but rarely intended. Only in the answer that accepts the call.
	Warnings []PolicyWarning `json:"warnings,omitempty"`
	// The manual retries, latest last; at most the latest 100.
	Retries []ManualRetry `json:"retries"`
	// How long it waited before the attempts that have ended, all together.
	Waited map[string]Duration `json:"waited"`
	// The attempts that have ended, oldest first.
	Attempts []Attempt `json:"attempts"`
	// The stored part of the last attempt's response.
	Response *Response `json:"response"`
	// The whole policy that it was accepted with, also if a stored one has changed since. In answers about one call,
	// not in the answer that accepts it.
	PolicyInForce *Policy `json:"policyInForce,omitempty"`
	// The request of a call, as the client gave it; shown with `include=request`.
	Request *Request `json:"request,omitempty"`
}

// RequestEncoding: whether `body` is text or base 64; null if it was erased.
type RequestEncoding string

// The words of RequestEncoding.
const (
	RequestEncodingUtf8   RequestEncoding = "utf8"
	RequestEncodingBase64 RequestEncoding = "base64"
)

// Request: the request of a call, as the client gave it; shown with `include=request`. Values of secret header
// fields and URL parameters are `REDACTED`. If the content was erased, there are no header fields and no body.
type Request struct {
	Method  string              `json:"method"`
	URL     string              `json:"url"`
	Headers map[string][]string `json:"headers"`
	// The body, or its first mebibyte; null if it was erased.
	Body *string `json:"body"`
	// Whether `body` is text or base 64; null if it was erased.
	Encoding RequestEncoding `json:"encoding,omitempty"`
	// The size of the whole body, in bytes; null if it was erased.
	Size *int `json:"size"`
	// Whether the body is longer than shown.
	Truncated bool `json:"truncated"`
	// When the content was erased; null if it was not.
	ErasedAt *time.Time `json:"erasedAt"`
}

// StatisticsWindowWindow: a word of the contract.
type StatisticsWindowWindow string

// The words of StatisticsWindowWindow.
const (
	StatisticsWindowWindow15m StatisticsWindowWindow = "15m"
	StatisticsWindowWindow24h StatisticsWindowWindow = "24h"
	StatisticsWindowWindow7d  StatisticsWindowWindow = "7d"
)

// StatisticsWindowStep: as in the contract.
type StatisticsWindowStep struct {
	From time.Time `json:"from"`
	// How many calls were due and waited for their target, on average over the time.
	Backlog float64 `json:"backlog"`
	// Calls that ended.
	Calls EndedCalls `json:"calls"`
	// Attempts after which the call succeeded, and others.
	Attempts EndedAttempts `json:"attempts"`
	// The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none.
	Latency *AttemptLatency `json:"latency"`
}

// StatisticsWindow: as in the contract.
type StatisticsWindow struct {
	Window StatisticsWindowWindow `json:"window"`
	// When the first step begins.
	From time.Time `json:"from"`
	// The length of a step.
	Step Duration `json:"step"`
	// How many calls were due and waited for their target, on average over the time.
	Backlog float64 `json:"backlog"`
	// Calls that ended.
	Calls EndedCalls `json:"calls"`
	// Attempts after which the call succeeded, and others.
	Attempts EndedAttempts `json:"attempts"`
	// The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none.
	Latency *AttemptLatency        `json:"latency"`
	Steps   []StatisticsWindowStep `json:"steps"`
}

// EndedCalls: calls that ended.
type EndedCalls struct {
	Succeeded int `json:"succeeded"`
	// Those of `succeeded` that needed more than one attempt.
	Retried   int `json:"retried"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	// The share that succeeded of those that were not cancelled; null if there are none.
	SuccessRate *float64 `json:"successRate"`
	// How long the calls took that succeeded, since they were due for their first attempts: the time that 50, 95 and
	// 99 % of them did not exceed, within a fifth; null if there are none.
	TimeToSuccess *TimeToSuccess `json:"timeToSuccess"`
}

// TimeToSuccess: how long the calls took that succeeded, since they were due for their first attempts: the time
// that 50, 95 and 99 % of them did not exceed, within a fifth; null if there are none.
type TimeToSuccess struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P50 Duration `json:"p50"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P95 Duration `json:"p95"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P99 Duration `json:"p99"`
}

// EndedAttempts: attempts after which the call succeeded, and others.
type EndedAttempts struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}

// AttemptLatency: the latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none.
type AttemptLatency struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P50 Duration `json:"p50"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P95 Duration `json:"p95"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	P99 Duration `json:"p99"`
}

// BulkAction: `retry`: retry calls that have ended. `cancel`: cancel calls that have not. `release`: run waiting
// calls now. `purge`: remove calls that have ended. `replay`: submit a new call like each that has ended.
type BulkAction string

// The words of BulkAction.
const (
	BulkActionRetry   BulkAction = "retry"
	BulkActionCancel  BulkAction = "cancel"
	BulkActionRelease BulkAction = "release"
	BulkActionPurge   BulkAction = "purge"
	BulkActionReplay  BulkAction = "replay"
)

// CallFilter: the calls to act on: those for which all conditions hold, as for a list. The default of `state` is
// `failed` for `retry` and `replay`, and `scheduled` for `cancel` and `release`; `purge` needs it.
type CallFilter struct {
	// `call`: a client submitted it.
	Kind CallKind `json:"kind,omitempty"`
	// One state, or several.
	State CallStates `json:"state,omitempty"`
	// They have this target.
	Target string `json:"target,omitempty"`
	// They were accepted then or later.
	CreatedAfter *time.Time `json:"createdAfter,omitempty"`
	// They were accepted earlier.
	CreatedBefore *time.Time `json:"createdBefore,omitempty"`
	// Accepted at least so long before the request. The operation shows it as `createdBefore`; if both are given, the
	// earlier of the two.
	OlderThan Duration `json:"olderThan,omitempty"`
	// At least so many attempts have begun.
	Attempts *int `json:"attempts,omitempty"`
	// They wait for this when the operation comes to them, for actions on calls that wait: `cancel` and `release`.
	WaitingOn WaitReason `json:"waitingOn,omitempty"`
	// They wait, and their next attempt may begin before this time when the operation comes to them. A duration counts
	// from the request; the operation shows the time.
	NextAttemptBefore Moment `json:"nextAttemptBefore,omitempty"`
	// A status such as 503, or a range such as `500-599`.
	Status any `json:"status,omitempty"`
	// How far the attempt got.
	Outcome Outcome `json:"outcome,omitempty"`
	// Why a call failed.
	FailureReason FailureReason `json:"failureReason,omitempty"`
	// The id of an issue.
	Issue string `json:"issue,omitempty"`
	// Their URL, as it is shown, contains this text.
	URL string `json:"url,omitempty"`
	// They were accepted under this `Idempotency-Key`.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// They have all of these labels.
	Labels map[string]string `json:"labels,omitempty"`
}

// BulkRequest: an action on all calls that a filter selects.
type BulkRequest struct {
	// `retry`: retry calls that have ended.
	Action BulkAction `json:"action"`
	// The calls to act on: those for which all conditions hold, as for a list.
	Filter *CallFilter `json:"filter,omitempty"`
	// Maximum calls per second; 100 by default.
	RatePerSecond *int `json:"ratePerSecond,omitempty"`
	// Who.
	By string `json:"by,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
	// Act on all calls that the action applies to, if `filter` is left out or has no condition except `kind`. Without
	// it such a request is refused, a dry run too.
	All *bool `json:"all,omitempty"`
}

// BulkOperationState: `counting`: it counts the matching calls. `running`: it acts on them. The others are ends.
type BulkOperationState string

// The words of BulkOperationState.
const (
	BulkOperationStateCounting  BulkOperationState = "counting"
	BulkOperationStateRunning   BulkOperationState = "running"
	BulkOperationStateCompleted BulkOperationState = "completed"
	BulkOperationStateCancelled BulkOperationState = "cancelled"
)

// BulkOperation: as in the contract.
type BulkOperation struct {
	// The id of a bulk operation.
	ID string `json:"id"`
	// `retry`: retry calls that have ended.
	Action BulkAction `json:"action"`
	// The calls to act on: those for which all conditions hold, as for a list.
	Filter        CallFilter `json:"filter"`
	RatePerSecond int        `json:"ratePerSecond"`
	By            string     `json:"by,omitempty"`
	Reason        string     `json:"reason,omitempty"`
	// `counting`: it counts the matching calls. `running`: it acts on them. The others are ends.
	State      BulkOperationState `json:"state"`
	CreatedAt  time.Time          `json:"createdAt"`
	FinishedAt *time.Time         `json:"finishedAt"`
	// The calls that matched when they were counted; while counting, those so far.
	Matched int `json:"matched"`
	// Calls that it acted on. After a crash, or if an instance that led loses its lease, up to one page of calls (a
	// tenth of `ratePerSecond`, at most 100) can be missing here although it acted on them, or be among the skipped.
	Done int `json:"done"`
	// Calls that it could not act on, because they had changed meanwhile, or because another instance of the service
	// runs them.
	Skipped int `json:"skipped"`
}

// IssueState: `open`: there is no statement about it. `acknowledged`: somebody knows of it. `resolved`: it has no
// calls any more, or somebody has said that it is done with, and no call has failed so since.
type IssueState string

// The words of IssueState.
const (
	IssueStateOpen         IssueState = "open"
	IssueStateAcknowledged IssueState = "acknowledged"
	IssueStateResolved     IssueState = "resolved"
)

// IssueChange: what somebody states about an issue.
type IssueChange struct {
	// `open`: there is no statement about it.
	State IssueState `json:"state"`
	// Until when it counts as acknowledged, or how long from now; 7 days if it is left out.
	Until Moment `json:"until,omitempty"`
	// Who.
	By string `json:"by,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
}

// IssueType: whether its calls have failed, or are late.
type IssueType string

// The words of IssueType.
const (
	IssueTypeFailed IssueType = "failed"
	IssueTypeLate   IssueType = "late"
)

// IssueReason: why its calls failed, or what they wait for.
type IssueReason string

// The words of IssueReason.
const (
	IssueReasonAttemptsExhausted IssueReason = "attemptsExhausted"
	IssueReasonDeadlineExceeded  IssueReason = "deadlineExceeded"
	IssueReasonNotRetryable      IssueReason = "notRetryable"
	IssueReasonTripped           IssueReason = "tripped"
	IssueReasonBlocked           IssueReason = "blocked"
	IssueReasonStartTime         IssueReason = "startTime"
	IssueReasonBackoff           IssueReason = "backoff"
	IssueReasonRetryAfter        IssueReason = "retryAfter"
	IssueReasonBreaker           IssueReason = "breaker"
	IssueReasonConcurrency       IssueReason = "concurrency"
	IssueReasonRateLimit         IssueReason = "rateLimit"
	IssueReasonRetryBudget       IssueReason = "retryBudget"
	IssueReasonOrdering          IssueReason = "ordering"
	IssueReasonPaused            IssueReason = "paused"
	IssueReasonPace              IssueReason = "pace"
	IssueReasonConnections       IssueReason = "connections"
)

// IssueMarkState: a word of the contract.
type IssueMarkState string

// The words of IssueMarkState.
const (
	IssueMarkStateAcknowledged IssueMarkState = "acknowledged"
	IssueMarkStateResolved     IssueMarkState = "resolved"
)

// IssueMark: as in the contract.
type IssueMark struct {
	State  IssueMarkState `json:"state"`
	At     time.Time      `json:"at"`
	By     string         `json:"by,omitempty"`
	Reason string         `json:"reason,omitempty"`
	Until  *time.Time     `json:"until"`
}

// Issue: as in the contract.
type Issue struct {
	// The id of an issue.
	ID string `json:"id"`
	// `open`: there is no statement about it.
	State IssueState `json:"state"`
	// Whether its calls have failed, or are late.
	Type IssueType `json:"type"`
	// `call`: a client submitted it.
	Kind   CallKind `json:"kind"`
	Target string   `json:"target"`
	// Why its calls failed, or what they wait for.
	Reason IssueReason `json:"reason"`
	// What the last attempt of its calls failed with: the status and what the answer says, or the code and the message
	// of a failure. `{n}`, `{id}`, `{time}`, `{address}` and `{email}` stand for what differs. For late calls, what
	// their target's outage began with. Null if no attempt ended the calls, such as when a deadline passed meanwhile.
	Error string `json:"error,omitempty"`
	// The calls that are failed or late now; 0 if it is resolved and shown because of `mark`.
	Calls int `json:"calls"`
	// When the first of them failed, or since when the oldest late one is due.
	FirstAt time.Time `json:"firstAt"`
	// When the last of them failed; for late ones, the time of the answer.
	LastAt time.Time `json:"lastAt"`
	// How many of them failed in each of the last 24 hours, the latest last; null for late ones.
	LastHours []int `json:"lastHours,omitempty"`
	// The newest of them; null for late ones.
	Example string `json:"example,omitempty"`
	// The last statement about it; null for none.
	Mark *IssueMark `json:"mark"`
	// What selects its calls, in a list and in an operation. That of late calls to a paused target also selects those
	// whose own time has not come: they wait for the pause, too, and are not late.
	Filter CallFilter `json:"filter"`
	// Whom an issue concerns: its newest calls, at most 1,000, summed by the path of their URLs and by label.
	Affected *AffectedCalls `json:"affected,omitempty"`
}

// AffectedCallsPath: as in the contract.
type AffectedCallsPath struct {
	Path  string `json:"path"`
	Calls int    `json:"calls"`
}

// AffectedCallsLabel: as in the contract.
type AffectedCallsLabel struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Calls int    `json:"calls"`
}

// AffectedCalls: whom an issue concerns: its newest calls, at most 1,000, summed by the path of their URLs and by
// label. Only in the answer about one issue.
type AffectedCalls struct {
	// How many calls were counted.
	Counted int `json:"counted"`
	// Whether these are all of the issue.
	IsComplete bool `json:"isComplete"`
	// The 10 paths of the most calls. `{n}` and `{id}` stand for numbers and ids.
	Paths []AffectedCallsPath `json:"paths"`
	// The 20 labels of the most calls.
	Labels []AffectedCallsLabel `json:"labels"`
}

// AlertCondition: `targetDown`: a target has an outage (5 minutes). `targetFails`: no attempt at a target has
// succeeded in a quarter of an hour, and so few calls fail that it has no outage (5 minutes). `targetHeld`:
// somebody has paused or tripped a target, and calls wait (30 minutes). `callsLate`: calls have been late for a
// target that is neither down nor held (5 minutes). `deadlinesMissed`: calls of a backlog will miss their
// deadlines (5 minutes). `callsFailed`: calls have failed, all their attempts used or given up; one incident for
// each issue (1 minute). `callsStuck`: a check of the store finds calls that nothing moves (5 minutes; only in the
// namespace `default`). The times are those of `after`, unless an alert has its own.
type AlertCondition string

// The words of AlertCondition.
const (
	AlertConditionTargetDown      AlertCondition = "targetDown"
	AlertConditionTargetFails     AlertCondition = "targetFails"
	AlertConditionTargetHeld      AlertCondition = "targetHeld"
	AlertConditionCallsLate       AlertCondition = "callsLate"
	AlertConditionDeadlinesMissed AlertCondition = "deadlinesMissed"
	AlertConditionCallsFailed     AlertCondition = "callsFailed"
	AlertConditionCallsStuck      AlertCondition = "callsStuck"
)

// AlertDraftTo: where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to
// be allowed by the egress policy.
type AlertDraftTo struct {
	// The id of a webhook endpoint; it gets events of type `alert.opened` and `alert.ended`, signed.
	Endpoint string `json:"endpoint,omitempty"`
	// The URL of an incoming webhook of Slack.
	Slack string `json:"slack,omitempty"`
	// The URL of a workflow of Microsoft Teams that posts when a webhook request comes.
	Teams string `json:"teams,omitempty"`
	// The integration key of a PagerDuty service (Events API v2).
	PagerDuty string `json:"pagerDuty,omitempty"`
	// Only for PagerDuty, where its events go; such as `https://events.eu.pagerduty.com/v2/enqueue`.
	URL string `json:"url,omitempty"`
}

// AlertDraft: what a client says about an alert.
type AlertDraft struct {
	// What it watches for; all by default.
	Conditions []AlertCondition `json:"conditions,omitempty"`
	// If not empty, only conditions of these targets.
	Targets []string `json:"targets,omitempty"`
	// How long a condition has to be true, up to 7 days; by default the usual time of each.
	After Duration `json:"after,omitempty"`
	// Where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to be allowed by
	// the egress policy.
	To *AlertDraftTo `json:"to,omitempty"`
}

// AlertTo: where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing.
type AlertTo struct {
	Endpoint  string `json:"endpoint,omitempty"`
	Slack     string `json:"slack,omitempty"`
	Teams     string `json:"teams,omitempty"`
	PagerDuty string `json:"pagerDuty,omitempty"`
	URL       string `json:"url,omitempty"`
}

// AlertSilence: as in the contract.
type AlertSilence struct {
	Until  time.Time `json:"until"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Alert: as in the contract.
type Alert struct {
	// Letters, digits, `.`, `_` and `-`.
	Name       string           `json:"name"`
	Conditions []AlertCondition `json:"conditions"`
	Targets    []string         `json:"targets"`
	// How long a condition has to be true; null for the usual time of each.
	After Duration `json:"after,omitempty"`
	// Where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing.
	To        AlertTo   `json:"to"`
	CreatedAt time.Time `json:"createdAt"`
	// Until when nobody is notified that an incident begins; null if they are.
	Silence *AlertSilence `json:"silence"`
	// Why its messages cannot be sent, in words; null if they can.
	Problem string `json:"problem,omitempty"`
	// What selects its messages in a list of calls; also others to its webhook endpoint.
	Filter CallFilter `json:"filter"`
}

// Silence: whether messages of an alert are held back.
type Silence struct {
	// False to end it.
	Silenced bool `json:"silenced"`
	// Until when, or how long from now; 1 hour if it is left out.
	Until Moment `json:"until,omitempty"`
	// Who.
	By string `json:"by,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
}

// Acknowledgement: whether somebody knows of an incident.
type Acknowledgement struct {
	// False to end it.
	Acknowledged bool `json:"acknowledged"`
	// Until when, or how long from now; 1 day if it is left out.
	Until Moment `json:"until,omitempty"`
	// Who.
	By string `json:"by,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
}

// IncidentState: `open`; `acknowledged`: somebody knows of it; `ended`: its condition is not true any more.
type IncidentState string

// The words of IncidentState.
const (
	IncidentStateOpen         IncidentState = "open"
	IncidentStateAcknowledged IncidentState = "acknowledged"
	IncidentStateEnded        IncidentState = "ended"
)

// IncidentAcknowledged: as in the contract.
type IncidentAcknowledged struct {
	At     time.Time `json:"at"`
	Until  time.Time `json:"until"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Incident: as in the contract.
type Incident struct {
	ID string `json:"id"`
	// Letters, digits, `.`, `_` and `-`.
	Alert string `json:"alert"`
	// `targetDown`: a target has an outage (5 minutes).
	Condition AlertCondition `json:"condition"`
	// `open`; `acknowledged`: somebody knows of it; `ended`: its condition is not true any more.
	State  IncidentState `json:"state"`
	Target string        `json:"target,omitempty"`
	// What has happened, in words, as it was when somebody was notified last.
	Summary string `json:"summary"`
	// The command that shows more.
	Action string `json:"action"`
	// How many calls it was about then.
	Calls int `json:"calls"`
	// Since when the condition was true.
	Since time.Time `json:"since"`
	// When it had been true for long enough.
	OpenedAt time.Time `json:"openedAt"`
	// When it was not true any more; null as long as it is.
	EndedAt *time.Time `json:"endedAt"`
	// How long it lasted, or has lasted so far.
	Duration Duration `json:"duration"`
	// When somebody was notified last that it is open; null if a silence has kept that back.
	NotifiedAt *time.Time `json:"notifiedAt"`
	// Who knows of it, and until when that counts; null if nobody does, or that time is over.
	Acknowledged *IncidentAcknowledged `json:"acknowledged"`
}

// Outcome: how far the attempt got. `answered`: a response came. `notSent`: the request certainly was not sent.
// `maybeSent`: it was sent, at least in part, and no usable response came. `unusable`: it cannot succeed as it is.
// `localFault`: Redial's side failed. `interrupted`: Redial stopped or died meanwhile. `cancelled`: the call was
// cancelled. `blocked`: the egress policy refused the address, and no connection was made.
type Outcome string

// The words of Outcome.
const (
	OutcomeAnswered    Outcome = "answered"
	OutcomeNotSent     Outcome = "notSent"
	OutcomeMaybeSent   Outcome = "maybeSent"
	OutcomeUnusable    Outcome = "unusable"
	OutcomeLocalFault  Outcome = "localFault"
	OutcomeInterrupted Outcome = "interrupted"
	OutcomeCancelled   Outcome = "cancelled"
	OutcomeBlocked     Outcome = "blocked"
)

// Attribution: who wants an action, and why, in their own words.
type Attribution struct {
	// Who.
	By string `json:"by,omitempty"`
	// Why.
	Reason string `json:"reason,omitempty"`
}

// ManualRetry: as in the contract.
type ManualRetry struct {
	At time.Time `json:"at"`
	// Attempts that had begun before it.
	AfterAttempt int    `json:"afterAttempt"`
	By           string `json:"by,omitempty"`
	Reason       string `json:"reason,omitempty"`
}

// AttemptBaseError: what went wrong, if there was no response.
type AttemptBaseError struct {
	// A stable word.
	Code string `json:"code"`
	// The phase that an attempt reached, or in which it failed.
	Phase   ExchangePhase `json:"phase,omitempty"`
	Message string        `json:"message"`
}

// AttemptBase: as in the contract.
type AttemptBase struct {
	Number    int       `json:"number"`
	StartedAt time.Time `json:"startedAt"`
	// How far the attempt got.
	Outcome Outcome `json:"outcome"`
	Status  *int    `json:"status"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Duration Duration `json:"duration"`
	// What went wrong, if there was no response.
	Error *AttemptBaseError `json:"error,omitempty"`
	// The decision after an attempt, and its reason.
	Decision *Decision `json:"decision"`
}

// Attempt: as in the contract.
type Attempt struct {
	AttemptBase
	// How long the call waited before it, since the attempt before or its acceptance. Events have `heldBack`.
	Waited map[string]Duration `json:"waited,omitempty"`
	// Only in events: what held it back after it was due. Left out if nothing did for long, and if nobody knows since
	// when it was due: a retry that waited in the store.
	HeldBack map[string]Duration `json:"heldBack,omitempty"`
}

// AttemptWithResponse: as in the contract.
type AttemptWithResponse struct {
	AttemptBase
	// How long the call waited before it, since the attempt before or its acceptance.
	Waited map[string]Duration `json:"waited"`
	// The phases of an attempt's request and response.
	Exchange *Exchange `json:"exchange"`
	// The stored part of a response, with its body if requested.
	Response *AttemptResponse `json:"response"`
}

// ExchangePhase: the phase that an attempt reached, or in which it failed.
type ExchangePhase string

// The words of ExchangePhase.
const (
	ExchangePhaseSetup    ExchangePhase = "setup"
	ExchangePhaseResolve  ExchangePhase = "resolve"
	ExchangePhaseConnect  ExchangePhase = "connect"
	ExchangePhaseTLS      ExchangePhase = "tls"
	ExchangePhaseRequest  ExchangePhase = "request"
	ExchangePhaseResponse ExchangePhase = "response"
)

// ExchangeHTTPVersion: the version of HTTP.
type ExchangeHTTPVersion string

// The words of ExchangeHTTPVersion.
const (
	ExchangeHTTPVersion1_0 ExchangeHTTPVersion = "1.0"
	ExchangeHTTPVersion1_1 ExchangeHTTPVersion = "1.1"
	ExchangeHTTPVersion2   ExchangeHTTPVersion = "2"
)

// Exchange: the phases of an attempt's request and response. Times count from its start; phases that did not
// happen, such as the name lookup on a kept connection, are left out. After redirects, everything except
// `redirectCount` is about the last request.
type Exchange struct {
	// The phase that an attempt reached, or in which it failed.
	Phase ExchangePhase `json:"phase"`
	// When the name was resolved.
	Resolved Duration `json:"resolved,omitempty"`
	// When the connection was made.
	Connected Duration `json:"connected,omitempty"`
	// When the TLS session was made.
	Secured Duration `json:"secured,omitempty"`
	// When the first byte of the response arrived.
	FirstByte Duration `json:"firstByte,omitempty"`
	BytesSent int      `json:"bytesSent"`
	// Before decompression.
	BytesReceived int    `json:"bytesReceived"`
	RedirectCount *int   `json:"redirectCount,omitempty"`
	RemoteAddress string `json:"remoteAddress,omitempty"`
	// The version of HTTP.
	HTTPVersion      ExchangeHTTPVersion `json:"httpVersion,omitempty"`
	ConnectionReused bool                `json:"connectionReused"`
}

// DecisionAction: a word of the contract.
type DecisionAction string

// The words of DecisionAction.
const (
	DecisionActionSucceed DecisionAction = "succeed"
	DecisionActionRetry   DecisionAction = "retry"
	DecisionActionPark    DecisionAction = "park"
	DecisionActionStop    DecisionAction = "stop"
)

// DecisionClampedBy: a word of the contract.
type DecisionClampedBy string

// The words of DecisionClampedBy.
const (
	DecisionClampedByMax      DecisionClampedBy = "max"
	DecisionClampedByDeadline DecisionClampedBy = "deadline"
	DecisionClampedByMin      DecisionClampedBy = "min"
)

// Decision: the decision after an attempt, and its reason.
type Decision struct {
	Action DecisionAction `json:"action"`
	// Why a call failed.
	Reason FailureReason `json:"reason,omitempty"`
	// The wait.
	After Duration `json:"after,omitempty"`
	// When the parked call is tried again.
	Until *time.Time `json:"until,omitempty"`
	// What the wait is for, unless the backoff.
	WaitingOn WaitReason `json:"waitingOn,omitempty"`
	Because   string     `json:"because,omitempty"`
	// The backoff before jitter.
	Computed Duration `json:"computed,omitempty"`
	// What the jitter has multiplied it by.
	JitterFactor *float64 `json:"jitterFactor,omitempty"`
	// What limited the wait.
	ClampedBy []DecisionClampedBy `json:"clampedBy,omitempty"`
}

// ResponseEncoding: a word of the contract.
type ResponseEncoding string

// The words of ResponseEncoding.
const (
	ResponseEncodingUtf8   ResponseEncoding = "utf8"
	ResponseEncodingBase64 ResponseEncoding = "base64"
)

// Response: as in the contract.
type Response struct {
	Status *int `json:"status"`
	// Header fields, their names in lower case.
	Headers map[string][]string `json:"headers"`
	// The first bytes of the body.
	Body     string           `json:"body"`
	Encoding ResponseEncoding `json:"encoding"`
	// Whether the body was longer. It is also true for an old attempt whose body is not kept any more (the 20 latest);
	// the body is then empty.
	Truncated bool `json:"truncated"`
}

// AttemptResponseEncoding: a word of the contract.
type AttemptResponseEncoding string

// The words of AttemptResponseEncoding.
const (
	AttemptResponseEncodingUtf8   AttemptResponseEncoding = "utf8"
	AttemptResponseEncodingBase64 AttemptResponseEncoding = "base64"
)

// AttemptResponse: the stored part of a response, with its body if requested.
type AttemptResponse struct {
	Status *int `json:"status"`
	// Header fields, their names in lower case.
	Headers map[string][]string `json:"headers"`
	// The first bytes of the body.
	Body     *string                 `json:"body,omitempty"`
	Encoding AttemptResponseEncoding `json:"encoding,omitempty"`
	// Whether the body was longer. It is also true for an old attempt whose body is not kept any more (the 20 latest);
	// the body is then empty.
	Truncated bool `json:"truncated"`
}

// Outage: one outage of a target, however often its breaker opens meanwhile. It is over once the breaker has been
// closed for 30 s; or, because nobody calls the target any more, if no call was due and none was sent for 16
// minutes.
type Outage struct {
	// When the target began to fail.
	Since time.Time `json:"since"`
	// What the attempt failed with that opened the breaker; a word such as `connectionRefused`, or a status.
	// `silence`: it was ended after a long one. `failureRate`: too many others failed.
	Cause string `json:"cause"`
	// When the breaker closed; null while it is open or half-open, and if nobody calls the target any more.
	ClosedAt *time.Time `json:"closedAt"`
	// The time between both; null until then.
	Duration Duration `json:"duration,omitempty"`
	// The most calls that were due at once, of the times at which the breaker changed.
	CallsWaited int `json:"callsWaited"`
}

// TargetState: `down`: it failed, and its breaker is open or half-open. `degraded`: its outage is not over yet,
// its pace is limited, or more than a tenth of its attempts in the last five minutes failed. `up`: none of that.
// What operators have done is in `paused` and `tripped`.
type TargetState string

// The words of TargetState.
const (
	TargetStateUp       TargetState = "up"
	TargetStateDegraded TargetState = "degraded"
	TargetStateDown     TargetState = "down"
)

// TargetBreakerState: `open`: no attempt is made. `halfOpen`: probes are made.
type TargetBreakerState string

// The words of TargetBreakerState.
const (
	TargetBreakerStateClosed   TargetBreakerState = "closed"
	TargetBreakerStateOpen     TargetBreakerState = "open"
	TargetBreakerStateHalfOpen TargetBreakerState = "halfOpen"
)

// TargetBreaker: as in the contract.
type TargetBreaker struct {
	// `open`: no attempt is made. `halfOpen`: probes are made.
	State TargetBreakerState `json:"state"`
	// When probes are let through; null unless it is open.
	OpenUntil *time.Time `json:"openUntil"`
	// Openings since it last closed.
	Trips               int `json:"trips"`
	ConsecutiveFailures int `json:"consecutiveFailures"`
}

// TargetPaceMode: whether it is adapted to what the target can take.
type TargetPaceMode string

// The words of TargetPaceMode.
const (
	TargetPaceModeFixed    TargetPaceMode = "fixed"
	TargetPaceModeAdaptive TargetPaceMode = "adaptive"
)

// TargetPaceReason: why the rate changed last. `noOverload`: there was no sign of overload yet, or none for long.
// `recovered`: the target works again after an outage. `grew`: it took all that it got. `refused`: it refused
// requests, or did not answer them in time. `queued`: it answered the slower the more it got. `notLoad`: a lower
// rate did not help, so a higher one is tried, or the signs were not caused by load.
type TargetPaceReason string

// The words of TargetPaceReason.
const (
	TargetPaceReasonNoOverload TargetPaceReason = "noOverload"
	TargetPaceReasonRecovered  TargetPaceReason = "recovered"
	TargetPaceReasonGrew       TargetPaceReason = "grew"
	TargetPaceReasonRefused    TargetPaceReason = "refused"
	TargetPaceReasonQueued     TargetPaceReason = "queued"
	TargetPaceReasonNotLoad    TargetPaceReason = "notLoad"
)

// TargetPace: how fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within
// these limits and as fast as the target can take them. The other members are there if it is adaptive.
type TargetPace struct {
	// Whether it is adapted to what the target can take.
	Mode TargetPaceMode `json:"mode"`
	// Attempts per second that may start, found from what the target refused and how fast it answered; null without a
	// limit, because it has shown no sign of overload.
	Rate *float64 `json:"rate,omitempty"`
	// Requests per second that the target processed, on average of its last requests.
	DeliveredPerSecond *float64 `json:"deliveredPerSecond,omitempty"`
	// Why the rate changed last. `noOverload`: there was no sign of overload yet, or none for long. `recovered`: the
	// target works again after an outage. `grew`: it took all that it got. `refused`: it refused requests, or did not
	// answer them in time. `queued`: it answered the slower the more it got. `notLoad`: a lower rate did not help, so
	// a higher one is tried, or the signs were not caused by load.
	Reason TargetPaceReason `json:"reason,omitempty"`
	// When the rate changed last; null if it never has.
	ChangedAt *time.Time `json:"changedAt,omitempty"`
}

// TargetBacklogMissesDeadline: an estimate for the due calls of the backlog, at the rate at which they end now;
// null while that is unknown, such as while the breaker is open, or if none waits.
type TargetBacklogMissesDeadline struct {
	// How many will not be attempted before their deadlines.
	Calls int `json:"calls"`
	// Calls of the backlog that end per second.
	PerSecond float64 `json:"perSecond"`
}

// TargetBacklog: the calls that have not run yet, due or not, counted by their wait reason.
type TargetBacklog struct {
	Total int `json:"total"`
	// False if more wait in the store than are counted: 10,000 for their time and 10,000 for their turn.
	IsComplete bool `json:"isComplete"`
	// An estimate for the due calls of the backlog, at the rate at which they end now; null while that is unknown,
	// such as while the breaker is open, or if none waits.
	MissesDeadline *TargetBacklogMissesDeadline `json:"missesDeadline"`
	// Calls in the store whose own time has not come count for that time, such as `backoff`, also while the target is
	// paused or its breaker is open. `GET /v1/calls?waitingOn=` lists each call under the reason that it shows.
	ByReason map[string]int `json:"byReason"`
}

// TargetRecent: the results of the attempts of the last minutes, without those that were aborted by a cancel or a
// stop. Old attempts are forgotten in steps of ten seconds, in the longer windows of a minute. Not kept over a
// restart.
type TargetRecent struct {
	Last1m  RecentAttempts `json:"1m"`
	Last5m  RecentAttempts `json:"5m"`
	Last15m RecentAttempts `json:"15m"`
}

// Target: as in the contract.
type Target struct {
	Key string `json:"key"`
	// `down`: it failed, and its breaker is open or half-open. `degraded`: its outage is not over yet, its pace is
	// limited, or more than a tenth of its attempts in the last five minutes failed. `up`: none of that. What
	// operators have done is in `paused` and `tripped`.
	State TargetState `json:"state"`
	// Its outage; null if it has none.
	Outage *Outage `json:"outage"`
	// Its outages that are over, the latest first: at most 10, of the last 30 days. They outlive restarts. `closedAt`
	// and `duration` are null if nobody called the target any more.
	PastOutages []Outage      `json:"pastOutages"`
	Breaker     TargetBreaker `json:"breaker"`
	InFlight    int           `json:"inFlight"`
	// Due calls that wait for the target.
	Waiting int `json:"waiting"`
	// Since when the oldest of them has been due; null if there are none. If they were due before a restart, it is at
	// least since then.
	OldestDueAt *time.Time `json:"oldestDueAt"`
	// Somebody has paused it, or it is the target of a webhook endpoint that is disabled or was removed; no call to it
	// starts.
	Paused bool `json:"paused"`
	// Somebody holds its breaker open.
	Tripped bool `json:"tripped"`
	// The end of the pause that the target asked for with `Retry-After`, or with `RateLimit` fields that report an
	// exhausted quota; null if there is none.
	HeldUntil *time.Time `json:"heldUntil"`
	// How fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within these
	// limits and as fast as the target can take them. The other members are there if it is adaptive.
	Pace TargetPace `json:"pace"`
	// The settings in effect.
	Settings TargetSettings `json:"settings"`
	// The settings that were set for this target by a PUT.
	Overrides TargetSettings `json:"overrides"`
	// The pattern of the rule (setting `targetRules`) that applies where no PUT did, before the service's settings;
	// null if none matches.
	Pattern string `json:"pattern,omitempty"`
	// The calls that have not run yet, due or not, counted by their wait reason.
	Backlog TargetBacklog `json:"backlog"`
	// The results of the attempts of the last minutes, without those that were aborted by a cancel or a stop. Old
	// attempts are forgotten in steps of ten seconds, in the longer windows of a minute. Not kept over a restart.
	Recent TargetRecent `json:"recent"`
	// The times of the calls that succeeded in the last 15 minutes.
	TimeToSuccess *TimeToSuccess `json:"timeToSuccess"`
	// How long the due calls and those in flight would take if everything went on as in the last minute: the attempts
	// needed, at the recent number per call, by concurrency over mean duration, and at most at the rate that is set,
	// or that the pace has found. New calls are not counted. Null if unknown: its breaker is not closed, it is paused
	// or asked for a pause, or no call to it has ended in the last minute.
	DrainEstimate Duration `json:"drainEstimate,omitempty"`
}

// RecentAttempts: as in the contract.
type RecentAttempts struct {
	// Attempts after which their call succeeded.
	Succeeded int `json:"succeeded"`
	// Attempts after which it did not.
	Failed int `json:"failed"`
	// The latency that this percentage of attempts did not exceed, within a fifth; null without attempts.
	Latency *AttemptLatency `json:"latency"`
}

// TargetForecastBacklog: as in the contract.
type TargetForecastBacklog struct {
	// Calls that are due and wait.
	Due int `json:"due"`
	// Calls that are due later.
	Later int `json:"later"`
	// Whether all were counted.
	IsComplete bool `json:"isComplete"`
}

// TargetForecastObstacle: why it is never drained: more calls arrive than are delivered (`arrivals`), it takes
// longer than 30 days (`tooLong`), or an operator holds the target (`paused`, `tripped`).
type TargetForecastObstacle string

// The words of TargetForecastObstacle.
const (
	TargetForecastObstacleArrivals TargetForecastObstacle = "arrivals"
	TargetForecastObstacleTooLong  TargetForecastObstacle = "tooLong"
	TargetForecastObstaclePaused   TargetForecastObstacle = "paused"
	TargetForecastObstacleTripped  TargetForecastObstacle = "tripped"
)

// TargetForecastAssumptionsLatency: as in the contract.
type TargetForecastAssumptionsLatency struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Value Duration `json:"value"`
	// `given`: a parameter.
	From AssumptionSource `json:"from"`
}

// TargetForecastAssumptionsPolicy: the policy of new calls.
type TargetForecastAssumptionsPolicy struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Deadline Duration `json:"deadline"`
	// `given`: a parameter.
	From AssumptionSource `json:"from"`
}

// TargetForecastAssumptionsSample: the waiting calls that were read; each stands for others like it.
type TargetForecastAssumptionsSample struct {
	Calls      int  `json:"calls"`
	IsComplete bool `json:"isComplete"`
}

// TargetForecastAssumptions: as in the contract.
type TargetForecastAssumptions struct {
	ReturnsAt         *time.Time                       `json:"returnsAt"`
	ArrivalsPerSecond AssumedNumber                    `json:"arrivalsPerSecond"`
	CapacityPerSecond AssumedNumber                    `json:"capacityPerSecond"`
	SuccessRate       AssumedNumber                    `json:"successRate"`
	RatePerSecond     AssumedNumber                    `json:"ratePerSecond"`
	Concurrency       AssumedNumber                    `json:"concurrency"`
	Latency           TargetForecastAssumptionsLatency `json:"latency"`
	// The policy of new calls.
	Policy TargetForecastAssumptionsPolicy `json:"policy"`
	// The waiting calls that were read; each stands for others like it.
	Sample TargetForecastAssumptionsSample `json:"sample"`
}

// TargetForecastPoint: as in the contract.
type TargetForecastPoint struct {
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	After             Duration `json:"after"`
	Backlog           int      `json:"backlog"`
	AttemptsPerSecond float64  `json:"attemptsPerSecond"`
}

// TargetForecastAccuracyLast: as in the contract.
type TargetForecastAccuracyLast struct {
	MadeAt time.Time `json:"madeAt"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	DrainsIn Duration `json:"drainsIn"`
	// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO
	// 8601 (`PT5M`).
	Took Duration `json:"took"`
	// The difference as a share of the time that it took; negative if the forecast was too short.
	Error float64 `json:"error"`
}

// TargetForecastAccuracy: forecasts that the service has made by itself for this target, since it started, and how
// right they were.
type TargetForecastAccuracy struct {
	Count       int                          `json:"count"`
	MedianError *float64                     `json:"medianError"`
	Last        []TargetForecastAccuracyLast `json:"last"`
}

// TargetForecast: as in the contract.
type TargetForecast struct {
	Target string `json:"target"`
	// When the target was as the forecast assumes.
	At      time.Time             `json:"at"`
	Backlog TargetForecastBacklog `json:"backlog"`
	// When the backlog is drained; null for never, or if an operator holds the target.
	DrainedAt *time.Time `json:"drainedAt"`
	// How long that takes from now.
	DrainsIn Duration `json:"drainsIn,omitempty"`
	// Why it is never drained: more calls arrive than are delivered (`arrivals`), it takes longer than 30 days
	// (`tooLong`), or an operator holds the target (`paused`, `tripped`).
	Obstacle TargetForecastObstacle `json:"obstacle,omitempty"`
	// The maximum of due calls.
	PeakBacklog int `json:"peakBacklog"`
	// Calls that fail because their deadline passes.
	MissesDeadline int `json:"missesDeadline"`
	// Calls that fail for other reasons.
	FailsOtherwise int `json:"failsOtherwise"`
	// Attempts until then.
	Attempts int `json:"attempts"`
	// Attempts that the target refuses because it has no capacity left.
	RefusedAttempts   int `json:"refusedAttempts"`
	SimulatedAttempts int `json:"simulatedAttempts"`
	// Whether there are too many attempts, and the rest was computed from the average of the last ones.
	IsExtrapolated bool                      `json:"isExtrapolated"`
	Assumptions    TargetForecastAssumptions `json:"assumptions"`
	// The curve, in steps of equal length.
	Points []TargetForecastPoint `json:"points"`
	// Forecasts that the service has made by itself for this target, since it started, and how right they were.
	Accuracy TargetForecastAccuracy `json:"accuracy"`
}

// AssumedNumber: as in the contract.
type AssumedNumber struct {
	Value *float64 `json:"value"`
	// `given`: a parameter.
	From AssumptionSource `json:"from"`
}

// AssumptionSource: `given`: a parameter. `settings`: the target's limit. `measured`: recent traffic.
// `newestCall`: the newest waiting call. `default`: the service's default. `unknown`: nothing is known.
type AssumptionSource string

// The words of AssumptionSource.
const (
	AssumptionSourceGiven      AssumptionSource = "given"
	AssumptionSourceSettings   AssumptionSource = "settings"
	AssumptionSourceMeasured   AssumptionSource = "measured"
	AssumptionSourceNewestCall AssumptionSource = "newestCall"
	AssumptionSourceDefault    AssumptionSource = "default"
	AssumptionSourceUnknown    AssumptionSource = "unknown"
)

// TargetSettingsBreaker: when the circuit breaker opens, and how it closes again.
type TargetSettingsBreaker struct {
	// Least failures in a row that open it; 0 turns this rule off. Failures of one call count once, and those of
	// attempts that began before one that has succeeded do not count.
	ConsecutiveFailures *int `json:"consecutiveFailures,omitempty"`
	// A run of failures opens it only if it comes by chance with this probability at most, at the share of failures
	// that is usual for the target. 1 opens it at each run.
	Significance *float64 `json:"significance,omitempty"`
	// Least time that a run of failures lasts before it opens. Twice the usual response time is added, unless it is
	// `0s`.
	FailureTime Duration `json:"failureTime,omitempty"`
	// Failure rate in the window that opens it; 0 turns this rule off.
	FailureRate *float64 `json:"failureRate,omitempty"`
	// The window of the failure rate.
	Window Duration `json:"window,omitempty"`
	// Least attempts in the window for the failure rate to count.
	MinCalls *int `json:"minCalls,omitempty"`
	// How long it is open the first time; each time longer until a probe succeeds.
	OpenInterval Duration `json:"openInterval,omitempty"`
	// The longest time for which it is open.
	MaxOpenInterval Duration `json:"maxOpenInterval,omitempty"`
	// Maximum attempts in flight while it is half-open.
	Probes *int `json:"probes,omitempty"`
}

// TargetSettingsRate: how many attempts may start per second.
type TargetSettingsRate struct {
	// Maximum attempts started per second; null for no limit.
	PerSecond *float64 `json:"perSecond,omitempty"`
	// Attempts that may start at once after a quiet time.
	Burst *int `json:"burst,omitempty"`
}

// TargetSettingsRetryBudget: retries beyond it wait.
type TargetSettingsRetryBudget struct {
	// Retries as a share of the first attempts of the last 10 s.
	Share *float64 `json:"share,omitempty"`
	// Retries per second in addition to the share; null for no limit on retries.
	MinPerSecond *int `json:"minPerSecond,omitempty"`
}

// TargetSettingsPace: how fast attempts start: `adaptive`, as fast as the target can take them within its other
// limits, or `fixed`, as fast as these allow.
type TargetSettingsPace string

// The words of TargetSettingsPace.
const (
	TargetSettingsPaceFixed    TargetSettingsPace = "fixed"
	TargetSettingsPaceAdaptive TargetSettingsPace = "adaptive"
)

// TargetSettingsTLSMinVersion: oldest allowed version of TLS.
type TargetSettingsTLSMinVersion string

// The words of TargetSettingsTLSMinVersion.
const (
	TargetSettingsTLSMinVersion1_2 TargetSettingsTLSMinVersion = "1.2"
	TargetSettingsTLSMinVersion1_3 TargetSettingsTLSMinVersion = "1.3"
)

// TargetSettingsTLS: how the target and Redial prove who they are. Files are named by absolute paths on Redial's
// machine, within the directory in the setting `tlsDirectory`. Any other path is refused without looking at the
// file; without the setting, every path is. Files are read when a connection is made; their content is neither
// stored nor shown.
//
// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
// these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if
// the target is the origin itself, by every call to it; never after a redirect from another origin.
type TargetSettingsTLS struct {
	// Redial's client certificate, in PEM, followed by those of its issuers.
	Certificate string `json:"certificate,omitempty"`
	// The certificate's private key, in PEM, unless it is in the certificate's file.
	Key string `json:"key,omitempty"`
	// Certificate authorities, in PEM, that are trusted for this target, and no others.
	CAFile string `json:"caFile,omitempty"`
	// SHA-256 digests of public keys, in base 64. The target must have one of these keys.
	Pins []string `json:"pins,omitempty"`
	// Oldest allowed version of TLS.
	MinVersion TargetSettingsTLSMinVersion `json:"minVersion,omitempty"`
	// The origins that all of it applies to. Required, unless the target's key is an origin as in URLs: then it
	// applies to that one.
	Origins []string `json:"origins,omitempty"`
}

// TargetSettings: limits of a target. Members that are left out follow the service's settings.
type TargetSettings struct {
	// When the circuit breaker opens, and how it closes again.
	Breaker *TargetSettingsBreaker `json:"breaker,omitempty"`
	// Maximum attempts in flight.
	MaxInFlight *int `json:"maxInFlight,omitempty"`
	// How many attempts may start per second.
	Rate *TargetSettingsRate `json:"rate,omitempty"`
	// Retries beyond it wait.
	RetryBudget *TargetSettingsRetryBudget `json:"retryBudget,omitempty"`
	// How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or `fixed`, as
	// fast as these allow.
	Pace TargetSettingsPace `json:"pace,omitempty"`
	// The share of the attempts that new calls get while a backlog waits too; what they do not use goes to the
	// backlog. 0: all calls start by age.
	NewCallShare *float64 `json:"newCallShare,omitempty"`
	// With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time.
	SlowStart Duration `json:"slowStart,omitempty"`
	// Maximum duration of an attempt, whatever the policy says.
	AttemptTimeout Duration `json:"attemptTimeout,omitempty"`
	// How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within the
	// directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without the
	// setting, every path is. Files are read when a connection is made; their content is neither stored nor shown.
	//
	// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
	// these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if
	// the target is the origin itself, by every call to it; never after a redirect from another origin.
	TLS *TargetSettingsTLS `json:"tls,omitempty"`
}

// TargetPatchBreaker: when the circuit breaker opens, and how it closes again.
type TargetPatchBreaker struct {
	// Least failures in a row that open it; 0 turns this rule off. Failures of one call count once, and those of
	// attempts that began before one that has succeeded do not count.
	ConsecutiveFailures Nullable[int] `json:"consecutiveFailures,omitempty"`
	// A run of failures opens it only if it comes by chance with this probability at most, at the share of failures
	// that is usual for the target. 1 opens it at each run.
	Significance Nullable[float64] `json:"significance,omitempty"`
	// Least time that a run of failures lasts before it opens. Twice the usual response time is added, unless it is
	// `0s`.
	FailureTime Nullable[Duration] `json:"failureTime,omitempty"`
	// Failure rate in the window that opens it; 0 turns this rule off.
	FailureRate Nullable[float64] `json:"failureRate,omitempty"`
	// The window of the failure rate.
	Window Nullable[Duration] `json:"window,omitempty"`
	// Least attempts in the window for the failure rate to count.
	MinCalls Nullable[int] `json:"minCalls,omitempty"`
	// How long it is open the first time; each time longer until a probe succeeds.
	OpenInterval Nullable[Duration] `json:"openInterval,omitempty"`
	// The longest time for which it is open.
	MaxOpenInterval Nullable[Duration] `json:"maxOpenInterval,omitempty"`
	// Maximum attempts in flight while it is half-open.
	Probes Nullable[int] `json:"probes,omitempty"`
}

// TargetPatchRate: how many attempts may start per second.
type TargetPatchRate struct {
	// Maximum attempts started per second; null for no limit.
	PerSecond Nullable[float64] `json:"perSecond,omitempty"`
	// Attempts that may start at once after a quiet time.
	Burst Nullable[int] `json:"burst,omitempty"`
}

// TargetPatchRetryBudget: retries beyond it wait.
type TargetPatchRetryBudget struct {
	// Retries as a share of the first attempts of the last 10 s.
	Share Nullable[float64] `json:"share,omitempty"`
	// Retries per second in addition to the share; null for no limit on retries.
	MinPerSecond Nullable[int] `json:"minPerSecond,omitempty"`
}

// TargetPatchPace: how fast attempts start: `adaptive`, as fast as the target can take them within its other
// limits, or `fixed`, as fast as these allow.
type TargetPatchPace string

// The words of TargetPatchPace.
const (
	TargetPatchPaceFixed    TargetPatchPace = "fixed"
	TargetPatchPaceAdaptive TargetPatchPace = "adaptive"
)

// TargetPatchTLSMinVersion: oldest allowed version of TLS.
type TargetPatchTLSMinVersion string

// The words of TargetPatchTLSMinVersion.
const (
	TargetPatchTLSMinVersion1_2 TargetPatchTLSMinVersion = "1.2"
	TargetPatchTLSMinVersion1_3 TargetPatchTLSMinVersion = "1.3"
)

// TargetPatchTLS: how the target and Redial prove who they are. Files are named by absolute paths on Redial's
// machine, within the directory in the setting `tlsDirectory`. Any other path is refused without looking at the
// file; without the setting, every path is. Files are read when a connection is made; their content is neither
// stored nor shown.
//
// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
// these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if
// the target is the origin itself, by every call to it; never after a redirect from another origin.
type TargetPatchTLS struct {
	// Redial's client certificate, in PEM, followed by those of its issuers.
	Certificate Nullable[string] `json:"certificate,omitempty"`
	// The certificate's private key, in PEM, unless it is in the certificate's file.
	Key Nullable[string] `json:"key,omitempty"`
	// Certificate authorities, in PEM, that are trusted for this target, and no others.
	CAFile Nullable[string] `json:"caFile,omitempty"`
	// SHA-256 digests of public keys, in base 64. The target must have one of these keys.
	Pins Nullable[[]string] `json:"pins,omitempty"`
	// Oldest allowed version of TLS.
	MinVersion Nullable[TargetPatchTLSMinVersion] `json:"minVersion,omitempty"`
	// The origins that all of it applies to. Required, unless the target's key is an origin as in URLs: then it
	// applies to that one.
	Origins Nullable[[]string] `json:"origins,omitempty"`
}

// TargetPatch: members of `TargetSettings`, with their ranges. Null removes what was set.
type TargetPatch struct {
	// When the circuit breaker opens, and how it closes again.
	Breaker Nullable[TargetPatchBreaker] `json:"breaker,omitempty"`
	// Maximum attempts in flight.
	MaxInFlight Nullable[int] `json:"maxInFlight,omitempty"`
	// How many attempts may start per second.
	Rate Nullable[TargetPatchRate] `json:"rate,omitempty"`
	// Retries beyond it wait.
	RetryBudget Nullable[TargetPatchRetryBudget] `json:"retryBudget,omitempty"`
	// How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or `fixed`, as
	// fast as these allow.
	Pace Nullable[TargetPatchPace] `json:"pace,omitempty"`
	// The share of the attempts that new calls get while a backlog waits too; what they do not use goes to the
	// backlog. 0: all calls start by age.
	NewCallShare Nullable[float64] `json:"newCallShare,omitempty"`
	// With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time.
	SlowStart Nullable[Duration] `json:"slowStart,omitempty"`
	// Maximum duration of an attempt, whatever the policy says.
	AttemptTimeout Nullable[Duration] `json:"attemptTimeout,omitempty"`
	// How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within the
	// directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without the
	// setting, every path is. Files are read when a connection is made; their content is neither stored nor shown.
	//
	// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
	// these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if
	// the target is the origin itself, by every call to it; never after a redirect from another origin.
	TLS Nullable[TargetPatchTLS] `json:"tls,omitempty"`
}

// CallEvent: how a call has ended, for a callback.
type CallEvent string

// The words of CallEvent.
const (
	CallEventCallSucceeded CallEvent = "call.succeeded"
	CallEventCallFailed    CallEvent = "call.failed"
	CallEventCallTripped   CallEvent = "call.tripped"
)

// EventType: what has happened; `reset` tells that events were missed.
type EventType string

// The words of EventType.
const (
	EventTypeCallAccepted     EventType = "call.accepted"
	EventTypeCallAttempted    EventType = "call.attempted"
	EventTypeCallSucceeded    EventType = "call.succeeded"
	EventTypeCallFailed       EventType = "call.failed"
	EventTypeCallTripped      EventType = "call.tripped"
	EventTypeCallCancelled    EventType = "call.cancelled"
	EventTypeTargetOpened     EventType = "target.opened"
	EventTypeTargetHalfOpened EventType = "target.halfOpened"
	EventTypeTargetClosed     EventType = "target.closed"
	EventTypeTargetDown       EventType = "target.down"
	EventTypeTargetRecovered  EventType = "target.recovered"
	EventTypeTargetControlled EventType = "target.controlled"
	EventTypeEndpointDisabled EventType = "endpoint.disabled"
	EventTypeReset            EventType = "reset"
)

// Event: an event of the event stream.
type Event struct {
	// What has happened; `reset` tells that events were missed.
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// The call as lists show it, the target, the endpoint, or why events were missed.
	Data json.RawMessage `json:"data"`
	// The attempt that has ended; only in `call.attempted`.
	Attempt *Attempt `json:"attempt,omitempty"`
}

// TargetEventBreakerState: the state of the breaker now.
type TargetEventBreakerState string

// The words of TargetEventBreakerState.
const (
	TargetEventBreakerStateClosed   TargetEventBreakerState = "closed"
	TargetEventBreakerStateOpen     TargetEventBreakerState = "open"
	TargetEventBreakerStateHalfOpen TargetEventBreakerState = "halfOpen"
)

// TargetEventBreaker: as in the contract.
type TargetEventBreaker struct {
	// The state of the breaker now.
	State TargetEventBreakerState `json:"state"`
	// When probes are let through.
	OpenUntil *time.Time `json:"openUntil"`
	// Openings since the breaker last closed; only of an open one.
	Trips *int `json:"trips"`
}

// TargetEventAction: what an operator has done; only in `target.controlled`.
type TargetEventAction string

// The words of TargetEventAction.
const (
	TargetEventActionConfigure TargetEventAction = "configure"
	TargetEventActionPause     TargetEventAction = "pause"
	TargetEventActionResume    TargetEventAction = "resume"
	TargetEventActionTrip      TargetEventAction = "trip"
	TargetEventActionReset     TargetEventAction = "reset"
	TargetEventActionRelease   TargetEventAction = "release"
)

// TargetEvent: a target whose breaker has changed, that is down or has recovered, or that an operator has changed.
type TargetEvent struct {
	Key     string             `json:"key"`
	Breaker TargetEventBreaker `json:"breaker"`
	// The outage; only in `target.down` and `target.recovered`.
	Outage *Outage `json:"outage,omitempty"`
	// What an operator has done; only in `target.controlled`.
	Action TargetEventAction `json:"action,omitempty"`
	// Whether the target is paused now; only in `target.controlled`.
	Paused *bool `json:"paused,omitempty"`
}

// WebhookEventType: the events that an endpoint can get.
type WebhookEventType string

// The words of WebhookEventType.
const (
	WebhookEventTypeCallSucceeded    WebhookEventType = "call.succeeded"
	WebhookEventTypeCallFailed       WebhookEventType = "call.failed"
	WebhookEventTypeCallTripped      WebhookEventType = "call.tripped"
	WebhookEventTypeCallCancelled    WebhookEventType = "call.cancelled"
	WebhookEventTypeTargetOpened     WebhookEventType = "target.opened"
	WebhookEventTypeTargetHalfOpened WebhookEventType = "target.halfOpened"
	WebhookEventTypeTargetClosed     WebhookEventType = "target.closed"
	WebhookEventTypeTargetDown       WebhookEventType = "target.down"
	WebhookEventTypeTargetRecovered  WebhookEventType = "target.recovered"
	WebhookEventTypeTargetControlled WebhookEventType = "target.controlled"
	WebhookEventTypeEndpointDisabled WebhookEventType = "endpoint.disabled"
)

// WebhookEndpointDraft: what a client says about a webhook endpoint.
type WebhookEndpointDraft struct {
	// Where its webhooks are sent; absolute, http or https, and allowed by the egress policy. A `PUT` with the URL as
	// it is shown leaves the URL as it is.
	URL string `json:"url"`
	// A name for people.
	Description string `json:"description,omitempty"`
	// The events that it gets; all by default.
	Events []WebhookEventType `json:"events,omitempty"`
	// If not empty, only events of these targets, and of calls to them.
	Targets []string `json:"targets,omitempty"`
	// Whether it gets webhooks.
	Enabled *bool `json:"enabled,omitempty"`
}

// WebhookEndpointDisabledReason: why it gets no webhooks.
type WebhookEndpointDisabledReason string

// The words of WebhookEndpointDisabledReason.
const (
	WebhookEndpointDisabledReasonByRequest WebhookEndpointDisabledReason = "byRequest"
	WebhookEndpointDisabledReasonFailing   WebhookEndpointDisabledReason = "failing"
	WebhookEndpointDisabledReasonGone      WebhookEndpointDisabledReason = "gone"
)

// WebhookEndpointSecret: as in the contract.
type WebhookEndpointSecret struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	// Until when it signs; null for the newest.
	ExpiresAt *time.Time `json:"expiresAt"`
}

// WebhookEndpoint: as in the contract.
type WebhookEndpoint struct {
	ID string `json:"id"`
	// Without the values of secret parameters (`redactParameters`).
	URL         string             `json:"url"`
	Description string             `json:"description"`
	Events      []WebhookEventType `json:"events"`
	Targets     []string           `json:"targets"`
	CreatedAt   time.Time          `json:"createdAt"`
	Enabled     bool               `json:"enabled"`
	// Why it gets no webhooks.
	DisabledReason WebhookEndpointDisabledReason `json:"disabledReason,omitempty"`
	DisabledAt     *time.Time                    `json:"disabledAt"`
	// Since when all deliveries have failed.
	FailingSince *time.Time `json:"failingSince"`
	// The secrets that sign its webhooks, newest first.
	Secrets []WebhookEndpointSecret `json:"secrets"`
}

// WebhookEndpointWithSecretDisabledReason: why it gets no webhooks.
type WebhookEndpointWithSecretDisabledReason string

// The words of WebhookEndpointWithSecretDisabledReason.
const (
	WebhookEndpointWithSecretDisabledReasonByRequest WebhookEndpointWithSecretDisabledReason = "byRequest"
	WebhookEndpointWithSecretDisabledReasonFailing   WebhookEndpointWithSecretDisabledReason = "failing"
	WebhookEndpointWithSecretDisabledReasonGone      WebhookEndpointWithSecretDisabledReason = "gone"
)

// WebhookEndpointWithSecretSecret: as in the contract.
type WebhookEndpointWithSecretSecret struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"createdAt"`
	// Until when it signs; null for the newest.
	ExpiresAt *time.Time `json:"expiresAt"`
}

// WebhookEndpointWithSecret: as in the contract.
type WebhookEndpointWithSecret struct {
	ID string `json:"id"`
	// Without the values of secret parameters (`redactParameters`).
	URL         string             `json:"url"`
	Description string             `json:"description"`
	Events      []WebhookEventType `json:"events"`
	Targets     []string           `json:"targets"`
	CreatedAt   time.Time          `json:"createdAt"`
	Enabled     bool               `json:"enabled"`
	// Why it gets no webhooks.
	DisabledReason WebhookEndpointWithSecretDisabledReason `json:"disabledReason,omitempty"`
	DisabledAt     *time.Time                              `json:"disabledAt"`
	// Since when all deliveries have failed.
	FailingSince *time.Time `json:"failingSince"`
	// The secrets that sign its webhooks, newest first.
	Secrets []WebhookEndpointWithSecretSecret `json:"secrets"`
	// The newest secret. It is not shown again.
	Secret string `json:"secret"`
}

// APIScope: the actions that a key allows. `submit`: submit calls. `read`: read everything except the requests of
// calls. `payloads`: read those; with `submit` and `operate`, replay calls with another request. `operate`: act on
// calls and targets; with `submit`, replay calls. `metrics`: read the metrics, for keys of the namespace
// `default`. `admin`: all of these, and manage API keys and webhook endpoints.
type APIScope string

// The words of APIScope.
const (
	APIScopeSubmit   APIScope = "submit"
	APIScopeRead     APIScope = "read"
	APIScopePayloads APIScope = "payloads"
	APIScopeOperate  APIScope = "operate"
	APIScopeMetrics  APIScope = "metrics"
	APIScopeAdmin    APIScope = "admin"
)

// APIKeyDraft: what a client says about an API key.
type APIKeyDraft struct {
	// A name for people.
	Name string `json:"name"`
	// What it allows.
	Scopes []APIScope `json:"scopes"`
	// Maximum requests per minute; no limit if left out.
	Quota *int `json:"quota,omitempty"`
	// The namespace that a key acts in; by default that of the key that makes it.
	Namespace string `json:"namespace,omitempty"`
}

// APIKey: as in the contract.
type APIKey struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// The namespace that a key acts in; by default that of the key that makes it.
	Namespace string     `json:"namespace"`
	Scopes    []APIScope `json:"scopes"`
	// Maximum requests per minute; null for no limit.
	Quota     *int       `json:"quota"`
	CreatedAt time.Time  `json:"createdAt"`
	RevokedAt *time.Time `json:"revokedAt"`
}

// APIKeyWithText: as in the contract.
type APIKeyWithText struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// The namespace that a key acts in; by default that of the key that makes it.
	Namespace string     `json:"namespace"`
	Scopes    []APIScope `json:"scopes"`
	// Maximum requests per minute; null for no limit.
	Quota     *int       `json:"quota"`
	CreatedAt time.Time  `json:"createdAt"`
	RevokedAt *time.Time `json:"revokedAt"`
	// The key itself. It is not shown again.
	Key string `json:"key"`
}

// WebhookPayload: as in the contract.
type WebhookPayload struct {
	// How a call has ended, for a callback.
	Type CallEvent `json:"type"`
	// When the call ended.
	Timestamp time.Time `json:"timestamp"`
	Data      Call      `json:"data"`
}

// BulkDryRunSkippedReasons: how many for which reason: their payloads were erased, they cannot be read, they have
// an ordering key and would be replayed in another order, or they changed since they were counted.
type BulkDryRunSkippedReasons struct {
	ContentErased *int `json:"contentErased,omitempty"`
	CallDamaged   *int `json:"callDamaged,omitempty"`
	Ordered       *int `json:"ordered,omitempty"`
	StateChanged  *int `json:"stateChanged,omitempty"`
}

// BulkDryRunSkipped: of the newest matching calls, at most 5,000, those that would be left as they are.
type BulkDryRunSkipped struct {
	Calls int `json:"calls"`
	// How many were looked at.
	Checked int `json:"checked"`
	// How many for which reason: their payloads were erased, they cannot be read, they have an ordering key and would
	// be replayed in another order, or they changed since they were counted.
	Reasons BulkDryRunSkippedReasons `json:"reasons"`
}

// BulkDryRun: start a bulk operation: one action on all calls that match a filter.
type BulkDryRun struct {
	DryRun bool `json:"dryRun"`
	// `retry`: retry calls that have ended.
	Action BulkAction `json:"action"`
	// The calls to act on: those for which all conditions hold, as for a list.
	Filter CallFilter `json:"filter"`
	// The calls that met all conditions of `filter`, as it is shown here. At least so many if the count is not
	// complete.
	Matched    int  `json:"matched"`
	IsComplete bool `json:"isComplete"`
	// Of the newest matching calls, at most 5,000, those that would be left as they are.
	Skipped BulkDryRunSkipped `json:"skipped"`
	// When they met them; `waitingOn` and `nextAttemptBefore` are as of this time.
	CountedAt time.Time `json:"countedAt"`
}

// SecretRotation: give a webhook endpoint a new secret.
type SecretRotation struct {
	// How long the old secret also signs, 0s to 30d.
	Overlap string `json:"overlap,omitempty"`
}

// WebhookSecret: show the secret that the callbacks of calls are signed with.
type WebhookSecret struct {
	// The namespace that a key acts in; by default that of the key that makes it.
	Namespace string `json:"namespace"`
	Secret    string `json:"secret"`
}

// PolicyPreview: show when a policy makes its attempts.
type PolicyPreview struct {
	// How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly one
	// (`patient@3`).
	Policy     *PolicyOrName `json:"policy,omitempty"`
	Idempotent *bool         `json:"idempotent,omitempty"`
	// Assumed duration of each attempt; up to an hour.
	AttemptDuration Duration `json:"attemptDuration,omitempty"`
	// Maximum number of attempts to list.
	Limit *int `json:"limit,omitempty"`
}
