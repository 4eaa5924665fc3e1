import Foundation
import Redial

/// `many RUNS` runs work that succeeds at once so many times, and prints what that takes in time and leaves in memory.
@main
struct ManyCommand {
  static func main() async throws {
    let runs = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
    try await measure("by default", runs) { _ = try await retry { 1 } }
    var untimed = RetryPolicy()
    untimed.attemptTimeout = .longest
    untimed.deadline = .longest
    try await measure("no timeout", runs) { [untimed] in _ = try await retry(untimed) { 1 } }
    let retrier = Retrier()
    try await measure("a retrier", runs) { _ = try await retrier.run { 1 } }
    try await measure("a task group with a sleep", min(runs, 20_000)) { try await bareGroup() }
  }

  private static func bareGroup() async throws {
    _ = try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { 1 }
      group.addTask {
        try await Task.sleep(for: .seconds(1))
        return 0
      }
      defer { group.cancelAll() }
      return try await group.next()
    }
  }

  private static func measure(_ name: String, _ runs: Int, _ run: @Sendable () async throws -> Void) async throws {
    // What is allocated once is not what this is about.
    for _ in 0..<5_000 { try await run() }
    let before = try residentBytes()
    let began = ContinuousClock.now
    for _ in 0..<runs { try await run() }
    let took = (ContinuousClock.now - began) / runs
    let grown = try residentBytes() - before
    let microseconds = String(format: "%.1f", took / .microseconds(1))
    print("\(name): \(microseconds) µs a run, \(grown) bytes")
  }

  private static func residentBytes() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (Int(pages[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
