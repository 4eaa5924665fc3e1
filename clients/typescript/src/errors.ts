import type { Call, Problem } from "./models.js";

/** The base of all errors of this package. */
export class RedialError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** The service refused a request, with a problem (RFC 9457). */
export class RedialProblem extends RedialError {
  /** A URI that identifies the kind of problem. */
  readonly type: string;
  /** The kind of problem, in words. */
  readonly title: string;
  /** A stable word that programs can match, such as `callEnded`. */
  readonly code: string;
  /** What happened this time, and what to do. */
  readonly detail: string;
  /** The places in the input that are at fault. */
  readonly errors: NonNullable<Problem["errors"]>;

  /**
   * @param status The status of the answer.
   * @param retryAfter The seconds after which to try again, if the answer says so.
   */
  constructor(problem: Partial<Problem>, readonly status: number, readonly retryAfter: number | null = null) {
    super(`${problem.code ?? ""} (${status}): ${problem.detail ?? problem.title ?? ""}`);
    this.type = problem.type ?? "about:blank";
    this.title = problem.title ?? "";
    this.code = problem.code ?? "";
    this.detail = problem.detail ?? "";
    this.errors = problem.errors ?? [];
  }
}

/** No answer came. `cause` is the last error of the connection. */
export class RedialConnectionError extends RedialError {
  /** @param mayHaveBeenAccepted False if the request was certainly never sent. */
  constructor(message: string, readonly mayHaveBeenAccepted: boolean, readonly cause: unknown) {
    super(message);
  }
}

/** The answer is not one of a Redial service; perhaps a proxy gave it, or the URL is wrong. */
export class UnexpectedAnswer extends RedialError {
  /**
   * @param status The status of the answer.
   * @param body The beginning of its body.
   */
  constructor(readonly status: number, readonly body: string) {
    super(`the answer with status ${status} is not from a Redial service; it begins with ${JSON.stringify(body.slice(0, 100))}`);
  }
}

/** A call has not ended within the time to wait. The call goes on. */
export class CallUnfinished extends RedialError {
  /** @param call The call as it was last seen. */
  constructor(readonly call: Call, timeout: number) {
    super(`${call.id} is still ${call.state} after ${timeout} s; it goes on`);
  }
}

/** A webhook is not signed by any of the secrets, or is too old or too new. */
export class WebhookVerificationError extends RedialError {}
