/// Seals what is stored again, by the newest keys.
extension Vault {
  /// Whether a stored value is to be sealed again: by another key, or at all.
  package func isOld(_ stored: [UInt8], in namespace: String) -> Bool {
    guard let key = stored.withUnsafeBufferPointer({ SealedForm.key(of: $0) }) else { return sealsAll }
    return key != currentKey(of: namespace)
  }

  /// A stored value, sealed by the newest key.
  package func resealed(_ stored: [UInt8], _ name: SealedName, in namespace: String) throws(SealDamage) -> [UInt8] {
    seal(try opened(stored, name), name, in: namespace)
  }
}

/// How far a change of all keys is.
package struct RekeyProgress: Sendable, Hashable {
  package var done: Int
  package var all: Int

  /// Creates it.
  package init(done: Int, all: Int) {
    (self.done, self.all) = (done, all)
  }
}
