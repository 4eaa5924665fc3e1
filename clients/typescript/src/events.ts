import type { Event } from "./models.js";
import type { Request } from "./requests.js";
import { Retrying, backoff, isPassing } from "./retrying.js";
import type { RetryLimits } from "./retrying.js";
import { ServerSentEvents } from "./server-sent-events.js";
import { Patience, isConnectionError, sleep } from "./time.js";

// The service sends something every 15 seconds; after three times as long a connection is dead.
const silence = 45;

const stream: Request = { method: "GET", path: "/v1/events", isRepeatable: true };

/** How the stream connects. */
export interface EventSource {
  fetch: typeof fetch;
  url: string;
  /** The URL of the service, for errors. */
  service: string;
  headers: Record<string, string>;
  limits: RetryLimits;
  lastEventId: string | undefined;
  signal: AbortSignal | undefined;
}

/**
 * Events of a service, one after the other. Use it with `for await`, which closes it at its end.
 *
 * The first connection is made as other requests are. After that, the stream reconnects for as long as it takes.
 */
export class EventStream implements AsyncIterableIterator<Event> {
  private parser: ServerSentEvents;
  private ready: Event[] = [];
  private reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  private patience: Patience | null = null;
  private hasConnected = false;
  private isClosed = false;
  private losses = 0;
  private readonly closing = new AbortController();

  constructor(private readonly source: EventSource) {
    this.parser = new ServerSentEvents(source.lastEventId ?? null);
    source.signal?.addEventListener("abort", () => this.closing.abort(source.signal?.reason));
    if (source.signal?.aborted) this.closing.abort(source.signal.reason);
  }

  /** The id from which another stream can go on, after all events that this one has read. */
  get lastEventId(): string | null {
    return this.parser.lastId;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Connects, so that no later event is missed. Without it, the first `next` connects. */
  async connect(): Promise<void> {
    const retrying = () => new Retrying(this.source.limits, stream, this.source.service);
    let attempts = retrying();
    while (!this.reader) {
      let wait: number | null;
      try {
        wait = await this.attempt(attempts);
      } catch (final) {
        // Once connected, it waits for a service that restarts, also behind a proxy, for as long as it takes.
        if (!this.hasConnected || !isPassing(final)) throw final;
        attempts = retrying();
        wait = Math.max(backoff(10), (final as { retryAfter?: number | null }).retryAfter ?? 0);
      }
      if (wait !== null) await sleep(wait, this.closing.signal);
    }
  }

  /** Connects; if that fails, the seconds to wait before the next attempt. */
  private async attempt(attempts: Retrying): Promise<number | null> {
    const headers: Record<string, string> = { ...this.source.headers, "Accept": "text/event-stream" };
    if (this.parser.lastId !== null) headers["Last-Event-ID"] = this.parser.lastId;
    const patience = new Patience(silence, this.closing.signal);
    try {
      const response = await this.source.fetch(this.source.url, { headers, signal: patience.signal, redirect: "manual" });
      if (response.ok && response.body) {
        this.reader = response.body.getReader();
        this.patience = patience;
        this.hasConnected = true;
        return null;
      }
      const text = await response.text();
      patience.end();
      return attempts.afterAnswer(response.status, response.headers, text);
    } catch (error) {
      patience.end();
      if (this.closing.signal.aborted) throw this.closing.signal.reason;
      if (!isConnectionError(error)) throw error;
      return attempts.afterError(error);
    }
  }

  /** The next event; ends only after `close`. */
  async next(): Promise<IteratorResult<Event, undefined>> {
    while (!this.isClosed) {
      const event = this.ready.shift();
      if (event) return { done: false, value: event };
      try {
        await this.connect();
        await this.read();
      } catch (error) {
        // No timer of the connection keeps the program from its end.
        this.drop();
        if (!this.isClosed) throw error;
      }
    }
    return { done: true, value: undefined };
  }

  /** Called by `for await` when its body ends early. */
  async return(): Promise<IteratorResult<Event, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Ends the stream. */
  close(): void {
    this.isClosed = true;
    this.closing.abort(new Error("the event stream was closed"));
    this.drop();
  }

  private async read(): Promise<void> {
    let piece: Uint8Array | undefined;
    try {
      piece = (await this.reader?.read())?.value;
    } catch (error) {
      if (this.closing.signal.aborted) throw this.closing.signal.reason;
      if (!isConnectionError(error)) throw error;
    }
    if (piece) {
      this.patience?.heard();
      this.losses = 0;
      this.ready.push(...this.parser.feed(piece));
      return;
    }
    // The service stops, or the connection is lost; the next one goes on after the last event.
    this.drop();
    this.parser = new ServerSentEvents(this.parser.lastId);
    await sleep(backoff(this.losses), this.closing.signal);
    this.losses += 1;
  }

  private drop(): void {
    this.patience?.end();
    this.reader?.cancel().catch(() => {});
    [this.reader, this.patience] = [null, null];
  }
}
