// Made by Scripts/generate from api/openapi.yaml.

/** The id of a call. Ids sort by the time of acceptance. */
export type CallID = string;

/** `call`: a client submitted it. `webhook`: Redial made it, to report something. */
export type CallKind = "call" | "webhook";

/**
 * `scheduled`: it waits. `running`: an attempt is in flight. The others are ends; a manual retry leads back to
 * `scheduled`.
 */
export type CallState = "scheduled" | "running" | "succeeded" | "failed" | "cancelled";

/**
 * Why a call failed. `attemptsExhausted`: it used up `maxAttempts`. `deadlineExceeded`: the next attempt would begin after
 * the deadline. `notRetryable`: the policy does not retry the last outcome, or it is not safe to. `tripped`: the target's
 * breaker opened and `onTrip` is `fail`. `blocked`: the egress policy refused the address; or, without an attempt, the
 * call was accepted by an older version and names a target of webhooks.
 */
export type FailureReason = "attemptsExhausted" | "deadlineExceeded" | "notRetryable" | "tripped" | "blocked";

/**
 * Why a scheduled call is not running; if there are several reasons, the one that lasts longest. `startTime`: its own
 * start. `backoff`: the wait between attempts. `retryAfter`: the target asked for a pause. `breaker`: the target's breaker
 * is open. `concurrency`: the target has its maximum of attempts in flight. `rateLimit`, `retryBudget`: the target has had
 * its maximum of attempts, or retries, for now. `ordering`: an earlier call with the same ordering key has not ended.
 * `paused`: somebody has paused the target, or its webhook endpoint is disabled or was removed. `pace`: the target gets no
 * more requests per second than it can take. `connections`: all connections to its host and port are in use.
 */
export type WaitReason = "startTime" | "backoff" | "retryAfter" | "breaker" | "concurrency" | "rateLimit" | "retryBudget" | "ordering" | "paused" | "pace" | "connections";

export type Timestamp = string;

/**
 * A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or ISO 8601
 * (`PT5M`).
 */
export type Duration = string;

/** Statuses and ranges of them. */
export type Statuses = (string | number)[];

/**
 * What a submission has done whose call was accepted before, under the same `Idempotency-Key`. `repeated`: nothing.
 * `rerun`: it runs the call again, which had failed or was cancelled.
 */
export type IdempotencyStatus = "repeated" | "rerun";

