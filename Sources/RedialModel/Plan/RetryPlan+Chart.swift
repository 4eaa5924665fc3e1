public import RedialCore
internal import RedialText

extension RetryPlan {
  /// The maximum number of attempts in the chart.
  private static let mostRows = 20

  /// The plan as a picture (SVG): the start of each attempt, as a bar from the earliest to the latest time, with the
  /// median in it.
  public var chart: String {
    var drawing = Drawing()
    let shown = attempts.prefix(Self.mostRows)
    let length = max(0.001, shown.last?.start.latest.inSeconds ?? 0)
    func x(_ time: Duration) -> Double { Drawing.x(time.inSeconds / length) }
    let row = Drawing.height / Double(max(1, shown.count))
    for quarter in 0...4 {
      let time = Duration(clampingSeconds: length * Double(quarter) / 4)
      drawing.line("grid", [(x(time), Drawing.top), (x(time), Drawing.y(0))])
      drawing.word(time.roughly, x: x(time), y: Drawing.y(0) + 18, anchor: "middle")
    }
    for (index, attempt) in shown.enumerated() {
      let middle = Drawing.top + row * (Double(index) + 0.5)
      let height = min(14, row * 0.7)
      let start = x(attempt.start.earliest)
      drawing.word("\(attempt.number)", x: Drawing.left - 10, y: middle + 4, anchor: "end")
      drawing.box(
        "spread", x: start, y: middle - height / 2, width: max(1, x(attempt.start.latest) - start), height: height)
      drawing.line(
        "median", [(x(attempt.start.median), middle - height / 2), (x(attempt.start.median), middle + height / 2)])
      if attempt.chance < 0.9995 {
        let chance = "\(Drawing.text((attempt.chance * 1000).rounded() / 10)) %"
        drawing.word(chance, x: Drawing.left + Drawing.width + 8, y: middle + 4)
      }
    }
    drawing.legend([("median", "median", false), ("spread", "from the earliest to the latest start", true)])
    let more = attempts.count > shown.count ? " (the first \(shown.count) of \(attempts.count))" : ""
    return drawing.svg(
      title: "Attempts by the time at which they start\(more)",
      description: attempts.map { "Attempt \($0.number): \($0.start.median.roughly)." }
        .prefix(Self.mostRows).joined(separator: " "))
  }
}
