// Declared here because the types of browsers and of Node.js differ.
declare function setTimeout(body: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

/** Seconds of a clock that does not go back. */
export function now(): number {
  return performance.now() / 1000;
}

// A longer timer would end at once.
const longestTimer = 2 ** 31 - 1;

/** Waits for some seconds; throws the signal's reason if it is aborted first. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, Math.min(seconds * 1000, longestTimer));
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

/** Nothing came for some time. */
export class Silence extends Error {}

/** Aborts after a silence of some seconds, or with another signal. */
export class Patience {
  private readonly controller = new AbortController();
  private timer: unknown;

  constructor(private readonly seconds: number, private readonly outer?: AbortSignal) {
    if (outer?.aborted) this.abort();
    outer?.addEventListener("abort", this.abort);
    this.heard();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Something came: the silence begins again. */
  heard(): void {
    clearTimeout(this.timer);
    const abort = () => this.controller.abort(new Silence(`nothing came for ${this.seconds} s`));
    this.timer = setTimeout(abort, Math.min(this.seconds * 1000, longestTimer));
  }

  /** Aborts nothing any more. */
  end(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener("abort", this.abort);
  }

  private readonly abort = () => this.controller.abort(this.outer?.reason);
}

/** Whether a connection failed. `fetch` throws a `TypeError` then, and gives the cause only in some runtimes. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof Silence;
}
