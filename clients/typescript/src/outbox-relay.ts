import type { Redial } from "./client.js";
import { webCrypto } from "./crypto.js";
import { RedialError, RedialProblem } from "./errors.js";
import type { OutboxDatabase } from "./outbox.js";
import type { OutboxStatements } from "./outbox-statements.js";
import { keyField } from "./requests.js";
import { backoff } from "./retrying.js";
import { now, sleep } from "./time.js";

export interface RelayOptions {
  /** How many rows are read at once, and are in memory then; by default 100. */
  batch?: number;
  /** How many submissions are in flight at once; by default 16. */
  workers?: number;
  /** The seconds from one look into an empty outbox to the next; by default 1. */
  poll?: number;
  /** Receives what is to be known: rows that are refused, troubles and their ends; by default `console.warn`. */
  log?: (message: string) => void;
}

// Other relays know these numbers: docs/outbox.md.
const hold = 10;
const longestHold = 60;
const failuresOfAHolder = 3;

// A Retry-After may be longer, such as one of a proxy.
const longestWait = 60;

// Statuses of a submission that is refused for good. All others are no fault of the row: the service is away, or is not set up
// as it should be, such as with 401.
const final = [400, 409, 413, 422, 508];
// These have such a status, and concern every row.
// A problem without a code is not Redial's.
const notOfTheRow = ["invalidNamespace", "hostEmpty", ""];

interface Row {
  id: unknown;
  key: string;
  text: string;
}

/** The results of some rows. Rows that are neither accepted nor refused are still to be submitted. */
interface Outcome {
  accepted: Row[];
  refused: { row: Row; code: string; detail: string }[];
  /** The last error because of which rows are left. */
  error: RedialError | null;
  /** The seconds after which to go on, if the service says so. */
  retryAfter: number;
  /** Errors since the last answer that was none. */
  failures: number;
}

/**
 * Submits the rows of an outbox to Redial, and deletes those that it has accepted.
 *
 * There may be several relays for one outbox: one works and the others stand by. Nothing depends on that but the load: a row
 * that is submitted twice is one call. A row that the service refuses for good stays, with `problem_code` and `problem_detail`.
 * After all other errors of the service and of the database, the relay goes on, with backoff.
 */
export class OutboxRelay {
  private readonly batch: number;
  private readonly workers: number;
  private readonly poll: number;
  private readonly log: (message: string) => void;
  private holder = "";
  private heldAt: number | null = null;
  private failures = 0;
  private trouble = "";
  private woken: (() => void) | null = null;
  private isWoken = false;

  /** @internal */
  constructor(
    private readonly redial: Redial, private readonly database: OutboxDatabase, private readonly statements: OutboxStatements,
    options: RelayOptions,
  ) {
    this.batch = options.batch ?? 100;
    this.workers = options.workers ?? 16;
    this.poll = options.poll ?? 1;
    this.log = options.log ?? ((message) => console.warn(message));
  }

  /** Relays until the signal is aborted. The requests in flight are ended first. */
  async run(options: { signal?: AbortSignal } = {}): Promise<void> {
    const signal = options.signal;
    const wake = () => this.wake();
    signal?.addEventListener("abort", wake);
    while (!signal?.aborted) {
      const wait = await this.turn(signal);
      if (this.failures > 0) await sleep(wait, signal).catch(() => undefined);
      else await this.idle(wait);
    }
    signal?.removeEventListener("abort", wake);
    await this.release();
  }

  /** Looks into the outbox at once. Call it after a commit of the same process; others are noticed soon, too. */
  wake(): void {
    this.isWoken = true;
    this.woken?.();
  }

  /**
   * Submits the rows that wait, and returns how many were accepted.
   *
   * @throws RedialError The service has not taken all of them.
   */
  async runOnce(): Promise<number> {
    for (let accepted = 0; ;) {
      const { count, outcome } = await this.round();
      accepted += outcome.accepted.length;
      if (outcome.error) throw outcome.error;
      if (count < this.batch) return accepted;
    }
  }

  /** One look into the outbox. Returns the seconds until the next one. */
  private async turn(signal?: AbortSignal): Promise<number> {
    let count: number;
    let outcome: Outcome;
    try {
      if (!(await this.holds())) {
        this.failures = 0;
        return this.poll;
      }
      ({ count, outcome } = await this.round(signal));
    } catch (error) {
      this.heldAt = null;
      this.failures += 1;
      this.say(`the outbox is not relayed: ${String(error)}`);
      return backoff(this.failures - 1);
    }
    if (outcome.error) {
      // Some may have been accepted all the same; then there is no reason to be slow.
      this.failures = outcome.accepted.length > 0 ? 1 : this.failures + 1;
      this.say(`rows of the outbox wait: ${outcome.error.message}`);
      // Another relay may reach the service, or have a key that is valid.
      if (this.failures >= failuresOfAHolder) await this.release();
      const wait = outcome.accepted.length > 0 ? 0 : backoff(this.failures - 1);
      return Math.min(longestWait, Math.max(wait, outcome.retryAfter));
    }
    this.failures = 0;
    this.say("");
    return count === this.batch ? 0 : this.poll;
  }

