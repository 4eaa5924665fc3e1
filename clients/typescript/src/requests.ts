import { webCrypto } from "./crypto.js";
import type { CallDescriptor } from "./models.js";

/** A request to the service, as a value. */
export interface Request {
  method: string;
  path: string;
  params?: [string, string][];
  body?: string;
  headers?: Record<string, string>;
  /** Whether it may be sent again although the service may have done it already. */
  isRepeatable: boolean;
  /** Seconds for which the service may hold its answer back. */
  hold?: number;
}

/** A new idempotency key, with 128 random bits. */
async function newKey(): Promise<string> {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A key; an empty one is refused, because it is a mistake that would submit a call twice. */
export async function givenOrNew(key: string | undefined): Promise<string> {
  if (key === "") throw new RangeError('an idempotency key has 1 to 255 printable ASCII characters, unlike ""');
  return key ?? newKey();
}

/** Refuses what no header field can have, without showing it. */
export function requirePrintable(what: string, text: string): void {
  if (!/^[ -~]+$/.test(text)) throw new RangeError(`${what} has characters that are not printable ASCII`);
}

/** A key as a header field's value: as it is, or as a quoted string (RFC 8941). */
export function keyField(key: string): string {
  if (/^[!#-+\--~]{1,255}$/.test(key)) return key;
  if (!/^[ -~]{1,255}$/.test(key)) {
    throw new RangeError(`an idempotency key has 1 to 255 printable ASCII characters, unlike ${JSON.stringify(key)}`);
  }
  return `"${key.replace(/["\\]/g, "\\$&")}"`;
}

export function callPath(id: string, rest = ""): string {
  return `/v1/calls/${encodeURIComponent(id)}${rest}`;
}

/** What a request may have besides its method and its path. */
export interface Given {
  params?: [string, string][];
  /** What is sent as JSON. */
  body?: unknown;
  key?: string;
  /** The seconds for which the service may hold its answer back until the call has ended. */
  wait?: number | undefined;
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
  isRepeatable?: boolean;
}

/** A request with what is given of its parts. */
export function asking(method: string, path: string, given: Given = {}): Request {
  const headers: Record<string, string> = {};
  const request: Request = { method, path, headers, isRepeatable: given.isRepeatable ?? true, hold: given.wait ?? 0 };
  if (given.params) request.params = given.params;
  if (given.body !== undefined) {
    request.body = JSON.stringify(given.body);
    headers["Content-Type"] = "application/json";
  }
  if (given.key !== undefined) headers["Idempotency-Key"] = keyField(given.key);
  if (given.wait) headers["Prefer"] = `wait=${Math.max(1, Math.round(given.wait))}`;
  if (given.ifMatch !== undefined) headers["If-Match"] = given.ifMatch;
  if (given.ifNoneMatch !== undefined) headers["If-None-Match"] = given.ifNoneMatch;
  return request;
}

export function submission(call: CallDescriptor, key: string, wait: number | undefined): Request {
  return asking("POST", "/v1/calls", { body: call, key, wait });
}

export function reading(id: string, hold = 0, withRequest = false): Request {
  const params: [string, string][] = hold > 0 ? [["wait", `${Math.max(1, Math.round(hold * 1000))}ms`]] : [];
  if (withRequest) params.push(["include", "request"]);
  return { method: "GET", path: callPath(id), params, isRepeatable: true, hold };
}

type FilterValue = string | readonly string[] | number | boolean | Date | Readonly<Record<string, string>> | undefined;

/** The parameters of a list or of the event stream, without those that are not given. */
export function filters(values: { [name: string]: FilterValue }): [string, string][] {
  const params: [string, string][] = [];
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (value instanceof Date) params.push([name, value.toISOString()]);
    else if (Array.isArray(value)) params.push([name, value.join(",")]);
    else if (typeof value === "object") {
      for (const [label, text] of Object.entries(value)) {
        // The service would read another label.
        if (label.includes("=")) throw new TypeError(`the label "${label}" has a = in its name, as no label of a call has`);
        params.push(["label", `${label}=${text}`]);
      }
    } else params.push([name, String(value)]);
  }
  return params;
}

/** The URL of a service, for errors: without a query. `fetch` takes no URL with a name or a password in it. */
export function shown(base: string): string {
  const url = new URL(base);
  if (url.username || url.password) {
    throw new TypeError("the URL of a service has no name and no password in it; a `fetch` of your own can send them");
  }
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
}

/** A URL of the service, which may have a path before the service's own paths. A space is `%20`, not `+`. */
export function joined(base: string, path: string, params: [string, string][] = []): string {
  const query = new URLSearchParams(params).toString().replace(/\+/g, "%20");
  // Without the slash, a path such as "@host" would send the key to another host.
  return base.replace(/\/+$/, "") + (path.startsWith("/") ? "" : "/") + path + (query ? (path.includes("?") ? "&" : "?") + query : "");
}
