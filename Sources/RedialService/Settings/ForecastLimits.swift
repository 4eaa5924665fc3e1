/// The limits of previews, simulations and dry runs, which cost only computing time.
public struct ForecastLimits: Sendable, Hashable {
  /// The maximum number of waits that one preview draws; one with a limit of 1000 attempts draws 4,096,000, in about a
  /// second.
  public var maxPreviewDraws = 4_096_000
  /// The maximum number of attempts of one simulation; two million take one core a second or two.
  public var maxSimulationAttempts = 200_000
  /// How many of them may wait for one API key; without keys, for all clients together.
  public var maxForecastsPerKey = 16
  /// How many of them may wait in all.
  public var maxForecasts = 256

  /// The defaults.
  public init() {}
}
