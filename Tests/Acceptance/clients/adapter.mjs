// Calls the TypeScript client as the lines of its input say: `[method, arguments, options]`, each answered by a line.
//
//     adapter.mjs OPTIONS

import { createInterface } from "node:readline";
import { Redial, RedialProblem, WebhookVerifier } from "redial-client";

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
    default: {
      const result = client[method](...args, options);
      if (!result[Symbol.asyncIterator]) return result;
      const found = [];
      for await (const entry of result) found.push(entry);
      return found;
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = { result: (await perform(...JSON.parse(line))) ?? null };
  } catch (error) {
    // A problem has the class of its code, which is a class of problems.
    const name = error.constructor.name;
    const shown = { kind: error instanceof RedialProblem ? "RedialProblem" : name, class: name, message: error.message };
    for (const name of members) shown[name] = error[name] ?? null;
    answer = { error: shown };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
