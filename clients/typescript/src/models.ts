// Made by Scripts/generate from api/openapi.yaml.

export type Instance = {
  /** Its number among the instances. */
  number: number;
  /** Where the other instances reach it; null if they cannot, and on SQLite. */
  url: string | null;
  /** Its version. */
  version: string;
  /** The number of its shards. */
  shards: number;
  /** Whether it is the one that answers. */
  self: boolean;
  /** Whether it makes the changes of policies, API keys, webhook endpoints and bulk operations. */
  leads: boolean;
};

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
 * call was accepted by an older version and names a target of webhooks. `attemptEndedTheService`: Redial died during its
 * attempts, more than once, and probably of them.
 */
export type FailureReason = "attemptsExhausted" | "deadlineExceeded" | "notRetryable" | "tripped" | "blocked" | "attemptEndedTheService";

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
 * `rerun`: it runs the call again, which had failed or was cancelled. `notRerun`: nothing, since the call had failed or
 * was cancelled, and cannot run again: its payloads are erased, as those of a sensitive call are when it ends; or it may
 * have been executed, and says `"idempotent": false`; or it has ended the service.
 */
export type IdempotencyStatus = "repeated" | "rerun" | "notRerun";

/** The call to make, and how to retry it. Give at most one of `body`, `json` and `bodyBase64`. */
export type CallDescriptor = {
  /**
   * An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses are
   * allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
   * `egressAllow` names them.
   */
  url: string;
  /**
   * Whether nobody may see its payloads: the header fields and the body of its request, the query of its URL, and the
   * answers of its target. They are in no answer of the API, whatever the key, and in no event, webhook, span or log.
   * They are erased when it ends, so that it cannot be run again or replayed afterwards. Its answers are not stored at
   * all: also who waits for its end sees only the status.
   */
  sensitive?: boolean | null;
  /**
   * JSON Pointers (RFC 6901) to members of JSON bodies that nobody sees, such as `/card/number`; `*` in place of an
   * index stands for each element of an array. In what is shown of the request and of answers, also in webhooks, their
   * values are `[redacted]`; what is stored and sent stays as it is. A body that is not whole, or not JSON, is withheld.
   */
  redact?: string[] | null;
  /**
   * Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no body.
   * Methods are case-sensitive: `patch` is sent as it is, with a warning.
   */
  method?: string | null;
  /**
   * Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
   * framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`,
   * `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`, which Redial
   * sets itself. `Host` and `Content-Type` have one value.
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
   * keys. Names that begin with `webhook:` are reserved; `.` and `..` can be in no path, and are refused, also
   * percent-encoded. It must be in the Unicode normalization form NFC.
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
   * refused with a status of 4xx other than 409, or was never sent. One that ended as `attemptEndedTheService` never
   * does. `answer` only answers with the call as it is. If it is left out, the setting `onRepeat` decides.
   */
  onRepeat?: "rerun" | "answer" | null;
  /** The name of a stored credential that proves to the target who sends the call (`PUT /v1/credentials/{name}`). */
  credential?: string | null;
  /**
   * How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the name of a
   * credential, or an object whose secrets belong to this call alone. They are not shown.
   */
  sign?: string | {
    type: "standardWebhooks" | "github" | "stripe" | "slack" | "hmacSHA256";
    header?: string | null;
    secret: string;
    previousSecret?: string | null;
    prefix?: string | null;
    encoding?: "hex" | "base64" | null;
  } | null;
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
  } | null;
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
  } | null;
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
  } | null;
  /**
   * What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511 (600 to 999
   * count as 5xx); 409, 413 and 423 with `Retry-After`; and 409 while the target may still be processing an earlier
   * attempt. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429. Members that are left
   * out keep their defaults.
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
  } | null;
  /** Statuses that end the call, even if `retryOn` has them. */
  stopOn?: {
    statuses?: Statuses | null;
  } | null;
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
  } | null;
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

/** Letters, digits, `.`, `_` and `-`; `preview` and `default` are taken. */
export type PolicyName = string;

export type StoredPolicySummary = {
  name: PolicyName;
  version: number;
  createdAt: Timestamp;
};

export type StoredPolicy = {
  name: PolicyName;
  version: number;
  createdAt: Timestamp;
  /** The policy as its author gave it. */
  policy: Policy;
  /** Warnings about the policy, for requests that may be repeated. */
  warnings: PolicyWarnings;
  /** The versions that are kept, newest last. */
  versions: {
    version: number;
    createdAt: Timestamp;
  }[];
};

