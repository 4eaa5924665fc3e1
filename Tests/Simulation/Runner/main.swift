internal import Glibc

// Runs seeds of the simulation, optimised, without a test runner around them:
//
//   simulate COUNT [FIRST [FAILURES]]    so many seeds, or until so many have failed; says which, and how
//   simulate trace SEED                  one seed, with all that happens in it
//   simulate harm COUNT [FIRST]          so many targets of the harm grid; prints those that are harmed
//   simulate harm -v COUNT [FIRST]       the same, and prints all
//   simulate harm COUNT FIRST NAME...    the same, of the service's protections only these; see Protection
//   simulate callers COUNT [FIRST]       so many targets that callers share; prints those where others are slower than alone
//   simulate neighbours COUNT [FIRST]    so many origins with dead paths, with each protection alone and all; prints where others
//                                        are slower than unprotected
//   simulate help COUNT FIRST NAME...    so many cases of each of these protections; prints a row of the table for each
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
let numbers = CommandLine.arguments.compactMap { UInt64($0) }
let begin = numbers.dropFirst().first ?? 0
let cases = begin..<(begin + (numbers.first ?? 200))
let named = Protection.allCases.filter { CommandLine.arguments.contains($0.rawValue) }
if CommandLine.arguments.dropFirst().first == "help" {
  let grids = named.map { HelpGrid($0, cases) }
  for grid in grids { print(grid.text) }
  exit(grids.allSatisfy(\.helps) ? 0 : 1)
}
if CommandLine.arguments.dropFirst().first == "harm" {
  let isVerbose = CommandLine.arguments.contains("-v")
  let protections = named.isEmpty ? Protection.defaults : Set(named)
  let rows = cases.map { HarmGrid.row(seed: $0, protections) }
  let harmed = rows.filter { $0.excess > 1 }
  for row in isVerbose ? rows : harmed { print(row.text) }
  let opened = rows.count { $0.openings > 0 }
  print("\(rows.count) targets from \(begin), \(opened) breakers opened, \(harmed.count) harmed")
  exit(harmed.isEmpty ? 0 : 1)
}
if CommandLine.arguments.dropFirst().first == "callers" {
  let rows = cases.map { CallerGrid.row(seed: $0) }
  let harmed = rows.filter { !($0.delay <= CallerGrid.slack) }
  for row in CommandLine.arguments.contains("-v") ? rows : harmed { print(row.text) }
  print("\(rows.count) shared targets from \(begin), \(harmed.count) harmed")
  exit(harmed.isEmpty ? 0 : 1)
}
if CommandLine.arguments.dropFirst().first == "neighbours" {
  // All at once, and each alone.
  let each = Protection.allCases.filter(Protection.defaults.contains).map { Set([$0]) }
  let rows = cases.flatMap { NeighbourGrid.rows(seed: $0, named.isEmpty ? [Protection.defaults] + each : [Set(named)]) }
  let harmed = rows.filter(\.isHarmed)
  for row in CommandLine.arguments.contains("-v") ? rows : harmed { print(row.text) }
  let variants = Dictionary(grouping: rows, by: \.protections).values.map(NeighbourGrid.text).sorted()
  print(variants.joined(separator: "\n"))
  print("\(cases.count) origins from \(begin), \(harmed.count) harmed")
  exit(harmed.isEmpty ? 0 : 1)
}
guard let count = number(1) else {
  print("usage: simulate COUNT [FIRST [FAILURES]] | simulate trace SEED | simulate harm [-v] COUNT [FIRST]")
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
