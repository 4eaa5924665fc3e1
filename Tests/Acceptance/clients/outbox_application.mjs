// Transactions that write an order and its call, with `pg` and `mysql` of Node.js; and a relay. See outbox_application.py.
//
//     outbox_application.mjs KIND PLACE TARGET some|many
//     outbox_application.mjs KIND PLACE "" relay

import { createRequire } from "node:module";
import { Outbox, Redial } from "redial-client";

const [kind, place, target, extent] = process.argv.slice(2);
// Looks into NODE_PATH too, as an import does not.
const found = createRequire(import.meta.url)(kind);
const ignored = () => undefined;

/** A connection and a pool of `mysql` with the one method that the outbox needs. */
function wrapped(database) {
  return {
    query: (statement, values) => new Promise((resolve, reject) =>
      database.query(statement, values, (error, rows) => error ? reject(error) : resolve({ rows }))),
  };
}

const kinds = {
  pg: {
    outbox: new Outbox({ placeholders: "$1" }), mark: "$1",
    async connect() {
      const client = new found.Client({ host: place, user: "postgres", database: "redial" });
      client.on("error", ignored);
      await client.connect();
      return client;
    },
    close: (client) => client.end().catch(ignored),
    pool() {
      const pool = new found.Pool({ host: place, user: "postgres", database: "redial" });
      pool.on("error", ignored);
      return pool;
    },
  },
  mysql: {
    outbox: new Outbox({ placeholders: "?" }), mark: "?",
    async connect() {
      const connection = found.createConnection({ socketPath: place, user: "root", database: "shop", charset: "utf8mb4" });
      connection.on("error", ignored);
      return { ...wrapped(connection), destroy: () => connection.destroy() };
    },
    close: (connection) => connection.destroy(),
    pool: () => wrapped(found.createPool({ socketPath: place, user: "root", database: "shop", charset: "utf8mb4" })),
  },
};
const { outbox, mark, connect, close, pool } = kinds[kind];

async function transaction(client, order, options, more = {}) {
  await client.query("BEGIN", []);
  await client.query(`INSERT INTO orders (name) VALUES (${mark})`, [order]);
  const key = await outbox.submit(client, {
    ...more, url: `${target}/${order}`, json: { order, note: "é € 🙂 \\ \" %s ?" }, policy: { backoff: { initial: "10ms", max: "100ms" } },
  }, options);
  await client.query(order.endsWith("undone") ? "ROLLBACK" : "COMMIT", []);
  return key;
}

if (extent === "relay") {
  const abort = new AbortController();
  process.on("SIGTERM", () => abort.abort());
  console.log("relays");
  await outbox.relay(new Redial(), pool(), { poll: 0.05 }).run({ signal: abort.signal });
  process.exit(0);
} else if (extent === "some") {
  const client = await connect();
  for (const name of ["first", "second-undone", "third-undone", "fourth"]) {
    const order = `${kind}-${name}`;
    console.log(await transaction(client, order, name === "fourth" ? { idempotencyKey: order } : {}));
  }
  await close(client);
} else {
  let client;
  for (let number = 0; ; number += 1) {
    const order = `${kind}-${process.pid}-${number}${Math.random() < 0.3 ? "-undone" : ""}`;
    try {
      client ??= await connect();
      // Some are to be made in their order.
      await transaction(client, order, {}, number % 4 === 0 ? { orderingKey: `${kind}-${process.pid}` } : {});
    } catch (error) {
      console.log(String(error));
      if (client) close(client);
      client = undefined;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