/** Members of a descriptor; each replaces the original's. `null` removes the original's, so that the default applies. */
export type ReplayChanges = {
  /**
   * An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback addresses are
   * allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain socket, or if
   * `egressAllow` names them.
   */
  url?: string;
  /**
   * Whether nobody may see its payloads: the header fields and the body of its request, the query of its URL, and the
   * answers of its target. They are in no answer of the API, whatever the key, and in no event, webhook, span or log.
   * They are erased when it ends, so that it cannot be run again or replayed afterwards. Its answers are not stored at
   * all: also who waits for its end sees only the status.
   */
  sensitive?: boolean | null;
  /**
   * JSON Pointers (RFC 6901) to members of JSON bodies that nobody sees, such as `/card/number`; `*` in place of an
   * index stands for each element of an array. In what is shown of the request and of answers, also in webhooks, their
   * values are `[redacted]`; what is stored and sent stays as it is. A body that is not whole, or not JSON, is withheld.
   */
  redact?: string[] | null;
  /**
   * Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no body.
   * Methods are case-sensitive: `patch` is sent as it is, with a warning.
   */
  method?: string | null;
  /**
   * Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of the
   * framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`, `Proxy-Connection`, `TE`,
   * `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id` and `Redial-Attempt`, which Redial
   * sets itself. `Host` and `Content-Type` have one value.
   */
  headers?: Record<string, string | string[]> | null;
  /** The request body, as text that is sent in UTF-8. */
  body?: string | null;
  /** The request body, as JSON. */
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
   * keys. Names that begin with `webhook:` are reserved; `.` and `..` can be in no path, and are refused, also
   * percent-encoded. It must be in the Unicode normalization form NFC.
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
   * refused with a status of 4xx other than 409, or was never sent. One that ended as `attemptEndedTheService` never
   * does. `answer` only answers with the call as it is. If it is left out, the setting `onRepeat` decides.
   */
  onRepeat?: "rerun" | "answer" | null;
  /** The name of a stored credential that proves to the target who sends the call (`PUT /v1/credentials/{name}`). */
  credential?: string | null;
  /**
   * How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the name of a
   * credential, or an object whose secrets belong to this call alone. They are not shown.
   */
  sign?: string | {
    type: "standardWebhooks" | "github" | "stripe" | "slack" | "hmacSHA256";
    header?: string | null;
    secret: string;
    previousSecret?: string | null;
    prefix?: string | null;
    encoding?: "hex" | "base64" | null;
  } | null;
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
  } | null;
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
  } | null;
};

/** What a call would do. */
export type DryRun = {
  /** When it would start if it were submitted now. */
  startsAt: Timestamp;
  /** The descriptor with all defaults, without its body and its start. */
  call: Record<string, unknown>;
  /**
   * The verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is refused is answered
   * with 422, as without `dryRun`.
   */
  egress: {
    verdict: "allowed" | "decidedWhenDialled" | "refused";
    /** The rule that refuses it, if one does. */
    rule: string | null;
    detail: string;
  };
  plan: Plan;
  /** Warnings about the call. */
  warnings: PolicyWarnings;
};

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

