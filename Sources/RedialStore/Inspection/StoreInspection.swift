package import RedialCore
package import RedialModel

/// Checks a store against the invariants, on connections of its own. It changes nothing, and a service can be running on the
/// store.
package protocol StoreInspection {
  /// Makes all checks.
  ///
  /// - Parameters:
  ///   - now: The time of this machine's clock.
  ///   - quick: Leave out what takes longest.
  /// - Throws: If the store cannot be read at all. Damage is a finding and not an error, if the other checks can
  ///   continue.
  func report(at now: Timestamp, quick: Bool) throws(StoreError) -> StoreReport

  /// Ends the connections.
  func close()
}
