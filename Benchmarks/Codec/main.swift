// Nanoseconds and allocations of reading and writing what a call is made of.
//
// `codec-benchmark PART COUNT` does one part so many times and measures nothing: for a profiler that counts instructions,
// such as valgrind's callgrind. Two counts are subtracted to leave out what the start costs.

import Glibc
import Measurement
import RedialCore
import RedialModel
import RedialJSON

let descriptor = """
  {"url": "http://127.0.0.1:8080/hook/orders", "method": "POST", \
  "headers": {"content-type": "application/json", "x-request-id": "4f1d9a4e-9c9c-4c77-8d59-6f0f0e4f7a11"}, \
  "body": "\(String(repeating: "0123456789", count: 20))", "labels": {"team": "payments"}, \
  "policy": {"maxAttempts": 8, "deadline": "15m", "attemptTimeout": "10s", \
  "backoff": {"strategy": "exponential", "initial": "500ms", "multiplier": 1.5, "max": "60s"}, \
  "retryAfter": {"mode": "respect", "max": "1h"}}}
  """
let text = Array(descriptor.utf8)
let smallest = Array(#"{"url": "http://127.0.0.1:8080/hook/orders"}"#.utf8)

func read(_ bytes: [UInt8]) throws -> CallDescriptor {
  try bytes.withUnsafeBufferPointer { try CallDescriptor.read($0) }
}

let call = try read(text)
let canonical = call.spec.canonicalJSON
let now = Timestamp(microseconds: 1_790_000_000_000_000)
let record = CallRecord(
  id: CallID(rawValue: 1), kind: .call, spec: call.spec, body: call.body, createdAt: now,
  progress: CallProgress(state: .queued, due: now, roundStartedAt: now))

let redaction = Redaction()
let limits = CallDescriptor.Limits(egress: EgressPolicy(reachesLoopback: true))

func readAsService() -> Int {
  text.withUnsafeBufferPointer { (try? CallDescriptor.read($0, limits: limits))?.body.count ?? 0 }
}

func writeAnswer() -> Int {
  var writer = JSONWriter(capacity: 768)
  CallView.write(record, attempts: [], wait: .init(reason: .concurrency, until: nil), redaction: redaction, to: &writer)
  return writer.bytes.count
}

let parts: [String: () -> Int] = [
  "read": readAsService, "write": { call.spec.canonicalJSON.count }, "answer": writeAnswer,
]
if CommandLine.arguments.count == 3, let part = parts[CommandLine.arguments[1]],
  let count = Int(CommandLine.arguments[2])
{
  print((0..<count).reduce(0) { sum, _ in sum + part() })
  exit(0)
}

measure("descriptor of \(text.count) bytes, read", count: 100_000) { _ in (try? read(text))?.body.count ?? 0 }
measure("descriptor of \(smallest.count) bytes, read", count: 100_000) { _ in (try? read(smallest))?.body.count ?? 0 }
measure("spec of \(canonical.count) bytes, written", count: 100_000) { _ in call.spec.canonicalJSON.count }
measure("spec of \(canonical.count) bytes, read", count: 100_000) { _ in
  canonical.withUnsafeBufferPointer { (try? CallSpec.read(canonicalJSON: $0))?.captureLimit ?? 0 }
}
measure("answer to a submission, written", count: 100_000) { _ in writeAnswer() }

/// What is saved most often of a target: its pace, each ten seconds while there is a limit.
let target = TargetRecord(pace: SavedPace(delivered: 80.25, isLimited: true, at: now))
let saved = target.bytes
measure("record of a target of \(saved.count) bytes, written", count: 100_000) { _ in target.bytes.count }
measure("record of a target of \(saved.count) bytes, read", count: 100_000) { _ in
  saved.withUnsafeBufferPointer { (try? TargetRecord($0))?.pace?.isLimited == true ? 1 : 0 }
}