/** When a policy makes its attempts. */
export type Plan = {
  /** `default`, or the stored policy with its version; null for a policy that was given as an object. */
  policyName: string | null;
  /** Left out in a dry run of a call, which has it in `call`. */
  policy?: Policy;
  /** The attempts, up to the first that would be after the deadline. */
  attempts: ({
    number: number;
    /** The shortest and longest wait before it; null if only samples are known. */
    wait: {
      shortest: Duration;
      longest: Duration;
    } | null;
    /** When it starts, counted from the start of the call. */
    startsAfter: {
      earliest: Duration;
      p10: Duration;
      p50: Duration;
      p90: Duration;
      p99: Duration;
      latest: Duration;
      /** Whether these come from a formula; otherwise from samples. */
      isExact: boolean;
    };
    /** The probability that it starts before the deadline. */
    chance: number;
  })[];
  /** Whether there are no attempts after those listed. */
  isComplete: boolean;
  /** The latest time at which the call can still run; null if there is none. */
  latestEnd: Duration | null;
  chanceOfAllAttempts: number;
  warnings: PolicyWarnings;
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
  /** Without the values of secret parameters, such as `token`; that of a sensitive call without its query. */
  url: string;
  /** True if nobody may see its payloads; left out otherwise. */
  sensitive?: boolean;
  /** The members of JSON bodies that nobody sees; left out if there are none. */
  redact?: string[];
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
  /** The name of its credential, if it has one. */
  credential?: string;
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
   * The status that the last attempt which has ended got; null without a response. Events, and webhooks that show the
   * call as lists do, leave it and `lastError` out.
   */
  lastStatus?: number | null;
  /** The code of what went wrong with that attempt or its response, such as `connectionRefused`; null if nothing did. */
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
 * parameters are `REDACTED`. If the content was erased, or is withheld, there are no header fields and no body.
 */
export type Request = {
  method: string;
  url: string;
  headers: Record<string, string[]>;
  /**
   * The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a character for
   * each byte, and sent as they came. Left out if there are none.
   */
  latin1?: string[];
  /** The body, or its first mebibyte; null if it was erased or is withheld. */
  body: string | null;
  /** Whether `body` is text or base 64; null without one. */
  encoding: "utf8" | "base64" | null;
  /** The size of the whole body, in bytes; null if it was erased or is withheld. */
  size: number | null;
  /** Whether the body is longer than shown. */
  truncated: boolean;
  /** When the content was erased; null if it was not. */
  erasedAt: string | null;
  /**
   * Why the request is not shown: `sensitive` for a sensitive call, and `redact` for a body that is not whole, or not
   * JSON, so that nobody can tell where the members are that `redact` names. Null if it is shown.
   */
  withheld: "sensitive" | "redact" | null;
};

export type StatisticsWindow = {
  window: "15m" | "24h" | "7d";
  /** When the first step begins. */
  from: Timestamp;
  /** The length of a step. */
  step: Duration;
  backlog: AverageBacklog;
  calls: EndedCalls;
  attempts: EndedAttempts;
  latency: AttemptLatency;
  steps: {
    from: Timestamp;
    backlog: AverageBacklog;
    calls: EndedCalls;
    attempts: EndedAttempts;
    latency: AttemptLatency;
  }[];
};

/**
 * How many calls were due and waited for their target, on average over the time. While the service did not run, none are
 * counted.
 */
export type AverageBacklog = number;

/** Calls that ended. */
export type EndedCalls = {
  succeeded: number;
  /** Those of `succeeded` that needed more than one attempt. */
  retried: number;
  failed: number;
  cancelled: number;
  /** The share that succeeded of those that were not cancelled; null if there are none. */
  successRate: number | null;
  timeToSuccess: TimeToSuccess;
};

/**
 * How long the calls took that succeeded, since they were due for their first attempts: the time that 50, 95 and 99 % of
 * them did not exceed, within a fifth; null if there are none.
 */
export type TimeToSuccess = {
  p50: Duration;
  p95: Duration;
  p99: Duration;
} | null;

/** Attempts after which the call succeeded, and others. */
export type EndedAttempts = {
  succeeded: number;
  failed: number;
};

/** The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none. */
export type AttemptLatency = {
  p50: Duration;
  p95: Duration;
  p99: Duration;
} | null;

/** The id of a bulk operation. Ids sort by the time of acceptance. */
export type BulkOperationID = string;

/**
 * `retry`: retry calls that have ended. `cancel`: cancel calls that have not. `release`: run waiting calls now. `purge`:
 * remove calls that have ended. `replay`: submit a new call like each that has ended.
 */
export type BulkAction = "retry" | "cancel" | "release" | "purge" | "replay";

/**
 * The calls to act on: those for which all conditions hold, as for a list. The default of `state` is `failed` for `retry`
 * and `replay`, and `scheduled` for `cancel` and `release`; `purge` needs it.
 */
export type CallFilter = {
  kind?: CallKind;
  /** One state, or several. */
  state?: CallState | CallState[];
  /** They have this target. */
  target?: string;
  /** They were accepted then or later. */
  createdAfter?: Timestamp;
  /** They were accepted earlier. */
  createdBefore?: Timestamp;
  /**
   * Accepted at least so long before the request. The operation shows it as `createdBefore`; if both are given, the
   * earlier of the two.
   */
  olderThan?: Duration;
  /** At least so many attempts have begun. */
  attempts?: number;
  /** They wait for this when the operation comes to them, for actions on calls that wait: `cancel` and `release`. */
  waitingOn?: WaitReason;
  /**
   * They wait, and their next attempt may begin before this time when the operation comes to them. A duration counts
   * from the request; the operation shows the time.
   */
  nextAttemptBefore?: Timestamp | Duration;
  /** A status such as 503, or a range such as `500-599`. */
  status?: number | string;
  outcome?: Outcome;
  failureReason?: FailureReason;
  issue?: IssueID;
  /** Their URL, as it is shown, contains this text. */
  url?: string;
  /** They were accepted under this `Idempotency-Key`. */
  idempotencyKey?: string;
  /** They have all of these labels. */
  labels?: Record<string, string>;
};

/** An action on all calls that a filter selects. */
export type BulkRequest = {
  action: BulkAction;
  filter?: CallFilter | null;
  /** Maximum calls per second; 100 by default. */
  ratePerSecond?: number | null;
  /** Who. */
  by?: string | null;
  /** Why. */
  reason?: string | null;
  /**
   * Act on all calls that the action applies to, if `filter` is left out or has no condition except `kind`. Without it
   * such a request is refused, a dry run too.
   */
  all?: boolean | null;
};

export type BulkOperation = {
  id: BulkOperationID;
  action: BulkAction;
  filter: CallFilter;
  ratePerSecond: number;
  by?: string;
  reason?: string;
  /** `counting`: it counts the matching calls. `running`: it acts on them. The others are ends. */
  state: "counting" | "running" | "completed" | "cancelled";
  createdAt: Timestamp;
  finishedAt: string | null;
  /** The calls that matched when they were counted; while counting, those so far. */
  matched: number;
  /**
   * Calls that it acted on. After a crash, or if an instance that led loses its lease, up to one page of calls (a tenth
   * of `ratePerSecond`, at most 100) can be missing here although it acted on them, or be among the skipped.
   */
  done: number;
  /**
   * Calls that it could not act on, because they had changed meanwhile, or because another instance of the service runs
   * them.
   */
  skipped: number;
};

/** What somebody has done; a newer version may have written words that are not here. */
export type AuditAction = "key.created" | "key.revoked" | "endpoint.created" | "endpoint.changed" | "endpoint.removed" | "endpoint.secretRotated" | "endpoint.tested" | "webhookSecret.read" | "policy.put" | "policy.removed" | "target.changed" | "target.paused" | "target.resumed" | "target.tripped" | "target.reset" | "target.released" | "call.cancelled" | "call.retried" | "call.erased" | "call.replayed" | "operation.started" | "operation.stopped" | "issue.changed" | "alert.changed" | "alert.silenced" | "alert.removed" | "alert.tested" | "credential.put" | "credential.removed" | "dataKeys.replaced" | "dataKeys.erased" | "commits.lost";

/** Who did what. Nothing changes it; it is removed after `auditRetentionTime`. */
export type AuditRecord = {
  id: string;
  at: Timestamp;
  /** That of whoever did it. */
  namespace: Namespace;
  /**
   * `key`: a client with an API key. `adminKey`: with the admin key of the settings. `person`: somebody whom a trusted
   * proxy has named. `anybody`: no key was needed. `command`: `redial keys` while no service ran. `instance`: the
   * service itself.
   */
  actorKind: "key" | "adminKey" | "person" | "anybody" | "command" | "instance";
  /** The key's id; the name of the person, or of the system's user who ran the command; null for others. */
  actor: string | null;
  /** The key's name; null for others. */
  actorName: string | null;
  /** The client's address, also behind one of the `trustedProxies`; null over a Unix domain socket. */
  address: string | null;
  action: AuditAction;
  /** The id, name or key of what was changed. */
  object: string;
  /** The members that differ, as they were; null for none, or if that is not known. No secrets. */
  before: Record<string, unknown> | null;
  /** The members that differ, as they are now; null for none. */
  after: Record<string, unknown> | null;
};

/** The id of an issue. The same target, reason and error always give the same id. */
export type IssueID = string;

/**
 * `down`: a target has an outage. `held`: somebody has paused or tripped a target, and calls wait. `late`: calls have been
 * due for a minute or more for a target that is neither. `failing`: no attempt at a target has succeeded in a quarter of
 * an hour, without so many failures that it is down; or calls with something in common fail again and again while the
 * others work. `failed`: calls have failed, all their attempts used or given up. `stuck`: a check of the store finds calls
 * that nothing moves (only in the namespace `default`).
 */
export type IssueKind = "down" | "late" | "held" | "failing" | "failed" | "stuck";

/**
 * `open`: there is no statement about it. `acknowledged`: somebody knows of it. `resolved`: it is over, or somebody has
 * said that it is done with, and no call has failed so since.
 */
export type IssueState = "open" | "acknowledged" | "resolved";

/** What somebody states about an issue. */
export type IssueChange = {
  state: IssueState;
  /** Until when it counts as acknowledged, or how long from now; 7 days if it is left out. */
  until?: Timestamp | Duration | null;
  /** Who. */
  by?: string | null;
  /** Why. */
  reason?: string | null;
};

export type Issue = {
  id: IssueID;
  state: IssueState;
  kind: IssueKind;
  /** Null for calls that a check of the store finds. */
  target: string | null;
  /** Why its calls failed, or what most of them wait for; null for none. */
  reason: FailureReason | WaitReason | null;
  /**
   * What the last attempt of its calls failed with: the status and what the answer says, or the code and the message of
   * a failure. `{n}`, `{id}`, `{time}`, `{address}` and `{email}` stand for what differs. For `down`, what the outage
   * began with; for `failing`, what the calls have in common, and with what they failed last; for `held`, `paused` or
   * `tripped`; for `stuck`, the check. Null if there is none, such as when a deadline passed meanwhile.
   */
  error: string | null;
  /** The calls that it concerns now; of `failing` ones up to 1,000 are counted. */
  calls: number;
  /** Since when it is so. When the first of its calls failed; since when the oldest late one is due. */
  firstAt: Timestamp;
  /** When the last of its calls failed; otherwise the time of the answer. */
  lastAt: Timestamp;
  /** How many of them failed in each of the last 24 hours, the latest last; null unless they have failed. */
  lastHours: number[] | null;
  /** The last statement about it; null for none. */
  mark: null | {
    state: "acknowledged" | "resolved";
    at: Timestamp;
    by: string | null;
    reason: string | null;
    until: string | null;
  };
  /**
   * What selects its calls, in a list and in an operation; null for `stuck`. That of a target selects all that wait for
   * it, also those whose own time has not come.
   */
  filter: CallFilter | null;
  affected?: AffectedCalls;
};

/**
 * Whom an issue concerns: its newest calls, at most 1,000, summed by the path of their URLs and by label. Only in the
 * answer about one issue.
 */
export type AffectedCalls = {
  /** How many calls were counted. */
  counted: number;
  /** Whether these are all of the issue. */
  isComplete: boolean;
  /** The 10 paths of the most calls. `{n}` and `{id}` stand for numbers and ids. */
  paths: {
    path: string;
    calls: number;
  }[];
  /** The 20 labels of the most calls. */
  labels: {
    name: string;
    value: string;
    calls: number;
  }[];
};

/** Letters, digits, `.`, `_` and `-`. */
export type CredentialName = string;

/**
 * What proves who sends a request: `bearer`, `basic`, `header`, `query`, `oauth2` (client credentials, RFC 6749 §4.4) and
 * `awsSigV4`. What signs its content: `standardWebhooks`, `github`, `stripe`, `slack` and `hmacSHA256`.
 */
export type CredentialType = "bearer" | "basic" | "header" | "query" | "oauth2" | "awsSigV4" | "standardWebhooks" | "github" | "stripe" | "slack" | "hmacSHA256";

/** What a client says about a credential. */
export type CredentialDraft = {
  /** What it is; each other member says to which types it belongs. */
  type: CredentialType;
  /** `bearer`: the token. */
  token?: string | null;
  /** `basic`: the user. */
  username?: string | null;
  /** `basic`: the password. */
  password?: string | null;
  /** `header` and `hmacSHA256`: the name of the header field. */
  header?: string | null;
  /** `header` and `query`: the value. */
  value?: string | null;
  /** `query`: the name of the parameter. */
  parameter?: string | null;
  /** `oauth2`: the URL of the token endpoint. The egress policy has to allow it, and no redirect is followed. */
  tokenURL?: string | null;
  /** `oauth2`: the id of the client. */
  clientID?: string | null;
  /** `oauth2`: the secret of the client, for `basic` and `post`. */
  clientSecret?: string | null;
  /**
   * `oauth2`: how the client says who it is (`client_secret_basic`, `client_secret_post`, `private_key_jwt`). By default
   * `privateKeyJWT` with a private key, and `basic` without.
   */
  clientAuthentication?: "basic" | "post" | "privateKeyJWT" | null;
  /** `oauth2`: the private key in PEM, without a pass phrase, for `privateKeyJWT`. */
  privateKey?: string | null;
  /** `oauth2`: the `kid` of the assertion. */
  keyID?: string | null;
  /** `oauth2`: how the assertion is signed; `RS256` by default. */
  algorithm?: "RS256" | "ES256" | null;
  /** `oauth2`: the scope of the token. */
  scope?: string | null;
  /** `oauth2`: the audience, for services that want one. */
  audience?: string | null;
  /** `oauth2`: the resource (RFC 8707). */
  resource?: string | null;
  /** `awsSigV4`: the id of the access key. */
  accessKeyID?: string | null;
  /** `awsSigV4`: the secret access key. */
  secretAccessKey?: string | null;
  /** `awsSigV4`: the session token of temporary keys. */
  sessionToken?: string | null;
  /** `awsSigV4`: the region, such as `eu-central-1`. */
  region?: string | null;
  /** `awsSigV4`: the service, such as `execute-api` or `s3`. */
  service?: string | null;
  /** What signs: for `standardWebhooks` `whsec_` or `whsk_` and base 64, for others any text. */
  secret?: string | null;
  /**
   * The secret from before a rotation; it signs, too, until it is left out. `standardWebhooks`, `stripe` and
   * `hmacSHA256` have room for two signatures.
   */
  previousSecret?: string | null;
  /** `hmacSHA256`: what stands before the signature, such as `sha256=`. */
  prefix?: string | null;
  /** `hmacSHA256`: how the signature is written; `hex` by default. */
  encoding?: "hex" | "base64" | null;
  /** The origins to which it may be sent, such as `https://api.example.com`. */
  origins: string[];
  /** What it is for, for people. */
  description?: string | null;
};

export type Credential = {
  name: CredentialName;
  type: CredentialType;
  username?: string;
  header?: string;
  parameter?: string;
  tokenURL?: string;
  clientID?: string;
  clientAuthentication?: string;
  keyID?: string;
  algorithm?: string;
  scope?: string;
  audience?: string;
  resource?: string;
  accessKeyID?: string;
  region?: string;
  service?: string;
  prefix?: string;
  encoding?: string;
  origins: string[];
  description: string | null;
  createdAt: Timestamp;
  changedAt: Timestamp;
  /** Only for `oauth2`, how its access token stands at the instance that answers. */
  accessToken?: {
    state: "none" | "fetching" | "valid" | "failing";
    expiresAt?: Timestamp;
    /** Why the last fetch failed. */
    problem?: string;
    /** Until then no token is fetched. */
    nextFetchAt?: Timestamp;
  };
};

/** Letters, digits, `.`, `_` and `-`. */
export type AlertName = string;

/** What a client says about an alert. */
export type AlertDraft = {
  /** The kinds of issues that it watches for; all by default. */
  kinds?: IssueKind[] | null;
  /** If not empty, only issues of these targets. */
  targets?: string[] | null;
  /**
   * How long an issue has to be there, up to 7 days; by default 5 minutes for `down`, `late`, `failing` and `stuck`, 30
   * minutes for `held`, 1 minute for `failed`.
   */
  after?: Duration | null;
  /**
   * Where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to be allowed by the
   * egress policy.
   */
  to?: {
    /** The id of a webhook endpoint; it gets events of type `alert.opened` and `alert.ended`, signed. */
    endpoint?: string | null;
    /** The URL of an incoming webhook of Slack. */
    slack?: string | null;
    /** The URL of a workflow of Microsoft Teams that posts when a webhook request comes. */
    teams?: string | null;
    /** The integration key of a PagerDuty service (Events API v2). */
    pagerDuty?: string | null;
    /** Only for PagerDuty, where its events go; such as `https://events.eu.pagerduty.com/v2/enqueue`. */
    url?: string | null;
  } | null;
};

export type Alert = {
  name: AlertName;
  kinds: IssueKind[];
  targets: string[];
  /** How long an issue has to be there; null for the usual time of each kind. */
  after: Duration | null;
  /** Where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing. */
  to: {
    endpoint?: string;
    slack?: string;
    teams?: string;
    pagerDuty?: string;
    url?: string;
  };
  createdAt: Timestamp;
  /** Until when nobody is notified that an issue begins; null if they are. */
  silence: null | {
    until: Timestamp;
    by: string | null;
    reason: string | null;
  };
  /** Why its messages cannot be sent, in words; null if they can. */
  problem: string | null;
  /** What selects its messages in a list of calls; also others to its webhook endpoint. */
  filter: CallFilter;
};

/** Whether messages of an alert are held back. */
export type Silence = {
  /** False to end it. */
  silenced: boolean;
  /** Until when, or how long from now; 1 hour if it is left out. */
  until?: Timestamp | Duration | null;
  /** Who. */
  by?: string | null;
  /** Why. */
  reason?: string | null;
};

/**
 * How far the attempt got. `answered`: a response came, and its status decides. `notSent`: the request certainly was not
 * sent. `maybeSent`: it was sent, at least in part, and no usable response came, or a 2xx that was cut. `unusable`: it
 * cannot succeed as it is. `localFault`: Redial's side failed. `interrupted`: Redial stopped or died meanwhile.
 * `cancelled`: the call was cancelled. `blocked`: the egress policy refused the address, and no connection was made.
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
  /**
   * What went wrong. Beside the outcome `answered`, whose status decides: what was wrong with the rest of the response
   * (`responseCorrupt`, `responseHeaderTooLarge`, `responseIncomplete`, `timeout`).
   */
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
  /**
   * The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a character for
   * each byte. Left out if there are none.
   */
  latin1?: string[];
  /** The first bytes of the body. Of a text that was cut within a character, that character is left out. */
  body: string;
  encoding: "utf8" | "base64";
  /**
   * `redact` for a body that is not shown, because it is not whole, or not JSON, so that nobody can tell where the
   * members are that the call's `redact` names; `body` is then empty. Left out otherwise.
   */
  withheld?: "redact";
  /**
   * Whether the body was longer, or the response is not whole. It is also true for an old attempt whose body is not kept
   * any more (the 20 latest); the body is then empty.
   */
  truncated: boolean;
};

