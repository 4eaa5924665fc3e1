internal import RedialCore
internal import RedialModel
internal import RedialText

extension OutageForecast {
  /// The forecast as a picture (SVG): the load of the target beside the new calls, its capacity, the unfinished calls,
  /// the time of the outage, and when the breaker was open.
  package var chart: String {
    var drawing = Drawing()
    let loads = steps.map { perSecond($0.attempts) }
    let highest = max(peak, Double(scenario.target.capacity ?? 0), scenario.rate)
    let end = Drawing.axisEnd(highest)
    let backlogEnd = Drawing.axisEnd(Double(steps.map(\.unfinished).max() ?? 0))
    let length = scenario.duration.inSeconds
    func x(_ time: Duration) -> Double { Drawing.x(time.inSeconds / length) }
    func points(_ values: [Double], _ end: Double) -> [(x: Double, y: Double)] {
      values.enumerated().map { (x(step * $0.offset + step / 2), Drawing.y($0.element / end)) }
    }
    let (from, to) = (x(scenario.outage.from), x(scenario.outage.to))
    drawing.box("outage", x: from, y: Drawing.top, width: to - from, height: Drawing.height)
    drawing.leftAxis(to: end, unit: "1/s")
    drawing.rightAxis(to: backlogEnd, unit: "calls")
    drawing.area("load-area", points(loads, end))
    drawing.line("load", points(loads, end))
    drawing.line("calls", points(steps.map { perSecond($0.calls) }, end))
    drawing.line("backlog", points(steps.map { Double($0.unfinished) }, backlogEnd))
    if let capacity = scenario.target.capacity {
      let y = Drawing.y(Double(capacity) / end)
      drawing.line("capacity", [(Drawing.left, y), (Drawing.left + Drawing.width, y)])
    }
    for (index, at) in steps.enumerated() where at.isOpen {
      let start = x(step * index)
      drawing.box("open", x: start, y: Drawing.y(0) + 4, width: x(step * (index + 1)) - start, height: 5)
    }
    for quarter in 0...4 {
      let time = scenario.duration * quarter / 4
      drawing.word(time.roughly, x: x(time), y: Drawing.y(0) + 26, anchor: "middle")
    }
    var legend = [("load", "attempts", false), ("calls", "new calls", false), ("backlog", "unfinished", false)]
    if scenario.target.capacity != nil { legend.append(("capacity", "capacity", false)) }
    drawing.legend(legend + [("outage", "outage", true), ("open", "breaker open", true)])
    return drawing.svg(title: "Load on the target through the outage", description: sentence)
  }

  package var sentence: String {
    let recovered = recovery.map { "it recovers \($0.roughly) after the outage" } ?? "it does not recover in time"
    let failed = totals.failed.values.reduce(0, +)
    return "\(totals.calls) calls make \(totals.attempts) attempts, \(Drawing.text(totals.amplification)) a call; "
      + "the peak is \(Drawing.text(peak)) a second; \(recovered); \(failed) calls fail."
  }
}
