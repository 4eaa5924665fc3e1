package import RedialModel

/// Reads the calls of a store that services may be using, one after another by age.
///
/// Each call is read as of one moment, but not all as of the same one.
package protocol ExportedCalls {
  /// Calls `body` with each call, and `damage` with the reason if one cannot be read, which does not stop the others.
  ///
  /// - Throws: If the store cannot be read.
  func forEach(_ body: (ArchivedCall) -> Void, damage: (StoreError) -> Void) throws(StoreError)

  /// Ends the connections.
  func close()
}
