internal import Glibc

// Runs seeds of the simulation, optimised, without a test runner around them:
//
//   simulate COUNT [FIRST [FAILURES]]    so many seeds, or until so many have failed; says which, and how
//   simulate trace SEED                  one seed, with all that happens in it
//
// Exits with 1 when a seed failed.

private func number(_ index: Int) -> UInt64? {
  CommandLine.arguments.count > index ? UInt64(CommandLine.arguments[index]) : nil
}

private func run(_ seed: UInt64) -> Bool {
  guard let violation = World(seed: seed).run() else { return true }
  print("seed \(seed): \(violation)")
  return false
}

if CommandLine.arguments.dropFirst().first == "trace", let seed = number(2) {
  let world = World(seed: seed)
  world.trace = { print($0) }
  let violation = world.run()
  print(violation.map { "seed \(seed): \($0)" } ?? "seed \(seed): every call ended as it must")
  exit(violation == nil ? 0 : 1)
}
guard let count = number(1) else {
  print("usage: simulate COUNT [FIRST [FAILURES]] | simulate trace SEED")
  exit(2)
}
let first = number(2) ?? 0
// Three are enough to see a pattern.
let enough = number(3) ?? 3
var failures: UInt64 = 0
var seeds = 0
for seed in first..<(first + count) where failures < enough {
  seeds += 1
  if !run(seed) { failures += 1 }
}
print("\(seeds) seeds from \(first), \(failures) failed")
exit(failures == 0 ? 0 : 1)