/** The call to make, and how to retry it. Give at most one of `body`, `json` and `bodyBase64`. */
export type CallDescriptor = {
  /**
   * An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses are
   * allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
   * `egressAllow` names them.
   */
  url: string;
  /** Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no body. */
  method?: string | null;
  /**
   * Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
   * framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`,
   * `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`, which Redial
   * sets itself.
   */
  headers?: Record<string, string | string[]> | null;
  /** The request body, as text that is sent in UTF-8. */
  body?: string | null;
  /**
   * The request body, as JSON, sent byte for byte as you wrote it, with `Content-Type: application/json` unless the
   * headers say otherwise.
   */
  json?: unknown;
  /** The request body, in base 64 with padding (RFC 4648). */
  bodyBase64?: string | null;
  policy?: PolicyOrName | null;
  /** How long after its acceptance the call starts; up to 366 days. */
  delay?: Duration | null;
  /** When the call starts; at once if that time has passed. At most 366 days from now. */
  startAt?: Timestamp | null;
  /**
   * Calls of one target share a breaker, limits and ordering. By default it is the URL's origin. The setting
   * `targetNaming` says who may name another: by default keys with the scope `operate`, and everybody while there are no
   * keys. Names that begin with `webhook:` are reserved. It must be in the Unicode normalization form NFC.
   */
  target?: string | null;
  /**
   * Whether the request may be repeated once it may have been executed. By default it may, whatever its method, because
   * each attempt carries the same `Idempotency-Key`. `false` is for a target that must not get it twice: then only
   * failures before the request was sent, and 408, 425 and 429, are retried. If Redial crashes during an attempt, the
   * attempt is repeated in any case.
   */
  idempotent?: boolean | null;
  /**
   * What a submission does under the `Idempotency-Key` of this call once it has failed or was cancelled. `rerun` runs
   * the call again, with all attempts of its policy: exactly once for each time that it has ended, whoever submits at
   * the same time. A call with `"idempotent": false` runs again only if no attempt may have been executed: each was
   * refused with a status of 4xx other than 409, or was never sent. `answer` only answers with the call as it is. If it
   * is left out, the setting `onRepeat` decides.
   */
  onRepeat?: "rerun" | "answer" | null;
  /** What the call is for, in a line for people. It is shown with the call, and nothing depends on it. */
  description?: string | null;
  /**
   * Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
   * normalization form NFC.
   */
  labels?: Record<string, string> | null;
  /** Where to send the webhook when the call ends. */
  callback?: {
    /** Where it is sent; it must be allowed by the egress policy. */
    url: string;
    /** The events that cause a webhook; all by default. */
    events?: CallEvent[] | null;
  };
  /**
   * Whether an attempt follows redirects: 301, 302, 303, 307 and 308. All of them share the attempt's timeout; method
   * and body follow RFC 9110. When the origin changes, credentials are not sent on: `Authorization`, `Cookie`, fields
   * with a word for a credential in their name, such as `X-Api-Key`, `X-Auth` or `X-Session-Id` (but not
   * `Idempotency-Key`), and the fields in `capture.redactHeaders` and in the setting `redactHeaders`. The egress policy
   * is checked for each. Without this member, a redirect is the response.
   */
  redirects?: Redirects | null;
  /**
   * Calls of one target with the same ordering key run one at a time, in the order in which they were accepted. The next
   * one starts when the one before has ended, also if that one failed. It must be in the Unicode normalization form NFC.
   */
  orderingKey?: string | null;
  /**
   * Of the due calls of a target, the highest priority starts first. Every tenth to start is the one that has been due
   * longest.
   */
  priority?: number | null;
  /** How much of responses is kept. */
  capture?: {
    /** How much of each response's body is kept, in bytes. */
    maxBytes?: number | null;
    /**
     * Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
     * replaces them. Fields about retries still take effect.
     */
    redactHeaders?: string[] | null;
  };
};

/** How many redirects an attempt follows. */
export type Redirects = {
  /** Maximum number of redirects; the one after them is the attempt's response. */
  max?: number | null;
};

