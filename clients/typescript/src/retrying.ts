import { RedialConnectionError, RedialError, RedialProblem, UnexpectedAnswer } from "./errors.js";
import { problemOf } from "./problems.js";
import type { Request } from "./requests.js";

/** How often the client sends a request, and the longest `Retry-After` that it waits for, in seconds. */
export interface RetryLimits {
  attempts: number;
  maxRetryAfter: number;
}

// These answers mean that the service did nothing, except with one of the codes below.
const refusals = [429, 503, 507];
const uncertain = ["outcomeUnknown", "leaseLost", "leaderUnreachable"];
// A proxy gives these when it has lost the service, and 429 and 503 when it lets nobody through.
const fromProxies = [429, 502, 503, 504];
// Codes of Node.js. Where there are none, such as in browsers, every error may come after the request was sent.
const neverSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];
const firstWait = 0.25;
const longestWait = 8;

/** The attempts of one request: each method returns the seconds to wait before the next one, or throws. Nothing is sent here. */
export class Retrying {
  private failures = 0;
  private mayHaveBeenAccepted = false;

  /** @param service Where the request goes, for the error that says that no answer came. */
  constructor(
    private readonly limits: RetryLimits, private readonly request: Request, private readonly service: string,
  ) {}

  /**
   * The wait after an attempt without an answer.
   *
   * @param left The seconds that the caller has left; a longer wait is not begun.
   */
  afterError(error: unknown, left = Infinity): number {
    const wasSent = !neverSent.includes(codeOf(error));
    this.mayHaveBeenAccepted ||= wasSent;
    const what = codeOf(error) || causeOf(error)?.message || String(error);
    const text = `no answer from ${this.service} to ${this.request.method} ${this.request.path}: ${what}`;
    const final = new RedialConnectionError(text, this.mayHaveBeenAccepted, error);
    if (wasSent && !this.request.isRepeatable) throw final;
    return this.wait(final, left);
  }

  /** The wait after an attempt that was answered with something else than a success. */
  afterAnswer(status: number, headers: Headers, text: string, left = Infinity): number {
    const error = refusal(status, headers, text);
    if (error instanceof RedialProblem) return this.afterProblem(error, left);
    this.mayHaveBeenAccepted = true;
    if (fromProxies.includes(status) && this.request.isRepeatable) {
      return this.wait(error, left, seconds(headers.get("retry-after")));
    }
    throw error;
  }

  /** The wait after a refusal by the service. */
  afterProblem(problem: RedialProblem, left = Infinity): number {
    const isCertain = !uncertain.includes(problem.code);
    if (!refusals.includes(problem.status) || !(isCertain || this.request.isRepeatable)) throw problem;
    return this.wait(problem, left, problem.retryAfter);
  }

  /** The attempts are counted from the start again. */
  progressed(): void {
    this.failures = 0;
  }

  private wait(final: RedialError, left: number, retryAfter: number | null = null): number {
    const asked = retryAfter ?? 0;
    this.failures += 1;
    if (this.failures >= this.limits.attempts || asked > this.limits.maxRetryAfter) throw final;
    // Those who were refused together do not come back together.
    const wait = Math.max(backoff(this.failures - 1), asked * (1 + Math.random() / 4));
    if (wait > left) throw final;
    return wait;
  }
}

/** Whether it can help to ask again later, after all attempts ended with this error. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RedialProblem) return refusals.includes(error.status);
  return error instanceof RedialConnectionError || (error instanceof UnexpectedAnswer && fromProxies.includes(error.status));
}

/** The wait before a retry, counted from 0: exponential, with jitter of a half. */
export function backoff(retry: number): number {
  return Math.min(longestWait, firstWait * 2 ** retry) * (0.5 + Math.random() / 2);
}

/** The error for an answer that is not a success. */
function refusal(status: number, headers: Headers, text: string): RedialError {
  if (headers.get("content-type")?.startsWith("application/problem+json")) {
    try {
      return problemOf(JSON.parse(text), status, seconds(headers.get("retry-after")));
    } catch {
      // It is not what it says.
    }
  }
  return new UnexpectedAnswer(status, text.slice(0, 1000));
}

/** A `Retry-After`; the service gives it in seconds. */
export function seconds(field: string | null): number | null {
  return field !== null && /^[0-9]+$/.test(field) ? Number(field) : null;
}

function causeOf(error: unknown): { code?: unknown; message?: string } | undefined {
  return (error as { cause?: { code?: unknown; message?: string } } | null)?.cause;
}

function codeOf(error: unknown): string {
  const code = causeOf(error)?.code;
  return typeof code === "string" ? code : "";
}
