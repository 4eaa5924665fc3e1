import { Parts, batchItems, partRequest } from "./batches.js";
import type { Part } from "./batches.js";
import { UnexpectedAnswer } from "./errors.js";
import { EventStream } from "./events.js";
import { Methods } from "./methods.js";
import type {
  AttemptWithResponse, BatchItem, Call, CallDescriptor, CallKind, CallState, CallSummary, FailureReason, Outcome, WaitReason,
} from "./models.js";
import { asking, callPath, filters, givenOrNew, joined, reading, requirePrintable, shown, submission } from "./requests.js";
import type { Request } from "./requests.js";
import { Retrying } from "./retrying.js";
import type { RetryLimits } from "./retrying.js";
import { Patience, isConnectionError, now, sleep } from "./time.js";
import { Waiting, hasEnded } from "./waiting.js";

// How much later than asked for an answer may come, in seconds.
const lateAnswer = 5;

/** How to reach a service. */
export interface RedialOptions {
  /** Where the service is; by default the environment's `REDIAL_SERVER`, or http://127.0.0.1:8080. */
  url?: string;
  /** The API key; by default the environment's `REDIAL_API_KEY`, if it is set. */
  apiKey?: string;
  /** The namespace to act in, for a key that may choose one. */
  namespace?: string;
  /** How long the service may be silent, in seconds; by default 30. */
  timeout?: number;
  /** How often a request is sent, the first time included; by default 5. */
  attempts?: number;
  /** The longest `Retry-After` that is waited for, in seconds; by default 60. After a longer one the refusal is thrown. */
  maxRetryAfter?: number;
  /** A `fetch` of your own, for proxies, certificates and the like. */
  fetch?: typeof fetch;
}

export interface SubmitOptions {
  /**
   * The same key and call submitted again within a day return the first call, and run it again if it has failed or was
   * cancelled. By default a new one, so that retries of this request submit one call.
   */
  idempotencyKey?: string;
  /** Return only when the call has ended, or after this many seconds. */
  wait?: number;
  signal?: AbortSignal;
}

export interface BatchOptions {
  /**
   * The same key and calls submitted again within a day return the first calls, and run those again that have failed or
   * were cancelled. At most 230 characters.
   */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface WaitOptions {
  /** The longest time to wait, in seconds; by default there is no limit. */
  timeout?: number;
  signal?: AbortSignal;
}

/** Conditions of a list; all must hold. */
export interface ListFilter {
  state?: CallState | readonly CallState[];
  target?: string;
  labels?: Readonly<Record<string, string>>;
  createdAfter?: Date | string;
  createdBefore?: Date | string;
  /** Accepted at least so long ago: a duration such as `15m`. */
  olderThan?: string;
  /** At least so many attempts have begun. */
  attempts?: number;
  /** Waiting calls that wait for this. */
  waitingOn?: WaitReason;
  /** Waiting calls whose next attempt may begin before this time, or within a duration such as `10m`. */
  nextAttemptBefore?: Date | string;
  /** A status, or a range such as `500-599`, of the last attempt. */
  status?: string;
  outcome?: Outcome;
  failureReason?: FailureReason;
  /** Failed calls of the issue with this id. */
  issue?: string;
  url?: string;
  idempotencyKey?: string;
  kind?: CallKind;
  /** How many calls a request fetches, 1 to 250; by default 250. */
  pageSize?: number;
  signal?: AbortSignal;
}

/** Conditions of the event stream; all must hold. */
export interface EventFilter {
  /** Only events of this type, or of these. */
  type?: string | readonly string[];
  target?: string;
  /** Only events of the call with this id. */
  call?: string;
  /** Only events of calls with this label, as `NAME=VALUE`. */
  label?: string;
  kind?: CallKind;
  /** Only events of calls of which at least so many attempts had begun. */
  attempts?: number;
  /** Only events of calls that waited for this. */
  waitingOn?: WaitReason;
  /** Begin after this event: the `lastEventId` of an earlier stream. */
  lastEventId?: string;
  signal?: AbortSignal;
}

/**
 * A client of a Redial service.
 *
 * It sends its own requests again after errors of the connection and after 429, 503 and 507, as far as that is safe:
 * requests that read or replace, cancellations, and submissions and replays, because each has an idempotency key. The others,
 * such as `retry`, are sent again only if the service certainly did nothing.
 *
 * Every method throws `RedialProblem` if the service refuses (see `problems` for its codes), `RedialConnectionError` if no
 * answer came, and `UnexpectedAnswer` if something else answers.
 */
export class Redial extends Methods {
  private readonly url: string;
  private readonly service: string;
  private readonly headers: Record<string, string> = {};
  private readonly timeout: number;
  private readonly limits: RetryLimits;
  private readonly fetch: typeof fetch;