/** How to retry. Members that are left out have their defaults. */
export type Policy = {
  /** Maximum number of attempts, including the first; null for as many as the deadline allows. */
  maxAttempts?: number | null;
  /** How long the call may take from its start. An attempt in flight is cut off then. */
  deadline?: Duration | null;
  /**
   * What happens to a retry that would be too late for the deadline: `endEarly` ends the call now; `pullForward` makes
   * the attempt at the last possible moment, unless the target asked for the wait.
   */
  lastAttempt?: "endEarly" | "pullForward" | null;
  /** How much time an attempt must have before the deadline; up to an hour. */
  minAttemptTime?: Duration | null;
  /** How long one attempt may take; up to an hour. */
  attemptTimeout?: Duration | null;
  /**
   * The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i, spread
   * by the jitter. No wait is longer than `max`, and waits stay spread there.
   */
  backoff?: {
    /**
     * How the base grows with the retries i, counted from 0. `exponential` b·m^i, `constant` b, `linear` b +
     * i·increment, `polynomial` offset + b·(i + 1)^exponent, `fibonacci` b·F(i + 1), `power` b^(i + 1) in seconds,
     * `doublingsThenLinear` b·2^i for the given doublings and then the same increase each time, `schedule` a list,
     * `decorrelated` uniform between b and three times the wait before, `decorrelatedSmooth` growth by 2 from a median
     * of b, spread without peaks. b is `initial`. The default is `schedule` if a schedule is given.
     */
    strategy?: "exponential" | "constant" | "linear" | "polynomial" | "fibonacci" | "power" | "doublingsThenLinear" | "schedule" | "decorrelated" | "decorrelatedSmooth" | null;
    /** b, the first wait. */
    initial?: Duration | null;
    /**
     * The longest wait; no limit for a schedule unless given. No wait is shorter than 10 ms from the 101st retry on,
     * nor than 1 ms if `maxAttempts` sets no limit, whatever the backoff is.
     */
    max?: Duration | null;
    /** With `exponential`: m, by which each wait is longer than the one before. */
    multiplier?: number | null;
    /** With `linear`; by default equal to `initial`. */
    increment?: Duration | null;
    /** With `polynomial`: the exponent. */
    exponent?: number | null;
    /** With `polynomial`: the part of each wait that does not grow. */
    offset?: Duration | null;
    /** With `polynomial`: the number of the first retry in the formula. */
    first?: number | null;
    /** With `doublingsThenLinear`: how often the wait doubles. */
    doublings?: number | null;
    /** With `schedule`: the waits, in order. */
    schedule?: Duration[] | null;
    /** What follows the last wait of a schedule. */
    then?: "repeatLast" | "stop" | null;
    /**
     * With d the computed wait and r uniform in [0, 1): `none` d, `full` r·d, `equal` d/2 + r·d/2, `proportional` d·(1
     * − f + 2·f·r) with the `factor` f, `additive` d + r·spread, `additivePerRetry` d + r·spread·(i + 1).
     */
    jitter?: "none" | "full" | "equal" | "proportional" | "additive" | "additivePerRetry" | null;
    /** With `proportional` jitter: f, the largest share by which a wait is shorter or longer. */
    factor?: number | null;
    /** With `additive` and `additivePerRetry` jitter: the longest addition. */
    spread?: Duration | null;
    /**
     * How `max` limits the jittered wait. `keepingSpread`: the base is limited so that the longest jittered wait is
     * `max`. `afterJitter`: the jittered wait is limited. `beforeJitter`: the base is limited, and jitter may exceed
     * it.
     */
    cap?: "keepingSpread" | "afterJitter" | "beforeJitter" | null;
  };
  /**
   * What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511; and 409, 413
   * and 423 with `Retry-After`. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429.
   * Members that are left out keep their defaults.
   */
  retryOn?: {
    /**
     * Network failures: `true` or `always`, `false` or `never`, or `notSent` for those where the request certainly was
     * not sent.
     */
    network?: boolean | "always" | "notSent" | "never" | null;
    statuses?: Statuses | null;
    /** Statuses to retry only if the response has `Retry-After`. */
    statusesWithRetryAfter?: Statuses | null;
  };
  /** Statuses that end the call, even if `retryOn` has them. */
  stopOn?: {
    statuses?: Statuses | null;
  };
  /**
   * Whether to wait for the `Retry-After` of a response that is retried. It counts for the `statuses`, for the statuses
   * in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`. With 429 and 503, `RateLimit`
   * fields that report an exhausted quota count as one. The wait is the longer of the backoff and what the target asks
   * for.
   */
  retryAfter?: {
    /** Whether the target's wish counts. */
    mode?: "respect" | "ignore" | null;
    /** The longest wait that the target may ask for. */
    max?: Duration | null;
    /**
     * What happens if the target asks for more than `max`: `stop` ends the call, because an earlier attempt would
     * ignore the target's wish; `park` waits that long, up to the deadline; `clamp` waits only `max`.
     */
    beyond?: "stop" | "park" | "clamp" | null;
    /**
     * The wait that the target asks for is longer by up to this share of it, at random, so that calls that got the
     * same answer do not return together.
     */
    spread?: number | null;
    /** The statuses whose `Retry-After` counts. */
    statuses?: Statuses | null;
  };
  /** When the target's breaker opens: wait until it closes, or fail as `tripped`. */
  onTrip?: "wait" | "fail" | null;
};

/**
 * How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly one
 * (`patient@3`). `default` is the policy of a call that names none.
 */
export type PolicyOrName = Policy | string;

export type PolicyWarnings = {
  /** A stable word for programs. */
  code: string;
  /** A sentence for people. */
  detail: string;
}[];

