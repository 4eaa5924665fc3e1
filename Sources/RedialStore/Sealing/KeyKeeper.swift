package import RedialModel

/// Wraps data keys, so that the store has none in clear.
package protocol KeyKeeper: Sendable {
  /// Wraps a new data key.
  ///
  /// - Returns: The wrapped key, and what names the key that wraps it.
  func wrap(_ key: [UInt8], _ name: SealedName) throws(StoreError) -> (wrapped: [UInt8], by: String)

  /// Unwraps a data key.
  func unwrap(_ wrapped: [UInt8], by: String, _ name: SealedName) throws(StoreError) -> [UInt8]

  /// Whether a data key should be wrapped again, because another key wraps new ones.
  func isOld(by: String) -> Bool

  /// Whether it may take seconds, because it asks somebody else.
  var isSlow: Bool { get }
}

extension KeyKeeper {
  package var isSlow: Bool { false }
}
