// How a backlog is delivered after an outage: the service's adaptive pace beside others, on one grid of scenarios in
// virtual time. `recovery-benchmark` prints a table; with `-v`, a line for each scenario.

import Glibc
import RedialCore
import RedialForecast
import RedialModel

let isVerbose = CommandLine.arguments.contains("-v")

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

func measure(_ name: String, _ cells: [Cell], with pace: () -> some Pacing) {
  var ratios: [Double] = []
  var refused: [Double] = []
  var failed = 0
  for (index, cell) in cells.enumerated() {
    let figures = cell.scenario.recovery(with: pace())
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

let cells = Grid(breaker: .service).cells
print("\(cells.count) scenarios")
print(
  "| pace | recovery × ideal: median | nine in ten | worst | over 1.6 | never |",
  "refused ÷ backlog: median | nine in ten | failed calls |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
measure("adaptive", cells) { AdaptivePace() }
if !CommandLine.arguments.contains("--adaptive") {
  measure("AIMD", cells) { LimiterPace(.aimd()) }
  measure("Gradient2", cells) { LimiterPace(.gradient2()) }
  measure("Vegas", cells) { LimiterPace(.vegas()) }
  measure("fixed limits", cells) { NoPace() }
  measure("fixed limits, no breaker", Grid(breaker: nil).cells) { NoPace() }
}
