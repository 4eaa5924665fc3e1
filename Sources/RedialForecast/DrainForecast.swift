public import RedialCore

/// How a backlog is delivered, by a simulation.
public struct DrainForecast: Sendable, Hashable {
  /// One point of the curve.
  public struct Point: Sendable, Hashable {
    /// The end of its step, from now.
    public var after: Duration
    /// Due calls that wait then.
    public var backlog: Int
    /// Attempts per second in the step.
    public var attemptsPerSecond: Double
  }

  /// Why a backlog is never drained.
  public enum Obstacle: String, Sendable, Hashable {
    /// More calls arrive than are delivered.
    case arrivals
    /// It would take longer than ``DrainForecast/horizon``.
    case tooLong
  }

  /// How long it takes until no more calls are due than ordinarily; nil if never.
  public var drainsIn: Duration?
  /// Why never; nil if it is drained.
  public var obstacle: Obstacle?
  /// The maximum of due calls that wait.
  public var peak: Int
  /// Calls that fail because their deadline passes.
  public var missesDeadline: Int
  /// Calls that fail for other reasons.
  public var failed: [StopReason: Int]
  /// Attempts until then.
  public var attempts: Int
  /// Attempts that the target refuses because it has no capacity left.
  public var refused: Int
  /// The curve, in steps of equal length; at most ``mostPoints``.
  public var points: [Point]
  /// Attempts that were simulated.
  public var simulatedAttempts: Int
  /// Whether the end was computed from the average of the last simulated attempts.
  public var isExtrapolated: Bool

  /// The maximum number of points.
  public static let mostPoints = 60
  /// The longest time that is forecast.
  public static let horizon = Duration.seconds(30 * 86_400)
}
