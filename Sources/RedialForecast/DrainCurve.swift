internal import RedialCore

/// The curve of a forecast whose length is not known before: its steps double when there are too many.
struct DrainCurve {
  private struct Step {
    var backlog = 0
    var attempts = 0.0
  }

  private let start: Timestamp
  private var length = Duration.milliseconds(100)
  private var steps: [Step] = []

  private static var mostSteps: Int { 2 * DrainForecast.mostPoints }

  init(start: Timestamp) {
    self.start = start
  }

  /// Adds the backlog at a time, and the attempts since the last one. Times only grow.
  mutating func add(backlog: Int, attempts: Double, at now: Timestamp) {
    while now - start >= length * Self.mostSteps { double() }
    let place = Int((now - start).wholeMicroseconds / length.wholeMicroseconds)
    while steps.count <= place { steps.append(Step(backlog: steps.last?.backlog ?? backlog)) }
    steps[place].backlog = backlog
    steps[place].attempts += attempts
  }

  private mutating func double() {
    var merged: [Step] = []
    for index in stride(from: 0, to: steps.count, by: 2) {
      let last = steps[min(index + 1, steps.count - 1)]
      merged.append(
        Step(
          backlog: last.backlog,
          attempts: steps[index].attempts + (index + 1 < steps.count ? steps[index + 1].attempts : 0)))
    }
    steps = merged
    length = length * 2
  }

  /// The points, at most ``DrainForecast/mostPoints``.
  func points() -> [DrainForecast.Point] {
    var curve = self
    while curve.steps.count > DrainForecast.mostPoints { curve.double() }
    return curve.steps.enumerated().map { index, step in
      DrainForecast.Point(
        after: curve.length * (index + 1), backlog: step.backlog,
        attemptsPerSecond: step.attempts / curve.length.inSeconds)
    }
  }
}