/** The stored part of a response, with its body if requested. */
export type AttemptResponse = {
  status: number | null;
  /** Header fields, their names in lower case. */
  headers: Record<string, string[]>;
  /**
   * The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a character for
   * each byte. Left out if there are none.
   */
  latin1?: string[];
  /** The first bytes of the body. Of a text that was cut within a character, that character is left out. */
  body?: string;
  encoding?: "utf8" | "base64";
  /**
   * `redact` for a body that is not shown, because it is not whole, or not JSON, so that nobody can tell where the
   * members are that the call's `redact` names; `body` is then empty. Left out otherwise.
   */
  withheld?: "redact";
  /**
   * Whether the body was longer, or the response is not whole. It is also true for an old attempt whose body is not kept
   * any more (the 20 latest); the body is then empty.
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

export type Target = {
  key: string;
  /**
   * `down`: it failed, and its breaker is open or half-open. `degraded`: its outage is not over yet, its pace is
   * limited, or more than a tenth of its attempts in the last five minutes failed. `up`: none of that. What operators
   * have done is in `paused` and `tripped`.
   */
  state: "up" | "degraded" | "down";
  /** Its outage; null if it has none. */
  outage: Outage | null;
  /**
   * Its outages that are over, the latest first: at most 10, of the last 30 days. They outlive restarts. `closedAt` and
   * `duration` are null if nobody called the target any more.
   */
  pastOutages: Outage[];
  breaker: {
    /** `open`: no attempt is made. `halfOpen`: probes are made. */
    state: "closed" | "open" | "halfOpen";
    /** When probes are let through; null unless it is open. */
    openUntil: string | null;
    /** Openings since it last closed. */
    trips: number;
    consecutiveFailures: number;
  };
  inFlight: number;
  /** Due calls that wait for the target. */
  waiting: number;
  /**
   * Since when the oldest of them has been due; null if there are none. If they were due before a restart, it is at
   * least since then.
   */
  oldestDueAt: string | null;
  /**
   * Somebody has paused it, or it is the target of a webhook endpoint that is disabled or was removed; no call to it
   * starts.
   */
  paused: boolean;
  /** Somebody holds its breaker open. */
  tripped: boolean;
  /**
   * The end of the pause that the target asked for with `Retry-After`, or with `RateLimit` fields that report an
   * exhausted quota; null if there is none.
   */
  heldUntil: string | null;
  /**
   * How fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within these limits
   * and as fast as the target can take them. The other members are there if it is adaptive.
   */
  pace: {
    /** Whether it is adapted to what the target can take. */
    mode: "fixed" | "adaptive";
    /**
     * Attempts per second that may start, found from what the target refused and how fast it answered; null without a
     * limit, because it has shown no sign of overload.
     */
    rate?: number | null;
    /** Requests per second that the target processed, on average of its last requests. */
    deliveredPerSecond?: number;
    /**
     * Why the rate changed last. `noOverload`: there was no sign of overload yet, or none for long. `recovered`: the
     * target works again after an outage. `grew`: it took all that it got. `refused`: it refused requests, or did not
     * answer them in time. `queued`: it answered the slower the more it got. `notLoad`: a lower rate did not help, so
     * a higher one is tried, or the signs were not caused by load.
     */
    reason?: "noOverload" | "recovered" | "grew" | "refused" | "queued" | "notLoad";
    /** When the rate changed last; null if it never has. */
    changedAt?: string | null;
  };
  /** The settings in effect. */
  settings: TargetSettings;
  /** The settings that were set for this target by a PUT. */
  overrides: TargetSettings;
  /**
   * The pattern of the rule (setting `targetRules`) that applies where no PUT did, before the service's settings; null
   * if none matches.
   */
  pattern: string | null;
  /** The calls that have not run yet, due or not, counted by their wait reason. */
  backlog: {
    total: number;
    /** False if more wait in the store than are counted: 10,000 for their time and 10,000 for their turn. */
    isComplete: boolean;
    /**
     * Calls in the store whose own time has not come count for that time, such as `backoff`, also while the target is
     * paused or its breaker is open. `GET /v1/calls?waitingOn=` lists each call under the reason that it shows.
     */
    byReason: Record<string, number>;
  };
  /**
   * The results of the attempts of the last minutes, without those that were aborted by a cancel or a stop. Old attempts
   * are forgotten in steps of ten seconds, in the longer windows of a minute. Not kept over a restart.
   */
  recent: {
    "1m": RecentAttempts;
    "5m": RecentAttempts;
    "15m": RecentAttempts;
  };
  /** The times of the calls that succeeded in the last 15 minutes. */
  timeToSuccess: TimeToSuccess;
  /**
   * How long the due calls and those in flight would take if everything went on as in the last minute: the attempts
   * needed, at the recent number per call, by concurrency over mean duration, and at most at the rate that is set, or
   * that the pace has found. New calls are not counted. Null if unknown: its breaker is not closed, it is paused or
   * asked for a pause, or no call to it has ended in the last minute.
   */
  drainEstimate: Duration | null;
};

