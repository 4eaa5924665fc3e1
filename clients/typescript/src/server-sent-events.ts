import type { Event } from "./models.js";

/** Reads server-sent events (WHATWG HTML §9.2) from bytes, for one connection. Bytes go in, events come out. */
export class ServerSentEvents {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private data: string[] = [];
  private id: string | null = null;

  /** @param lastId The id from which the stream can be resumed. */
  constructor(public lastId: string | null) {}

  /** The events that are complete with these bytes. */
  feed(piece: Uint8Array): Event[] {
    const events: Event[] = [];
    // Lines end here with LF or CRLF: the service sends no single CR.
    const lines = (this.rest + this.decoder.decode(piece, { stream: true })).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      const event = this.line(line.replace(/\r$/, ""));
      if (event) events.push(event);
    }
    return events;
  }

  private line(line: string): Event | null {
    const colon = line.includes(":") ? line.indexOf(":") : line.length;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (name === "id" && !value.includes("\0")) this.id = value;
    else if (name === "data") this.data.push(value);
    else if (line === "") {
      // An id without data is a position, too: what came before it is not sent again.
      if (this.id !== null) this.lastId = this.id;
      const data = this.data;
      [this.data, this.id] = [[], null];
      if (data.length > 0) return JSON.parse(data.join("\n")) as Event;
    }
    return null;
  }
}
