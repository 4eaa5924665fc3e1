import { webCrypto } from "./crypto.js";
import { WebhookVerificationError } from "./errors.js";
import type { Event, WebhookPayload } from "./models.js";

/** The header fields of a request, as Node.js, Express and `fetch` have them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

/** Verifies webhooks of Redial, as Standard Webhooks defines (https://www.standardwebhooks.com). */
export class WebhookVerifier {
  private readonly keys: Uint8Array[];
  private readonly tolerance: number;

  /**
   * @param secrets The secret, `whsec_…`, or several, one of which must have signed: while a secret is rotated, the new
   *   and the old one.
   * @param options.tolerance How far the time of the webhook may be from now, in seconds; by default 300.
   */
  constructor(secrets: string | readonly string[], options: { tolerance?: number } = {}) {
    const given = typeof secrets === "string" ? [secrets] : secrets;
    if (given.length === 0) throw new RangeError("give at least one secret");
    this.keys = given.map(keyOf);
    this.tolerance = options.tolerance ?? 300;
  }

  /**
   * The content of a webhook for the `callback` of a call. It can arrive more than once, with the same `webhook-id`.
   *
   * @param body The body exactly as it arrived; JSON that was decoded and encoded again does not verify.
   * @param options.now The time, in seconds since 1970; by default the time of this machine.
   * @throws WebhookVerificationError No secret has signed it, or it is too old or too new.
   */
  async verify(body: string | Uint8Array, headers: WebhookHeaders, options: { now?: number } = {}): Promise<WebhookPayload> {
    return (await this.verified(body, headers, options.now ?? Date.now() / 1000)) as WebhookPayload;
  }

  /** The same for a webhook endpoint, which gets events of all calls and targets. */
  async verifyEvent(body: string | Uint8Array, headers: WebhookHeaders, options: { now?: number } = {}): Promise<Event> {
    return (await this.verified(body, headers, options.now ?? Date.now() / 1000)) as Event;
  }

  private async verified(body: string | Uint8Array, headers: WebhookHeaders, now: number): Promise<unknown> {
    const [id, moment, signatures] = ["id", "timestamp", "signature"].map((name) => field(headers, `webhook-${name}`));
    if (!/^[0-9]+$/.test(moment!)) throw new WebhookVerificationError("webhook-timestamp is not a number of seconds");
    const age = now - Number(moment);
    if (Math.abs(age) > this.tolerance) {
      throw new WebhookVerificationError(`the webhook is too ${age > 0 ? "old" : "new"}: ${Math.abs(age).toFixed(0)} s`);
    }
    const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
    const head = new TextEncoder().encode(`${id}.${moment}.`);
    const signed = new Uint8Array(head.length + content.length);
    signed.set(head);
    signed.set(content, head.length);
    const subtle = (await webCrypto()).subtle;
    for (const key of this.keys) {
      const imported = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
      for (const signature of versionOne(signatures!)) {
        // `verify` compares in constant time.
        if (await subtle.verify("HMAC", imported, signature, signed)) return JSON.parse(new TextDecoder().decode(content));
      }
    }
    throw new WebhookVerificationError("no secret has signed this webhook");
  }
}

function field(headers: WebhookHeaders, name: string): string {
  const value = typeof headers["get"] === "function"
    ? (headers as Headers).get(name)
    : Object.entries(headers as Record<string, string | string[] | undefined>).find(([key]) => key.toLowerCase() === name)?.[1];
  if (value === undefined || value === null) throw new WebhookVerificationError(`the header field ${name} is missing`);
  return typeof value === "string" ? value : value.join(" ");
}

function bytesOf(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function keyOf(secret: string): Uint8Array {
  const key = bytesOf(secret.trim().replace(/^whsec_/, ""));
  // The secret itself is not shown.
  if (!key || key.length === 0) throw new RangeError("a webhook secret is whsec_ and base 64");
  return key;
}

/** The signatures of version 1; others are skipped. */
function versionOne(signatures: string): Uint8Array[] {
  return signatures.split(/\s+/).filter((entry) => entry.startsWith("v1,"))
    .map((entry) => bytesOf(entry.slice(3))).filter((bytes): bytes is Uint8Array => bytes !== null);
}
