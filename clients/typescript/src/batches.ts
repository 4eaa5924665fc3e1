import { UnexpectedAnswer } from "./errors.js";
import type { RedialProblem } from "./errors.js";
import type { BatchItem, CallDescriptor } from "./models.js";
import { problemOf } from "./problems.js";
import { keyField } from "./requests.js";
import type { Request } from "./requests.js";
import { seconds } from "./retrying.js";

// The parts of a batch. A part may be written as a whole before its answers are read, and the service stops reading while
// its answers are not read. 64 KiB fit into the buffers of a connection, so neither side ever waits for the other.
const partLines = 1000;
const partBytes = 64 * 1024;

/** Some lines of a batch, which are sent in one request. */
export interface Part {
  first: number;
  lines: string[];
}

/** Cuts a batch into parts, line by line. */
export class Parts {
  private first = 0;
  private lines: string[] = [];
  private size = 0;
  private readonly encoder = new TextEncoder();

  /** The part that is complete before this call, if there is one. */
  add(call: CallDescriptor): Part | null {
    const line = JSON.stringify(call);
    const size = this.encoder.encode(line).length + 1;
    const done = this.lines.length === partLines || this.size + size > partBytes ? this.rest() : null;
    this.lines.push(line);
    this.size += size;
    return done;
  }

  /** The part with the lines that are in no part yet. */
  rest(): Part | null {
    if (this.lines.length === 0) return null;
    const part = { first: this.first, lines: this.lines };
    this.first += this.lines.length;
    [this.lines, this.size] = [[], 0];
    return part;
  }
}

/** The same part has the same key each time, so that sending it again submits nothing twice. */
export function partRequest(part: Part, key: string): Request {
  return {
    method: "POST", path: "/v1/calls/batch", body: part.lines.join("\n") + "\n", isRepeatable: true,
    headers: {
      "Content-Type": "application/x-ndjson", "Prefer": "return=minimal",
      "Idempotency-Key": keyField(`${key}/${part.first}`),
    },
  };
}

/** The results in NDJSON of that many calls; fewer only if the service ended the stream early, and says why. */
export function batchItems(status: number, text: string, count: number): { items: BatchItem[]; end: RedialProblem | null } {
  let items: BatchItem[] = [];
  try {
    items = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line) as BatchItem);
  } catch {
    items = [];
  }
  const last = items[items.length - 1];
  if (last && (last.line ?? null) === null) {
    const end = problemOf(last.problem ?? {}, last.status, seconds(last.headers?.["retry-after"] ?? null));
    return { items: items.slice(0, -1), end };
  }
  if (items.length !== count) throw new UnexpectedAnswer(status, text.slice(0, 1000));
  return { items, end: null };
}
