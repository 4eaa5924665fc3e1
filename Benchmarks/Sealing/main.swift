// Nanoseconds that encryption adds to a call of 1 KB: to its spec, its body and its answer, when they are written and read.

import Glibc
import Measurement
import RedialModel
import RedialStore

/// A key that is only in this process.
struct NoKeeper: KeyKeeper {
  func wrap(_ key: [UInt8], _ name: SealedName) -> (wrapped: [UInt8], by: String) { (key, "none") }
  func unwrap(_ wrapped: [UInt8], by: String, _ name: SealedName) -> [UInt8] { wrapped }
  func isOld(by: String) -> Bool { false }
}

let vault = Vault(NoKeeper(), sealsAll: true)
if let key = try vault.newKey(of: "default") { try vault.add(key) }
vault.didCommit()

let id = CallID(rawValue: 1_790_000_000_000_000)
let parts: [(name: SealedName, bytes: [UInt8])] = [
  (.call(id, .spec), [UInt8](repeating: 0x7B, count: 400)), (.call(id, .body), [UInt8](repeating: 1, count: 1024)),
  (.attempt(id, number: 1, .head), [UInt8](repeating: 0x68, count: 150)),
  (.attempt(id, number: 1, .answer), [UInt8](repeating: 2, count: 100)),
]
let sealed = parts.map { vault.seal($0.bytes, $0.name, in: "default") }

measure("spec, body and answer of a call, sealed", count: 200_000) { _ in
  parts.reduce(0) { $0 + vault.seal($1.bytes, $1.name, in: "default").count }
}
measure("spec, body and answer of a call, opened", count: 200_000) { _ in
  zip(parts, sealed).reduce(0) { $0 + ((try? vault.opened($1.1, $1.0.name))?.count ?? 0) }
}
measure("the same without a key", count: 200_000) { _ in
  parts.reduce(0) { $0 + ((try? Vault.none.opened($1.bytes, $1.name))?.count ?? 0) }
}
