/** How a driver marks values. */
export type Placeholder = "$1" | "?";

/** The statements of an outbox, which all three databases understand. */
export class OutboxStatements {
  readonly insert: string;
  readonly refuse: string;
  readonly held = "SELECT holder, held_until FROM redial_outbox_relay WHERE id = 1";
  readonly firstHold: string;
  readonly hold: string;

  constructor(private readonly placeholder: Placeholder) {
    if (placeholder !== "$1" && placeholder !== "?") {
      throw new TypeError(`the placeholders of a driver are "$1" or "?", unlike ${JSON.stringify(placeholder)}`);
    }
    const at = (number: number) => this.at(number);
    this.insert = `INSERT INTO redial_outbox (idempotency_key, descriptor) VALUES (${this.marks(2)})`;
    this.refuse =
      `UPDATE redial_outbox SET problem_code = ${at(1)}, problem_detail = ${at(2)} WHERE id = ${at(3)} AND descriptor = ${at(4)}`;
    this.firstHold = `INSERT INTO redial_outbox_relay (id, holder, held_until) VALUES (1, ${this.marks(2)})`;
    this.hold =
      `UPDATE redial_outbox_relay SET holder = ${at(1)}, held_until = ${at(2)} ` +
      `WHERE id = 1 AND holder = ${at(3)} AND held_until = ${at(4)}`;
  }

  /** The oldest rows that are to be submitted. */
  waiting(batch: number): string {
    return "SELECT id, idempotency_key, descriptor FROM redial_outbox WHERE problem_code IS NULL " +
      `ORDER BY id LIMIT ${Math.max(1, Math.trunc(batch))}`;
  }

  /** Deletes that many rows by their ids. */
  delete(count: number): string {
    return `DELETE FROM redial_outbox WHERE id IN (${this.marks(count)})`;
  }

  private at(number: number): string {
    return this.placeholder === "?" ? "?" : `$${number}`;
  }

  private marks(count: number): string {
    return Array.from({ length: count }, (_, index) => this.at(index + 1)).join(", ");
  }
}