export type RecentAttempts = {
  /** Attempts after which their call succeeded. */
  succeeded: number;
  /** Attempts after which it did not. */
  failed: number;
  /** The latency that this percentage of attempts did not exceed, within a fifth; null without attempts. */
  latency: AttemptLatency;
};

/** Limits of a target. Members that are left out follow the service's settings. */
export type TargetSettings = {
  /** When the circuit breaker opens, and how it closes again. */
  breaker?: {
    /**
     * Least failures in a row that open it; 0 turns this rule off. Failures of one call count once, and those of
     * attempts that began before one that has succeeded do not count.
     */
    consecutiveFailures?: number | null;
    /**
     * A run of failures opens it only if it comes by chance with this probability at most, at the share of failures
     * that is usual for the target. 1 opens it at each run.
     */
    significance?: number | null;
    /**
     * Least time that a run of failures lasts before it opens. Twice the usual response time is added, unless it is
     * `0s`.
     */
    failureTime?: Duration | null;
    /** Failure rate in the window that opens it; 0 turns this rule off. */
    failureRate?: number | null;
    /** The window of the failure rate. */
    window?: Duration | null;
    /** Least attempts in the window for the failure rate to count. */
    minCalls?: number | null;
    /** How long it is open the first time; each time longer until a probe succeeds. */
    openInterval?: Duration | null;
    /** The longest time for which it is open. */
    maxOpenInterval?: Duration | null;
    /** Maximum attempts in flight while it is half-open, without those that go beside one that hangs, one in 2 s. */
    probes?: number | null;
  } | null;
  /** Maximum attempts in flight. */
  maxInFlight?: number | null;
  /** How many attempts may start per second. */
  rate?: {
    /** Maximum attempts started per second; null for no limit. */
    perSecond?: number | null;
    /** Attempts that may start at once after a quiet time. */
    burst?: number | null;
  } | null;
  /** Retries beyond it wait. */
  retryBudget?: {
    /** Retries as a share of the first attempts of the last 10 s. */
    share?: number | null;
    /** Retries per second in addition to the share; null for no limit on retries. */
    minPerSecond?: number | null;
  } | null;
  /**
   * How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or `fixed`, as
   * fast as these allow.
   */
  pace?: "fixed" | "adaptive" | null;
  /**
   * The share of the attempts that new calls get while a backlog waits too; what they do not use goes to the backlog. 0:
   * all calls start by age.
   */
  newCallShare?: number | null;
  /** With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time. */
  slowStart?: Duration | null;
  /** Maximum duration of an attempt, whatever the policy says. */
  attemptTimeout?: Duration | null;
  /** Whether its new calls are sensitive, whatever they say; those that it has stay as they are. */
  sensitive?: boolean | null;
  /**
   * JSON Pointers to members of JSON bodies that nobody sees of its new calls, besides those that they name; see
   * `redact` in a call.
   */
  redact?: string[] | null;
  /**
   * How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within the
   * directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without the setting,
   * every path is. Files are read when a connection is made; their content is neither stored nor shown.
   *
   * All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every request to
   * these origins, whatever target the call names. The client certificate is sent by calls to this target, or, if the
   * target is the origin itself, by every call to it; never after a redirect from another origin.
   */
  tls?: {
    /** Redial's client certificate, in PEM, followed by those of its issuers. */
    certificate?: string | null;
    /** The certificate's private key, in PEM, unless it is in the certificate's file. */
    key?: string | null;
    /** Certificate authorities, in PEM, that are trusted for this target, and no others. */
    caFile?: string | null;
    /** SHA-256 digests of public keys, in base 64. The target must have one of these keys. */
    pins?: string[] | null;
    /** Oldest allowed version of TLS. */
    minVersion?: "1.2" | "1.3" | null;
    /**
     * The origins that all of it applies to. Required, unless the target's key is an origin as in URLs: then it
     * applies to that one.
     */
    origins?: string[] | null;
  } | null;
  /** The name of the credential of calls that name none. Calls to origins that it does not list go without. */
  credential?: string | null;
  /** How calls are signed that do not say it: the name of a credential, or an object, whose secrets are not shown. */
  sign?: string | {
    type: "standardWebhooks" | "github" | "stripe" | "slack" | "hmacSHA256";
    header?: string | null;
    secret: string;
    previousSecret?: string | null;
    prefix?: string | null;
    encoding?: "hex" | "base64" | null;
  } | null;
};