/** The result of one descriptor of a batch. */
export type BatchItem = {
  /** The status that a single submission would have been answered with. */
  status: number;
  /**
   * In a stream, the number of its line, from 1, with blank lines counted; null for the last line of a stream that ended
   * early.
   */
  line?: number | null;
  /**
   * Present if it was accepted before under the same key, as in `Idempotency-Status`; the call is then shown as in
   * lists.
   */
  idempotencyStatus?: IdempotencyStatus;
  /** In a stream with `return=minimal`, in place of the call. */
  id?: CallID;
  call?: Call | CallSummary;
  problem?: Problem;
  /**
   * In a stream that ends early because the quota is used up: the fields `retry-after`, `ratelimit` and
   * `ratelimit-policy`.
   */
  headers?: Record<string, string>;
};

/** The members that a call always has. */
export type CallBase = {
  id: CallID;
  kind: CallKind;
  state: CallState;
  failureReason: FailureReason | null;
  /** The issue that a failed call belongs to; null for others, and for calls of an older version. */
  issue: IssueID | null;
  /** Why it is not running; null unless it is scheduled, and where only another instance knows why. */
  waitingOn: WaitReason | null;
  /**
   * As things stand, it does not run before this time. It may run later: calls before it in its target's queue go first.
   * While it waits for `rateLimit` or `pace`, this is when the next attempt to the target may start. Null unless it is
   * scheduled and that is known.
   */
  nextAttemptAt: string | null;
  /** Without the values of secret parameters, such as `token`. */
  url: string;
  /** The method. */
  method: string;
  /** The target whose breaker and limits it shares. */
  target: string;
  /** How many redirects an attempt follows; left out if 0. */
  redirects?: Redirects;
  /** The call that it repeats, perhaps with changes; left out if it repeats none. */
  replayOf?: CallID;
  /** Its priority; only if it is not 5, the default. */
  priority?: number;
  /** Its ordering key, if it has one. */
  orderingKey?: string;
  /**
   * The policy that it was accepted with, `default` or a stored one such as `patient@3`; null if it was given as an
   * object.
   */
  policy: string | null;
  /** What its client says that it is for; left out if it says nothing. */
  description?: string;
  /** Its labels. */
  labels: Record<string, string>;
  createdAt: Timestamp;
  finishedAt: string | null;
  /**
   * At this time the call ends: no attempt begins later, and one in flight is cut off. Of a call that has ended, the
   * deadline that it had; null if it is damaged.
   */
  deadlineAt: string | null;
  /** Attempts that have begun, including those that Redial itself cut off. */
  attemptCount: number;
  /** Maximum number of attempts; null if only the deadline limits them. */
  maxAttempts: number | null;
  /**
   * The status of the last attempt that has ended; null without a response. Events, and webhooks that show the call as
   * lists do, leave it and `lastError` out.
   */
  lastStatus?: number | null;
  /** The code of what went wrong with that attempt, such as `connectionRefused`; null if it was answered. */
  lastError?: string | null;
  /** When its payloads were erased; null if they were not. */
  contentErasedAt: string | null;
};

/** A call without its attempts and its response. */
export type CallSummary = CallBase & {
  /**
   * Why the call cannot be read; only for such a one. Its `id` is right, and so are `target` and `labels` as far as they
   * are shown; the other members mean nothing. Everything else that is asked of it is answered with `callDamaged`.
   */
  damage?: string;
};

export type Call = CallBase & {
  /** Warnings: settings that are allowed but rarely intended. Only in the answer that accepts the call. */
  warnings?: PolicyWarnings;
  /** The manual retries, latest last; at most the latest 100. */
  retries: ManualRetry[];
  /** How long it waited before the attempts that have ended, all together. */
  waited: WaitTimes;
  /** The attempts that have ended, oldest first. */
  attempts: Attempt[];
  /** The stored part of the last attempt's response. */
  response: Response | null;
  /**
   * The whole policy that it was accepted with, also if a stored one has changed since. In answers about one call, not
   * in the answer that accepts it.
   */
  policyInForce?: Policy;
  request?: Request;
};