  constructor(options: RedialOptions = {}) {
    super();
    const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
    this.url = options.url || environment["REDIAL_SERVER"] || "http://127.0.0.1:8080";
    if (!/^https?:\/\//i.test(this.url)) {
      throw new TypeError(`the URL of a service begins with http:// or https://, unlike ${JSON.stringify(this.url)}`);
    }
    this.service = shown(this.url);
    const key = (options.apiKey || environment["REDIAL_API_KEY"] || "").trim();
    if (key) {
      // An error of `fetch` would show the key.
      requirePrintable("the API key", key);
      this.headers["Authorization"] = `Bearer ${key}`;
    }
    if (options.namespace) {
      requirePrintable("the namespace", options.namespace);
      this.headers["Redial-Namespace"] = options.namespace;
    }
    this.timeout = options.timeout ?? 30;
    this.limits = { attempts: Math.max(1, options.attempts ?? 5), maxRetryAfter: options.maxRetryAfter ?? 60 };
    this.fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** Submits a call, which is on the service's disk when this returns. */
  async submit(call: CallDescriptor, options: SubmitOptions = {}): Promise<Call> {
    const key = await givenOrNew(options.idempotencyKey);
    return this.json(submission(call, key, options.wait), options.signal);
  }

  /**
   * Submits any number of calls, and yields the result of each, in order; nothing is sent before you iterate.
   *
   * A result has the `status` that a single submission would have been answered with, `line` (its number, from 1), and
   * `id` or `problem`. A call that is refused stops nothing. The calls are taken one by one, and sent in parts of at most
   * 1,000 calls and 64 KiB.
   */
  async *batch(
    calls: Iterable<CallDescriptor> | AsyncIterable<CallDescriptor>, options: BatchOptions = {},
  ): AsyncGenerator<BatchItem, void, undefined> {
    const key = await givenOrNew(options.idempotencyKey);
    const parts = new Parts();
    for await (const call of calls) {
      const part = parts.add(call);
      if (part) yield* await this.part(part, key, options.signal);
    }
    const part = parts.rest();
    if (part) yield* await this.part(part, key, options.signal);
  }

  /** A call in its current state; with its request, if the API key has the scope `payloads`. */
  async get(id: string, options: { withRequest?: boolean; signal?: AbortSignal } = {}): Promise<Call> {
    return this.json(reading(id, 0, options.withRequest), options.signal);
  }

  /**
   * Waits for the end of a call, by long polls. A failed call is a result, too, and not an error.
   *
   * @throws CallUnfinished The call has not ended within the timeout.
   */
  async wait(id: string, options: WaitOptions = {}): Promise<Call> {
    const waiting = new Waiting(options.timeout ?? Infinity, now());
    for (;;) {
      let call: Call;
      try {
        call = await this.json(reading(id, waiting.hold(now())), options.signal, waiting.deadline);
      } catch (error) {
        waiting.refused(error);
        continue;
      }
      if (hasEnded(call)) return call;
      await sleep(waiting.pause(call, now()), options.signal);
    }
  }

  /** The attempts of a call with their responses, oldest first; with the bodies of the responses if you want. */
  async attempts(id: string, options: { withBody?: boolean; signal?: AbortSignal } = {}): Promise<AttemptWithResponse[]> {
    const params: [string, string][] = options.withBody ? [["include", "body"]] : [];
    const request = asking("GET", callPath(id, "/attempts"), { params });
    const attempts: AttemptWithResponse[] = [];
    for await (const attempt of this.pages<AttemptWithResponse>(request, options.signal)) attempts.push(attempt);
    return attempts;
  }

  /** Cancels a call. If it has ended already, the problem has the code `callEnded`. */
  async cancel(id: string, options: { signal?: AbortSignal } = {}): Promise<Call> {
    return this.json(asking("POST", callPath(id, "/cancel")), options.signal);
  }

  /** Runs a call now, or again if it has ended. Who wants it, and why, is recorded. */
  async retry(id: string, options: { by?: string; reason?: string; signal?: AbortSignal } = {}): Promise<Call> {
    const { by, reason, signal } = options;
    return this.json(asking("POST", callPath(id, "/retry"), { body: { by, reason }, isRepeatable: false }), signal);
  }

  /** The calls that meet all conditions, newest first, fetched page by page while you iterate. */
  async *list(filter: ListFilter = {}): AsyncGenerator<CallSummary, void, undefined> {
    const { labels, pageSize, signal, ...conditions } = filter;
    const params = filters({ ...conditions, limit: pageSize ?? 250, labels });
    yield* this.pages<CallSummary>(asking("GET", "/v1/calls", { params }), signal);
  }

  /**
   * Events as they happen, until you close the stream. It reconnects by itself, without missing events.
   *
   * An event `reset` says that events were missed: read the calls that you need again.
   */
  events(filter: EventFilter = {}): EventStream {
    const { lastEventId, signal, ...conditions } = filter;
    return new EventStream({
      fetch: this.fetch, url: joined(this.url, "/v1/events", filters(conditions)), service: this.service,
      headers: this.headers, limits: this.limits, lastEventId, signal,
    });
  }

  /**
   * Any request of the API by its path, such as `request("GET", "/v1/instances")`; the JSON of its answer, if any.
   *
   * A GET is sent again after errors, anything else only if the service certainly did nothing.
   */
  async request<Result = unknown>(
    method: string, path: string, options: { params?: Record<string, string>; json?: unknown; signal?: AbortSignal } = {},
  ): Promise<Result> {
    const params = Object.entries(options.params ?? {});
    const isRepeatable = method === "GET" || method === "HEAD";
    return this.json(asking(method, path, { params, body: options.json, isRepeatable }), options.signal);
  }

  /**
   * Submits the text of a call as it was written, once, under a key as it is in a header field.
   *
   * @internal
   */
  async submitWritten(text: string, keyField: string): Promise<void> {
    const request: Request = {
      method: "POST", path: "/v1/calls", body: text, isRepeatable: true,
      headers: { "Content-Type": "application/json", "Idempotency-Key": keyField },
    };
    const answer = await this.json<{ id?: unknown } | null>(request, undefined, now());
    // A proxy, or a service of another kind, may answer with a success too.
    if (!String(answer?.id ?? "").startsWith("call_")) throw new UnexpectedAnswer(200, JSON.stringify(answer ?? null));
  }

  /** The results of one part of a batch. */
  private async part(part: Part, key: string, signal?: AbortSignal): Promise<BatchItem[]> {
    const request = partRequest(part, key);
    const retrying = new Retrying(this.limits, request, this.service);
    let most = 0;
    for (;;) {
      const { status, text } = await this.send(request, signal);
      const { items, end } = batchItems(status, text, part.lines.length);
      if (!end) return items.map((item) => ({ ...item, line: (item.line ?? 0) + part.first }));
      // Calls that were accepted are recognized by their keys when the part is sent again.
      if (items.length > most) {
        most = items.length;
        retrying.progressed();
      }
      await sleep(retrying.afterProblem(end), signal);
    }
  }

  /** @internal */
  protected async *pages<Entry>(request: Request, signal?: AbortSignal): AsyncGenerator<Entry, void, undefined> {
    const params = request.params ?? [];
    let cursor: string | null = null;
    do {
      const one: Request = cursor ? { ...request, params: [...params, ["cursor", cursor]] } : request;
      const page: { data: Entry[]; nextCursor: string | null } = await this.json(one, signal);
      yield* page.data;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** @internal */
  protected async json<Result>(request: Request, signal?: AbortSignal, until = Infinity): Promise<Result> {
    const { status, text } = await this.send(request, signal, until);
    try {
      return (text ? JSON.parse(text) : undefined) as Result;
    } catch {
      throw new UnexpectedAnswer(status, text.slice(0, 1000));
    }
  }

  /** Sends a request until it is answered with a success, must not be sent again, or its time has run out. */
  private async send(
    request: Request, signal?: AbortSignal, until = Infinity,
  ): Promise<{ status: number; text: string }> {
    const retrying = new Retrying(this.limits, request, this.service);
    for (;;) {
      const most = Math.max(0, until - now()) + lateAnswer;
      const patience = new Patience(Math.min(this.timeout + (request.hold ?? 0), most), signal);
      let wait: number;
      try {
        const response = await this.fetch(joined(this.url, request.path, request.params), {
          method: request.method, body: request.body ?? null, headers: { ...this.headers, ...request.headers },
          redirect: "manual", signal: patience.signal,
        });
        const text = await textOf(response, patience);
        if (response.ok) return { status: response.status, text };
        wait = retrying.afterAnswer(response.status, response.headers, text, until - now());
      } catch (error) {
        if (signal?.aborted || !isConnectionError(error)) throw error;
        wait = retrying.afterError(error, until - now());
      } finally {
        patience.end();
      }
      await sleep(wait, signal);
    }
  }
}

/** The body of an answer. It may take long, as long as something comes. */
async function textOf(response: Response, patience: Patience): Promise<string> {
  patience.heard();
  const reader = response.body?.getReader();
  if (!reader) return response.text();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    patience.heard();
    text += decoder.decode(value, { stream: true });
  }
}
