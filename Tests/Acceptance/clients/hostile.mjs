// What Node makes of a target, by HTTP/1.1 or, with https, HTTP/2: a line of standard input is a request, a line of standard output
// its result.
import http from "node:http";
import http2 from "node:http2";
import readline from "node:readline";
import tls from "node:tls";

const connections = new Map();

function result(id) {
  const made = { id, status: null, fields: [], complete: false };
  const pieces = [];
  let isOver = false;
  return {
    made, pieces,
    end(error) {
      if (isOver) return;
      isOver = true;
      if (error) made.error = error;
      process.stdout.write(`${JSON.stringify({ ...made, body: Buffer.concat(pieces).toString("base64") })}\n`);
    },
  };
}

function ask({ id, url, path, method, content }) {
  const { made, pieces, end } = result(id);
  const agent = connections.get(url) ?? new http.Agent({ keepAlive: true, maxSockets: 1 });
  connections.set(url, agent);
  const headers = content ? { "content-length": content } : {};
  const request = http.request(`${url}${path}`, { method, headers, agent, maxHeaderSize: 1 << 22 });
  request.on("response", (response) => {
    made.status = response.statusCode;
    made.fields = response.rawHeaders;
    response.on("data", (piece) => pieces.push(piece));
    response.on("error", (error) => { made.error = error.code; });
    // Then the agent has the connection back, or has dropped it.
    response.on("close", () => { made.complete = response.complete; setImmediate(end); });
  });
  // An upgrade that nobody wanted is no answer.
  request.on("upgrade", (response, socket) => { socket.destroy(); end("upgrade"); });
  request.on("error", (error) => { if (made.status === null) end(error.code); else made.error = error.code; });
  request.end(content ? Buffer.alloc(content, "x") : undefined);
}

function askStream({ id, url, path, method }) {
  const { made, pieces, end } = result(id);
  const { hostname: host, port } = new URL(url);
  const socket = tls.connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  const session = http2.connect(url, { createConnection: () => socket });
  session.on("error", (error) => { made.error = error.code; });
  socket.on("close", () => setImmediate(end, "connection closed"));
  // After some errors of a connection Node says nothing more, not even that it has ended.
  connections.set(url, { destroy: () => { end("silence"); socket.destroy(); } });
  const stream = session.request({ ":path": path, ":method": method });
  stream.on("response", (fields, flags, raw) => {
    made.status = fields[":status"] ?? null;
    made.fields = raw ?? Object.entries(fields).flat();
  });
  stream.on("data", (piece) => pieces.push(piece));
  let hasEnded = false;
  stream.on("end", () => { hasEnded = true; });
  stream.on("error", (error) => { made.error = error.code; });
  stream.on("close", () => {
    made.complete = hasEnded && !made.error && stream.rstCode === 0 && !stream.aborted;
    end();
    session.destroy();
  });
  stream.end();
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  if (request.forget) {
    connections.get(request.forget)?.destroy();
    connections.delete(request.forget);
  } else if (request.url.startsWith("https:")) {
    askStream(request);
  } else {
    ask(request);
  }
});