/** Members of `TargetSettings`, with their ranges. Null removes what was set. */
export type TargetPatch = {
  breaker?: {
    consecutiveFailures?: number | null;
    significance?: number | null;
    failureTime?: string | null;
    failureRate?: number | null;
    window?: string | null;
    minCalls?: number | null;
    openInterval?: string | null;
    maxOpenInterval?: string | null;
    probes?: number | null;
  } | null;
  maxInFlight?: number | null;
  rate?: {
    perSecond?: number | null;
    burst?: number | null;
  } | null;
  retryBudget?: {
    share?: number | null;
    minPerSecond?: number | null;
  } | null;
  pace?: string | null;
  newCallShare?: number | null;
  slowStart?: string | null;
  attemptTimeout?: string | null;
  sensitive?: boolean | null;
  redact?: string[] | null;
  tls?: {
    certificate?: string | null;
    key?: string | null;
    caFile?: string | null;
    pins?: string[] | null;
    minVersion?: string | null;
    origins?: string[] | null;
  } | null;
  credential?: string | null;
  sign?: string | Record<string, unknown> | null;
} | null;

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

/** What a client says about a webhook endpoint. */
export type WebhookEndpointDraft = {
  /**
   * Where its webhooks are sent; absolute, http or https, and allowed by the egress policy. A `PUT` with the URL as it
   * is shown leaves the URL as it is.
   */
  url: string;
  /** A name for people. */
  description?: string | null;
  /** The events that it gets; all by default. */
  events?: WebhookEventType[] | null;
  /** If not empty, only events of these targets, and of calls to them. */
  targets?: string[] | null;
  /** Whether it gets webhooks. */
  enabled?: boolean | null;
};

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

