// Runs the example of a receiver: `receive.mjs EXAMPLE WEBHOOK`. Then again with a body that was changed.

const { receive } = await import(process.argv[2]);
const [secret, body, headers] = JSON.parse(process.argv[3]);
for (const content of [body, `${body} `]) {
  const request = new Request("http://127.0.0.1/hooks", { method: "POST", body: content, headers });
  console.log((await receive(secret, request)).status);
}
