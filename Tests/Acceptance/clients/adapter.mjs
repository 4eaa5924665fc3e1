// Calls the TypeScript client as the lines of its input say: `[method, arguments, options]`, each answered by a line.
//
//     adapter.mjs OPTIONS

import { createInterface } from "node:readline";
import { Redial, WebhookVerifier } from "redial-client";

const members = ["type", "title", "status", "code", "detail", "errors", "retryAfter", "mayHaveBeenAccepted", "call"];
const client = new Redial(JSON.parse(process.argv[2]));
let stream;

async function perform(method, args, options) {
  switch (method) {
    case "openEvents":
      stream = client.events(options);
      return stream.connect();
    case "nextEvent":
      return (await stream.next()).value;
    case "abortEvents": {
      const abort = new AbortController();
      const aborted = client.events({ ...options, signal: abort.signal });
      await aborted.connect();
      abort.abort(new Error("enough"));
      return aborted.next();
    }
    case "closeEvents":
      stream.close();
      return stream.lastEventId;
    case "verify":
    case "verifyEvent": {
      const [secrets, body, headers] = args;
      return new WebhookVerifier(secrets)[method](body, headers, options);
    }
    case "list": {
      const found = [];
      for await (const call of client.list(options)) found.push(call);
      return found;
    }
    case "batch": {
      const found = [];
      for await (const item of client.batch(args[0], options)) found.push(item);
      return found;
    }
    default:
      return client[method](...args, options);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = { result: (await perform(...JSON.parse(line))) ?? null };
  } catch (error) {
    const shown = { kind: error.constructor.name, message: error.message };
    for (const name of members) shown[name] = error[name] ?? null;
    answer = { error: shown };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
