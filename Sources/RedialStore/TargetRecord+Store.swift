internal import RedialJSON
package import RedialModel

extension TargetRecord {
  /// Reads what a store has of a target.
  ///
  /// - Throws: `corrupt` if it cannot be read: without it the target might get too many requests.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, of key: TargetKey, in place: String, _ vault: Vault
  ) throws(StoreError) {
    if SealedForm.isSealed(bytes) {
      let plain: [UInt8]
      do throws(SealDamage) {
        plain = try vault.open(bytes, .target(key.text))
      } catch {
        throw error.error("the record of the target \(key) in \(place)")
      }
      self = try plain.withUnsafeBufferPointer { plain throws(StoreError) in
        try TargetRecord(plain, of: key, in: place, vault)
      }
      return
    }
    do {
      try self.init(bytes)
    } catch {
      throw StoreError(
        kind: .corrupt,
        message:
          "The record of the target \(key) in \(place) cannot be read: \(error.clause(in: bytes)).")
    }
  }
}

extension Vault {
  /// Whether the record of a target is sealed.
  package func seals(_ record: TargetRecord) -> Bool { canSeal && record.hasSecrets }

  /// The record of a target as it is to be stored. There must be a data key.
  ///
  /// - Throws: If it has a secret, and there is no key.
  package func sealed(_ record: TargetRecord, of key: TargetKey) throws(StoreError) -> [UInt8] {
    guard record.hasSecrets else { return record.bytes }
    guard canSeal else { throw Self.refusal(of: "A target's secret") }
    return seal(record.bytes, .target(key.text), in: key.namespace.name)
  }
}
