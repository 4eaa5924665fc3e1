package import RedialCore
package import RedialModel

extension SQLiteStore {
  /// Gives back the store. Only without attempts in flight.
  package func resign(at now: Timestamp) throws(StoreError) {
    guard leases.session != nil else { return }
    try transaction { () throws(StoreError) in
      try time.end(at: now)
      try log.empty(into: calls)
      // The next owner must see that these calls were in memory.
      guard try search.allRunning().isEmpty else { return }
      try calls.releaseAllHeld()
      try leases.end()
    }
    leases.didResign()
  }
}
