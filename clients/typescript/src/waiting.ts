import { CallUnfinished, RedialProblem } from "./errors.js";
import type { Call } from "./models.js";

const longestHold = 20;
const longestPause = 1;

/** Whether a call has ended. */
export function hasEnded(call: Call): boolean {
  return call.state === "succeeded" || call.state === "failed" || call.state === "cancelled";
}

/** How to wait for the end of a call by long polls. Decisions only; times are seconds of a clock that does not go back. */
export class Waiting {
  private longest = longestHold;
  private asked: number;
  /** When the timeout has passed. */
  readonly deadline: number;

  constructor(private readonly timeout: number, now: number) {
    this.deadline = now + timeout;
    this.asked = now;
  }

  /** How long the service may hold the next answer back. */
  hold(now: number): number {
    this.asked = now;
    return Math.max(0, Math.min(this.longest, this.deadline - now));
  }

  /** The service limits waits to less: ask for less. */
  refused(error: unknown): void {
    const isWait = error instanceof RedialProblem && error.errors.some((entry) => entry.parameter === "wait");
    if (!isWait || this.longest < 0.01) throw error;
    this.longest /= 2;
  }

  /** How long to sleep before the next poll, because the service may answer at once when too many wait. */
  pause(call: Call, now: number): number {
    const left = this.deadline - now;
    if (left <= 0) throw new CallUnfinished(call, this.timeout);
    return Math.min(left, Math.max(0, Math.min(longestPause, this.longest) - (now - this.asked)));
  }
}