/**
 * The request of a call, as the client gave it; shown with `include=request`. Values of secret header fields and URL
 * parameters are `REDACTED`. If the content was erased, there are no header fields and no body.
 */
export type Request = {
  method: string;
  url: string;
  headers: Record<string, string[]>;
  /** The body, or its first mebibyte; null if it was erased. */
  body: string | null;
  /** Whether `body` is text or base 64; null if it was erased. */
  encoding: "utf8" | "base64" | null;
  /** The size of the whole body, in bytes; null if it was erased. */
  size: number | null;
  /** Whether the body is longer than shown. */
  truncated: boolean;
  /** When the content was erased; null if it was not. */
  erasedAt: string | null;
};

/** The id of an issue. The same target, reason and error always give the same id. */
export type IssueID = string;

/**
 * How far the attempt got. `answered`: a response came. `notSent`: the request certainly was not sent. `maybeSent`: it was
 * sent, at least in part, and no usable response came. `unusable`: it cannot succeed as it is. `localFault`: Redial's side
 * failed. `interrupted`: Redial stopped or died meanwhile. `cancelled`: the call was cancelled. `blocked`: the egress
 * policy refused the address, and no connection was made.
 */
export type Outcome = "answered" | "notSent" | "maybeSent" | "unusable" | "localFault" | "interrupted" | "cancelled" | "blocked";

/** Who wants an action, and why, in their own words. */
export type Attribution = {
  /** Who. */
  by?: string | null;
  /** Why. */
  reason?: string | null;
};

export type ManualRetry = {
  at: Timestamp;
  /** Attempts that had begun before it. */
  afterAttempt: number;
  by: string | null;
  reason: string | null;
};

export type AttemptBase = {
  number: number;
  startedAt: Timestamp;
  outcome: Outcome;
  status: number | null;
  duration: Duration;
  /** What went wrong, if there was no response. */
  error?: {
    /** A stable word. */
    code: string;
    phase?: ExchangePhase;
    message: string;
  };
  decision: Decision | null;
};

export type Attempt = AttemptBase & {
  /** How long the call waited before it, since the attempt before or its acceptance. Events have `heldBack`. */
  waited?: WaitTimes;
  /**
   * Only in events: what held it back after it was due. Left out if nothing did for long, and if nobody knows since when
   * it was due: a retry that waited in the store.
   */
  heldBack?: WaitTimes;
};

/**
 * A time for each `waitingOn` that the call waited for, to the millisecond. `service`: Redial had stopped, had not taken
 * the target over yet, or could not write to its store.
 */
export type WaitTimes = Record<string, Duration>;

export type AttemptWithResponse = AttemptBase & {
  /** How long the call waited before it, since the attempt before or its acceptance. */
  waited: WaitTimes;
  exchange: Exchange | null;
  response: AttemptResponse | null;
};

/** The phase that an attempt reached, or in which it failed. */
export type ExchangePhase = "setup" | "resolve" | "connect" | "tls" | "request" | "response";

/**
 * The phases of an attempt's request and response. Times count from its start; phases that did not happen, such as the
 * name lookup on a kept connection, are left out. After redirects, everything except `redirectCount` is about the last
 * request.
 */
export type Exchange = {
  phase: ExchangePhase;
  /** When the name was resolved. */
  resolved?: Duration;
  /** When the connection was made. */
  connected?: Duration;
  /** When the TLS session was made. */
  secured?: Duration;
  /** When the first byte of the response arrived. */
  firstByte?: Duration;
  bytesSent: number;
  /** Before decompression. */
  bytesReceived: number;
  redirectCount?: number;
  remoteAddress?: string;
  /** The version of HTTP. */
  httpVersion?: "1.0" | "1.1" | "2";
  connectionReused: boolean;
};

/** The decision after an attempt, and its reason. */
export type Decision = {
  action: "succeed" | "retry" | "park" | "stop";
  reason?: FailureReason;
  /** The wait. */
  after?: Duration;
  /** When the parked call is tried again. */
  until?: Timestamp;
  /** What the wait is for, unless the backoff. */
  waitingOn?: WaitReason;
  because?: string;
  /** The backoff before jitter. */
  computed?: Duration;
  /** What the jitter has multiplied it by. */
  jitterFactor?: number;
  /** What limited the wait. */
  clampedBy?: ("max" | "deadline" | "min")[];
};

