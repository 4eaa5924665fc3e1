/// The bounds of previews, simulations and dry runs, which cost computing time and nothing else.
public struct ForecastLimits: Sendable, Hashable {
  /// The most waits that one preview draws; one with a limit of 1000 attempts draws 4,096,000, in about a second.
  public var maxPreviewDraws = 4_096_000
  /// The most attempts that one simulation makes; two million are a second of one core's time or two.
  public var maxSimulationAttempts = 2_000_000
  /// How many of them may wait for one API key; without keys, for all clients together.
  public var maxForecastsPerKey = 16
  /// How many of them may wait in all.
  public var maxForecasts = 256

  /// The defaults.
  public init() {}
}
