import type { Redial } from "./client.js";
import type { CallDescriptor } from "./models.js";
import { OutboxRelay } from "./outbox-relay.js";
import type { RelayOptions } from "./outbox-relay.js";
import { OutboxStatements } from "./outbox-statements.js";
import type { Placeholder } from "./outbox-statements.js";
import { givenOrNew } from "./requests.js";

/**
 * What executes a statement: a `Client` or `Pool` of `pg` as it is, or an object of a few lines around another driver. The rows
 * are objects.
 */
export interface OutboxDatabase {
  query(statement: string, values: unknown[]): PromiseLike<{ rows: Record<string, unknown>[] }>;
}

/**
 * Submits calls within a transaction of your own database.
 *
 * `submit` writes a call as a row, in your transaction. A relay submits the rows to Redial and deletes them. So the call is made
 * if the transaction commits, and only then. docs/outbox.md has the rules of the table.
 */
export class Outbox {
  private readonly statements: OutboxStatements;

  /** @param options.placeholders How the driver marks values: `$1` as `pg`, or `?` as drivers of MySQL and SQLite. */
  constructor(options: { placeholders: Placeholder }) {
    this.statements = new OutboxStatements(options.placeholders);
  }

  /**
   * Writes a call into the outbox, in the transaction of this connection, and returns its idempotency key.
   *
   * The call is made if you commit, and only then. You can find it by its key: `redial.list({ idempotencyKey: key })`.
   *
   * @param database The connection that has the transaction, not a pool.
   * @param call The call; it is not checked here. `redial.submitDryRun` checks it.
   * @param options.idempotencyKey A key of your own, of 1 to 255 visible ASCII characters; by default a new one.
   */
  async submit(database: OutboxDatabase, call: CallDescriptor, options: { idempotencyKey?: string } = {}): Promise<string> {
    if ("totalCount" in database) {
      throw new TypeError("a pool has no transaction; submit with the client that has begun it");
    }
    const key = await givenOrNew(options.idempotencyKey);
    // The service takes spaces too, but a database may cut them off at the end.
    if (!/^[!-~]{1,255}$/.test(key)) {
      throw new RangeError(`an idempotency key in an outbox has 1 to 255 visible ASCII characters, unlike ${JSON.stringify(key)}`);
    }
    // A row may be submitted twice. That must not run a call again that has failed or was cancelled meanwhile.
    const text = JSON.stringify({ onRepeat: "answer", ...call });
    await database.query(this.statements.insert, [key, escaped(text)]);
    return key;
  }

  /**
   * A relay, which submits the rows to Redial. It does nothing before its `run`.
   *
   * @param database A pool, or a connection that nothing else uses and that connects again by itself.
   */
  relay(redial: Redial, database: OutboxDatabase, options: RelayOptions = {}): OutboxRelay {
    return new OutboxRelay(redial, database, this.statements, options);
  }
}

/** JSON in ASCII, so that no connection with another character set changes the text. */
function escaped(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
}