export type Response = {
  status: number | null;
  /** Header fields, their names in lower case. */
  headers: Record<string, string[]>;
  /** The first bytes of the body. */
  body: string;
  encoding: "utf8" | "base64";
  /**
   * Whether the body was longer. It is also true for an old attempt whose body is not kept any more (the 20 latest); the
   * body is then empty.
   */
  truncated: boolean;
};

/** The stored part of a response, with its body if requested. */
export type AttemptResponse = {
  status: number | null;
  /** Header fields, their names in lower case. */
  headers: Record<string, string[]>;
  /** The first bytes of the body. */
  body?: string;
  encoding?: "utf8" | "base64";
  /**
   * Whether the body was longer. It is also true for an old attempt whose body is not kept any more (the 20 latest); the
   * body is then empty.
   */
  truncated: boolean;
};

/**
 * One outage of a target, however often its breaker opens meanwhile. It is over once the breaker has been closed for 30 s;
 * or, because nobody calls the target any more, if no call was due and none was sent for 16 minutes.
 */
export type Outage = {
  /** When the target began to fail. */
  since: Timestamp;
  /**
   * What the attempt failed with that opened the breaker; a word such as `connectionRefused`, or a status. `silence`: it
   * was ended after a long one. `failureRate`: too many others failed.
   */
  cause: string;
  /** When the breaker closed; null while it is open or half-open, and if nobody calls the target any more. */
  closedAt: string | null;
  /** The time between both; null until then. */
  duration: Duration | null;
  /** The most calls that were due at once, of the times at which the breaker changed. */
  callsWaited: number;
};

/** How a call has ended, for a callback. */
export type CallEvent = "call.succeeded" | "call.failed" | "call.tripped";

/** An event of the event stream. */
export type Event = {
  /** What has happened; `reset` tells that events were missed. */
  type: "call.accepted" | "call.attempted" | "call.succeeded" | "call.failed" | "call.tripped" | "call.cancelled" | "target.opened" | "target.halfOpened" | "target.closed" | "target.down" | "target.recovered" | "target.controlled" | "endpoint.disabled" | "reset";
  timestamp: string;
  /** The call as lists show it, the target, the endpoint, or why events were missed. */
  data: CallSummary | TargetEvent | WebhookEndpoint | {
    reason: "restarted" | "tooOld" | "tooSlow" | "overflow" | "storeUnavailable" | "instanceChanged";
  };
  /** The attempt that has ended; only in `call.attempted`. */
  attempt?: Attempt;
};

/** A target whose breaker has changed, that is down or has recovered, or that an operator has changed. */
export type TargetEvent = {
  key: string;
  breaker: {
    /** The state of the breaker now. */
    state: "closed" | "open" | "halfOpen";
    /** When probes are let through. */
    openUntil: string | null;
    /** Openings since the breaker last closed; only of an open one. */
    trips: number | null;
  };
  /** The outage; only in `target.down` and `target.recovered`. */
  outage?: Outage;
  /** What an operator has done; only in `target.controlled`. */
  action?: "configure" | "pause" | "resume" | "trip" | "reset" | "release";
  /** Whether the target is paused now; only in `target.controlled`. */
  paused?: boolean;
};

/** The events that an endpoint can get. */
export type WebhookEventType = "call.succeeded" | "call.failed" | "call.tripped" | "call.cancelled" | "target.opened" | "target.halfOpened" | "target.closed" | "target.down" | "target.recovered" | "target.controlled" | "endpoint.disabled";