  /** Submits some rows and writes the results. */
  private async round(signal?: AbortSignal): Promise<{ count: number; outcome: Outcome }> {
    const rows = (await this.rows(this.statements.waiting(this.batch))).map((row): Row => ({
      id: row["id"], key: String(row["idempotency_key"]), text: String(row["descriptor"]),
    }));
    const outcome: Outcome = { accepted: [], refused: [], error: null, retryAfter: 0, failures: 0 };
    const chains = inChains(rows);
    const work = async () => {
      for (let chain = chains.shift(); chain; chain = chains.shift()) await this.submitInOrder(chain, outcome, signal);
    };
    await Promise.all(Array.from({ length: Math.min(this.workers, rows.length) }, work));
    if (outcome.accepted.length > 0) {
      const ids = outcome.accepted.map((row) => row.id);
      await this.database.query(this.statements.delete(ids.length), ids);
    }
    for (const { row, code, detail } of outcome.refused) {
      await this.database.query(this.statements.refuse, [code, detail, row.id, row.text]);
      this.log(
        `row ${String(row.id)} of redial_outbox was refused: ${code}: ${detail} Correct its descriptor and set problem_code to ` +
        "NULL, or delete it.");
    }
    return { count: rows.length, outcome };
  }

  private async submitInOrder(chain: Row[], outcome: Outcome, signal?: AbortSignal): Promise<void> {
    for (const row of chain) {
      // One row with which the service has trouble must not hold up all others.
      if (outcome.failures >= this.workers || signal?.aborted || !(await this.submit(row, outcome))) return;
    }
  }

  /** Submits a row once, and returns whether those after it may follow. */
  private async submit(row: Row, outcome: Outcome): Promise<boolean> {
    let field: string;
    try {
      field = keyField(row.key);
    } catch (error) {
      outcome.refused.push({ row, code: "invalidIdempotencyKey", detail: plain((error as Error).message) });
      return true;
    }
    try {
      await this.redial.submitWritten(row.text, field);
    } catch (error) {
      if (!(error instanceof RedialError)) throw error;
      if (error instanceof RedialProblem && final.includes(error.status) && !notOfTheRow.includes(error.code)) {
        outcome.refused.push({ row, code: plain(error.code).slice(0, 255), detail: plain(error.detail || error.title) });
        outcome.failures = 0;
        return true;
      }
      outcome.failures += 1;
      outcome.error = error;
      if (error instanceof RedialProblem) outcome.retryAfter = Math.max(outcome.retryAfter, error.retryAfter ?? 0);
      return false;
    }
    outcome.accepted.push(row);
    outcome.failures = 0;
    return true;
  }

  /** Whether this relay is the one that works. */
  private async holds(): Promise<boolean> {
    const start = now();
    if (this.heldAt !== null && start - this.heldAt < hold / 3) return true;
    this.heldAt = null;
    this.holder ||= `node-${await randomText()}`;
    const [held] = await this.rows(this.statements.held);
    const moment = Math.floor(Date.now() / 1000);
    if (!held) {
      await this.database.query(this.statements.firstHold, [this.holder, moment + hold]);
    } else {
      const until = Number(held["held_until"]);
      // A hold far in the future is one of a wrong clock.
      if (held["holder"] !== this.holder && moment <= until && until <= moment + longestHold) return false;
      await this.database.query(this.statements.hold, [this.holder, moment + hold, held["holder"], held["held_until"]]);
      // Not the count of changed rows: MySQL does not count a row that stays as it was.
      if ((await this.rows(this.statements.held))[0]?.["holder"] !== this.holder) return false;
    }
    this.heldAt = start;
    return true;
  }

  /** Another relay need not wait for the end of the hold. */
  private async release(): Promise<void> {
    if (this.heldAt === null) return;
    this.heldAt = null;
    try {
      const [held] = await this.rows(this.statements.held);
      if (held?.["holder"] !== this.holder) return;
      await this.database.query(this.statements.hold, [this.holder, 0, this.holder, held["held_until"]]);
    } catch (error) {
      this.log(`the hold on the outbox ends by itself, in at most ${hold} s: ${String(error)}`);
    }
  }

  private async rows(statement: string): Promise<Record<string, unknown>[]> {
    return (await this.database.query(statement, [])).rows;
  }

  /** Waits, unless somebody has called `wake`. */
  private async idle(seconds: number): Promise<void> {
    const controller = new AbortController();
    this.woken = () => controller.abort();
    if (!this.isWoken) await sleep(seconds, controller.signal).catch(() => undefined);
    this.woken = null;
    this.isWoken = false;
  }

  /** Logs a trouble once, and its end. */
  private say(trouble: string): void {
    if (trouble && trouble !== this.trouble) this.log(trouble);
    else if (this.trouble && !trouble) this.log("the outbox is relayed again");
    this.trouble = trouble;
  }
}

/** A text that every database can store, whatever its character set. */
function plain(text: string): string {
  return text.replace(/[^ -~\n]/g, "?").slice(0, 10_000);
}

/** The rows of each ordering key in their order, and each other row by itself. */
function inChains(rows: Row[]): Row[][] {
  const chains: Row[][] = [];
  const byKey = new Map<string, Row[]>();
  for (const row of rows) {
    const key = orderingKey(row.text);
    const before = key === null ? undefined : byKey.get(key);
    if (before) {
      before.push(row);
      continue;
    }
    const chain = [row];
    chains.push(chain);
    if (key !== null) byKey.set(key, chain);
  }
  return chains;
}

function orderingKey(text: string): string | null {
  try {
    const call: unknown = JSON.parse(text);
    const key = (call as { orderingKey?: unknown } | null)?.orderingKey;
    return typeof key === "string" ? key : null;
  } catch {
    return null; // The service says what is wrong with it.
  }
}

async function randomText(): Promise<string> {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