export type WebhookEndpointWithSecret = {
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
  /** The newest secret. It is not shown again. */
  secret: string;
};

export type CallPage = {
  data: CallSummary[];
  /** The cursor of the next page; null on the last page. */
  nextCursor: CallID | null;
};

/**
 * The actions that a key allows. `submit`: submit calls. `read`: read everything except the requests of calls. `payloads`:
 * read those; with `submit` and `operate`, replay calls with another request. `operate`: act on calls and targets; with
 * `submit`, replay calls. `metrics`: read the metrics, for keys of the namespace `default`. `admin`: all of these, and
 * manage API keys and webhook endpoints.
 */
export type APIScope = "submit" | "read" | "payloads" | "operate" | "metrics" | "admin";

/** The namespace that a key acts in; by default that of the key that makes it. */
export type Namespace = string;

/** What a client says about an API key. */
export type APIKeyDraft = {
  /** A name for people. */
  name: string;
  /** What it allows. */
  scopes: APIScope[];
  /** Maximum requests per minute; no limit if left out. */
  quota?: number | null;
  namespace?: Namespace | null;
};

export type APIKey = {
  id: string;
  name: string;
  namespace: Namespace;
  scopes: APIScope[];
  /** Maximum requests per minute; null for no limit. */
  quota: number | null;
  createdAt: Timestamp;
  revokedAt: string | null;
};