export type WebhookEndpoint = {
  id: string;
  /** Without the values of secret parameters (`redactParameters`). */
  url: string;
  description: string;
  events: WebhookEventType[];
  targets: string[];
  createdAt: Timestamp;
  enabled: boolean;
  /** Why it gets no webhooks. */
  disabledReason: "byRequest" | "failing" | "gone" | null;
  disabledAt: string | null;
  /** Since when all deliveries have failed. */
  failingSince: string | null;
  /** The secrets that sign its webhooks, newest first. */
  secrets: ({
    id: string;
    createdAt: Timestamp;
    /** Until when it signs; null for the newest. */
    expiresAt: string | null;
  })[];
};

export type CallPage = {
  data: CallSummary[];
  /** The cursor of the next page; null on the last page. */
  nextCursor: CallID | null;
};

export type WebhookPayload = {
  type: CallEvent;
  /** When the call ended. */
  timestamp: Timestamp;
  data: Call;
};

/** An error (RFC 9457). docs/problems.md has every code with its cause and what to do. */
export type Problem = {
  type: string;
  /** A short summary; each code has one. */
  title: string;
  status: number;
  code: ProblemCode;
  /** What was wrong this time, on which input, and what to do. */
  detail: string;
  /**
   * The wrong places in the input. Each is in the body (`pointer`), in the query (`parameter`) or in the header section
   * (`header`).
   */
  errors?: {
    /** A JSON Pointer (RFC 6901) into the request body; empty for the whole of it. */
    pointer?: string;
    /** The name of a query parameter. */
    parameter?: string;
    /** The name of a header field. */
    header?: string;
    /** What is wrong there, as a clause. */
    detail: string;
  }[];
  /** The call that cannot be read; only with `callDamaged`. */
  call?: {
    id: CallID;
    /** The target; null if it cannot be read. */
    target: string | null;
    /** The labels, as far as they can be read. */
    labels: Record<string, string>;
  };
};

/**
 * The kind of a problem: a stable word that programs can match. Later versions may add some: a program treats a code that
 * it does not know by its status.
 */
export type ProblemCode = "badRequest" | "methodNotAllowed" | "notFound" | "invalidJSON" | "bodyTooLarge" | "invalidParameter" | "unsupportedMediaType" | "unsupportedContentCoding" | "preconditionFailed" | "invalidAttribution" | "crossSiteRequest" | "hostNotAllowed" | "hostEmpty" | "forwardNotDeliberate" | "missingAPIKey" | "invalidAPIKey" | "insufficientScope" | "operatorsOnly" | "otherNamespace" | "invalidNamespace" | "quotaExceeded" | "apiKeyNotFound" | "invalidAPIKeyDraft" | "firstKeyMustBeAdmin" | "tooManyAPIKeys" | "noRandomness" | "invalidDescriptor" | "invalidOption" | "invalidBatch" | "invalidIdempotencyKey" | "idempotencyKeyReused" | "tooManyHops" | "callNotFound" | "callEnded" | "callNotEnded" | "callRunning" | "contentErased" | "notReplayable" | "callDamaged" | "callRemoved" | "backlogFull" | "namespaceBacklogFull" | "draining" | "notReady" | "storageFull" | "storageUnavailable" | "outcomeUnknown" | "leaseLost" | "tooManyQueries" | "targetNotFound" | "invalidTarget" | "invalidTargetSettings" | "tooManyTargets" | "policyNotFound" | "invalidPolicy" | "policyTooLarge" | "tooManyPolicies" | "invalidScenario" | "previewTooLarge" | "simulationTooLarge" | "tooManyForecasts" | "forecastsFull" | "invalidOperation" | "operationNotFound" | "operationEnded" | "tooManyOperations" | "invalidWebhookEndpoint" | "invalidRotation" | "webhookEndpointNotFound" | "webhookEndpointDisabled" | "tooManyWebhookEndpoints" | "tooManyListeners" | "issueNotFound" | "invalidIssue" | "issueNotResolved" | "alertNotFound" | "invalidAlert" | "tooManyAlerts" | "alertWithoutReceiver" | "invalidChange" | "incidentNotFound" | "incidentEnded" | "ownedElsewhere" | "leaderUnreachable" | "instanceUnreachable" | "notAPeer" | "invalidForward" | "forwardedTooLate" | "callInMemory";
