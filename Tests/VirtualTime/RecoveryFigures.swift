internal import RedialCore
internal import RedialModel

/// How well the service brings a target back after an outage.
package struct RecoveryFigures: Sendable {
  /// Unfinished calls at the outage's end.
  package var backlog: Int
  /// How long the ideal sender needs, who knows the end of the outage and the capacity; nil if it does not within the
  /// scenario.
  package var ideal: Duration?
  /// How long it took; nil if longer than the scenario.
  package var recovery: Duration?
  /// Attempts that the target refused between the outage's end and the recovery, beyond its capacity.
  package var refused: Int
  /// Calls that failed.
  package var failed: Int
}

extension OutageScenario {
  /// Runs the scenario until the target has recovered.
  ///
  /// - Parameters:
  ///   - failing: The share of requests that fail although the target works, 0..<1.
  ///   - status: Their status.
  package func recovery(failing: Double = 0, status: Int = 500, mostAttempts: Int = 10_000_000) -> RecoveryFigures {
    var simulation = OutageSimulation(self, failing: failing, status: status, mostAttempts: mostAttempts)
    return simulation.recover()
  }
}
