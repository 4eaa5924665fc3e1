internal import RedialJSON
package import RedialModel

extension TargetRecord {
  /// Reads what a store has of a target.
  ///
  /// - Throws: `corrupt` if it cannot be read: without it the target might get too many requests.
  package init(_ bytes: UnsafeBufferPointer<UInt8>, of key: TargetKey, in place: String) throws(StoreError) {
    do {
      try self.init(bytes)
    } catch {
      throw StoreError(
        kind: .corrupt,
        message:
          "The record of the target \(key) in \(place) cannot be read: \(error.reason), at byte \(error.offset).")
    }
  }
}
