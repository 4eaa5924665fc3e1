// How a backlog is delivered after an outage, with an adaptive pace and without, on one grid of scenarios in virtual time.
// `recovery-benchmark` prints a table; with `-v`, a line for each scenario; with `--only NAME`, one row;
// with `--throughput`, how much is delivered without an outage;
// with `--failing SHARE`, that share of the requests fails at random besides, with 500 or the status of `--status`;
// with `--slow SECONDS`, answers take so long during each outage, and nothing fails.

import Glibc
import RedialCore
import VirtualTime
import RedialModel

let isVerbose = CommandLine.arguments.contains("-v")
let only = option("--only")
let failing = option("--failing").flatMap(Double.init) ?? 0
let status = option("--status").flatMap { Int($0) } ?? 500
let slow = option("--slow").flatMap(Double.init).map { Duration.seconds($0) }

/// The value of an option; nil if it is not there.
func option(_ name: String) -> String? {
  let arguments = CommandLine.arguments
  guard let place = arguments.firstIndex(of: name), place + 1 < arguments.count else { return nil }
  return arguments[place + 1]
}

/// A quantile of a sorted array.
func quantile(_ sorted: [Double], _ p: Double) -> Double {
  sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(p * Double(sorted.count)))]
}

func text(_ value: Double) -> String {
  value.isInfinite ? "never" : "\((value * 100).rounded() / 100)"
}

func percent(_ value: Double) -> String {
  value.isInfinite ? "-" : "\((value * 1000).rounded() / 10) %"
}

func measure(_ name: String, _ pace: Pace, breaker: CircuitBreakerSettings? = .service) {
  guard only == nil || only == name else { return }
  var ratios: [Double] = []
  var refused: [Double] = []
  var failed = 0
  let cells = Grid(breaker: breaker, pace: pace, failing: failing, slow: slow).cells
  for (index, cell) in cells.enumerated() {
    let figures = cell.scenario.recovery(failing: failing, status: status)
    let ideal = figures.ideal?.inSeconds ?? .nan
    // Longer than the scenario is "never".
    let ratio = figures.recovery.map { $0.inSeconds / ideal } ?? .infinity
    let share = Double(figures.refused) / Double(max(1, figures.backlog))
    ratios.append(ratio.isNaN ? .infinity : ratio)
    refused.append(share)
    failed += figures.failed
    if isVerbose {
      print(
        "\(index) \(name): \(cell.overload), \(cell.outage), headroom \(Int((cell.headroom * 100).rounded())) %,",
        "\(cell.latency) ms, outage \(cell.length) s: backlog \(figures.backlog), ideal \(text(ideal)) s,",
        "recovery × ideal \(text(ratio)), refused \(percent(share)), failed \(figures.failed)")
    }
  }
  let worst = ratios.count { $0 > 1.6 }
  ratios.sort()
  refused.sort()
  print(
    "| \(name) | \(text(quantile(ratios, 0.5))) | \(text(quantile(ratios, 0.9))) | \(text(ratios.last ?? .nan)) |",
    "\(worst) | \(ratios.count { $0.isInfinite }) | \(percent(quantile(refused, 0.5))) |",
    "\(percent(quantile(refused, 0.9))) | \(failed) |")
  fflush(nil)
}

if CommandLine.arguments.contains("--throughput") {
  print(
    "| pace, offered | scenarios | delivered ÷ possible: median | one in ten | worst | refused ÷ delivered: median |")
  print("| --- | --- | --- | --- | --- | --- |")
  Throughput.measure(.adaptive)
  Throughput.measure(.fixed)
  exit(0)
}
print(
  "| pace | recovery × ideal: median | nine in ten | worst | over 1.6 | never |",
  "refused ÷ backlog: median | nine in ten | failed calls |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
measure("adaptive", .adaptive)
measure("fixed limits", .fixed)
measure("fixed limits, no breaker", .fixed, breaker: nil)
