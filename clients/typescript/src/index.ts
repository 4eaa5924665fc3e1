/** Client of Redial, retry as a service. */

export { Redial } from "./client.js";
export type { BatchOptions, EventFilter, ListFilter, RedialOptions, SubmitOptions, WaitOptions } from "./client.js";
export { CallUnfinished, RedialConnectionError, RedialError, RedialProblem, UnexpectedAnswer, WebhookVerificationError }
  from "./errors.js";
export type { EventStream } from "./events.js";
export { Outbox } from "./outbox.js";
export type { OutboxDatabase } from "./outbox.js";
export { OutboxRelay } from "./outbox-relay.js";
export type { RelayOptions } from "./outbox-relay.js";
export { outboxTables } from "./outbox-tables.js";
export { WebhookVerifier } from "./webhooks.js";
export type { WebhookHeaders } from "./webhooks.js";
export * from "./models.js";
/** A class for each kind of refusal, such as `problems.CallEnded`. */
export * as problems from "./problems.js";
