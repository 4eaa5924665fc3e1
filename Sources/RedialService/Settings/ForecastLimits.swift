/// The limits of previews, simulations and dry runs, which cost only computing time.
package struct ForecastLimits: Sendable, Hashable {
  /// The maximum number of waits that one preview draws; one with a limit of 1000 attempts draws 4,096,000, in about a
  /// second.
  package var maxPreviewDraws = 4_096_000
  /// The maximum number of attempts of one simulation; two million take one core a second or two.
  package var maxSimulationAttempts = 400_000
  /// How many of them may wait for one API key; without keys, for all clients together.
  package var maxForecastsPerKey = 16
  /// How many of them may wait in all.
  package var maxForecasts = 256

  /// The defaults.
  package init() {}
}
