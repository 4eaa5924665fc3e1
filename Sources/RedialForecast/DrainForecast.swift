package import RedialCore

/// How a backlog is delivered, by a simulation.
package struct DrainForecast: Sendable, Hashable {
  /// One point of the curve.
  package struct Point: Sendable, Hashable {
    /// The end of its step, from now.
    package var after: Duration
    /// Due calls that wait then.
    package var backlog: Int
    /// Attempts per second in the step.
    package var attemptsPerSecond: Double
  }

  /// Why a backlog is never drained.
  package enum Obstacle: String, Sendable, Hashable {
    /// More calls arrive than are delivered.
    case arrivals
    /// It would take longer than ``DrainForecast/horizon``.
    case tooLong
  }

  /// How long it takes until no more calls are due than ordinarily; nil if never.
  package var drainsIn: Duration?
  /// Why never; nil if it is drained.
  package var obstacle: Obstacle?
  /// The maximum of due calls that wait.
  package var peak: Int
  /// Calls that fail because their deadline passes.
  package var missesDeadline: Int
  /// Calls that fail for other reasons.
  package var failed: [StopReason: Int]
  /// Attempts until then.
  package var attempts: Int
  /// Attempts that the target refuses because it has no capacity left.
  package var refused: Int
  /// The curve, in steps of equal length; at most ``mostPoints``.
  package var points: [Point]
  /// Attempts that were simulated.
  package var simulatedAttempts: Int
  /// Whether the end was computed from the average of the last simulated attempts.
  package var isExtrapolated: Bool

  /// The maximum number of points.
  package static let mostPoints = 60
  /// The longest time that is forecast.
  package static let horizon = Duration.seconds(30 * 86_400)
}