export type APIKeyWithText = {
  id: string;
  name: string;
  namespace: Namespace;
  scopes: APIScope[];
  /** Maximum requests per minute; null for no limit. */
  quota: number | null;
  createdAt: Timestamp;
  revokedAt: string | null;
  /** The key itself. It is not shown again. */
  key: string;
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
export type ProblemCode = "badRequest" | "methodNotAllowed" | "notFound" | "invalidJSON" | "bodyTooLarge" | "invalidParameter" | "unsupportedMediaType" | "unsupportedContentCoding" | "preconditionFailed" | "invalidAttribution" | "crossSiteRequest" | "hostNotAllowed" | "hostEmpty" | "forwardNotDeliberate" | "missingAPIKey" | "invalidAPIKey" | "insufficientScope" | "untrustedUser" | "userNotAdmitted" | "operatorsOnly" | "otherNamespace" | "invalidNamespace" | "quotaExceeded" | "apiKeyNotFound" | "invalidAPIKeyDraft" | "firstKeyMustBeAdmin" | "tooManyAPIKeys" | "noRandomness" | "invalidDescriptor" | "invalidOption" | "invalidBatch" | "invalidIdempotencyKey" | "idempotencyKeyReused" | "tooManyHops" | "callNotFound" | "callEnded" | "callNotEnded" | "callRunning" | "contentErased" | "notReplayable" | "callDamaged" | "callRemoved" | "backlogFull" | "namespaceBacklogFull" | "starting" | "draining" | "notReady" | "storageFull" | "storageUnavailable" | "outcomeUnknown" | "leaseLost" | "tooManyQueries" | "targetNotFound" | "invalidTarget" | "invalidTargetSettings" | "tooManyTargets" | "policyNotFound" | "invalidPolicy" | "policyTooLarge" | "tooManyPolicies" | "tooManyPreviews" | "previewsFull" | "invalidOperation" | "operationNotFound" | "operationEnded" | "tooManyOperations" | "invalidWebhookEndpoint" | "invalidRotation" | "webhookEndpointNotFound" | "webhookEndpointDisabled" | "tooManyWebhookEndpoints" | "tooManyListeners" | "credentialNotFound" | "invalidCredential" | "tooManyCredentials" | "noEncryptionKey" | "issueNotFound" | "invalidIssue" | "issueNotResolved" | "alertNotFound" | "invalidAlert" | "tooManyAlerts" | "alertWithoutReceiver" | "invalidChange" | "ownedElsewhere" | "leaderUnreachable" | "instanceUnreachable" | "notAPeer" | "invalidForward" | "forwardedTooLate" | "callInMemory";

/** Start a bulk operation: one action on all calls that match a filter. */
export type BulkDryRun = {
  dryRun: true;
  action: BulkAction;
  filter: CallFilter;
  /**
   * The calls that met all conditions of `filter`, as it is shown here. At least so many if the count is not
   * complete.
   */
  matched: number;
  isComplete: boolean;
  /** Of the newest matching calls, at most 5,000, those that would be left as they are. */
  skipped: {
    calls: number;
    /** How many were looked at. */
    checked: number;
    /**
     * How many for which reason: their payloads were erased, they cannot be read, they have an ordering key
     * and would be replayed in another order, or they changed since they were counted.
     */
    reasons: {
      contentErased?: number;
      callDamaged?: number;
      ordered?: number;
      stateChanged?: number;
    };
  };
  /** When they met them; `waitingOn` and `nextAttemptBefore` are as of this time. */
  countedAt: Timestamp;
};

/** Give a webhook endpoint a new secret. */
export type SecretRotation = {
  /** How long the old secret also signs, 0s to 30d. */
  overlap?: string | null;
};

/** Show the secret that the callbacks of calls are signed with. */
export type WebhookSecret = {
  namespace: Namespace;
  secret: string;
};

/** Show when a policy makes its attempts. */
export type PolicyPreview = {
  policy?: PolicyOrName | null;
  idempotent?: boolean | null;
  /** Assumed duration of each attempt; up to an hour. */
  attemptDuration?: Duration | null;
  /** Maximum number of attempts to list. */
  limit?: number | null;
};
