/** Web Crypto. It is global everywhere but in Node.js 18, which has it in a module. */
export async function webCrypto(): Promise<Crypto> {
  if (globalThis.crypto) return globalThis.crypto;
  // Not a literal, so that bundlers for browsers do not look for the module.
  const name = "node:crypto";
  return (await import(name)).webcrypto as Crypto;
}
