/// Checks of the policy core that run where an `Int` has 32 bits, without Foundation or a test library: `Scripts/portable`
/// compiles them together with the core as Embedded Swift for WebAssembly, and runs them.
///
/// What traps ends the run. What is merely wrong is counted, and named by its place.
@main
struct Checks {
  nonisolated(unsafe) private static var count = 0
  nonisolated(unsafe) private static var failures = 0

  static func main() {
    breakers()
    budgets()
    limiters()
    waits()
    decisions()
    plans()
    texts()
    memory()
    print(count)
    print("checks; bits of an Int:")
    print(Int.bitWidth)
    // A process that traps ends with an error, too.
    if failures > 0 { fatalError("checks have failed") }
  }

  static func expect(_ condition: Bool, _ file: StaticString = #fileID, _ line: UInt32 = #line) {
    count += 1
    guard !condition else { return }
    failures += 1
    print(file)
    print(line)
  }

  /// A time of today, beyond what 32 bits hold of anything.
  static let now = Timestamp(microseconds: 1_790_000_000_000_000)

  static let times = [Int64.min, .min + 1, -1, 0, 1, 1_790_000_000_000_000, .max - 1, .max].map {
    Timestamp(microseconds: $0)
  }
  static let spans: [Duration] = [
    .seconds(Int64.min), .seconds(-1), .zero, .microseconds(1), .milliseconds(10), .seconds(10), .seconds(86_400),
    .longest, .seconds(Int64.max),
  ]
  static let integers = [Int.min, Int.min + 1, -1, 0, 1, 2, 1_000_000_007, Int.max - 1, Int.max]
  static let numbers: [Double] = [.nan, .infinity, -.infinity, -1, 0, .leastNonzeroMagnitude, 0.5, 1, 1e30]
}
