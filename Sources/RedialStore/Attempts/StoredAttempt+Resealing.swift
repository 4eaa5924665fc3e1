package import RedialModel

extension StoredAttempt {
  /// It, sealed by the newest key; nil if it is so, or has nothing that is sealed.
  package func resealed(of id: CallID, in namespace: String, _ vault: Vault) throws(SealDamage) -> StoredAttempt? {
    var new = self
    var isChanged = false
    if let message = failure?.message {
      let name = SealedName.attempt(id, number: number, .failure)
      if let sealed = SealedForm.bytes(of: message), !vault.isOld(sealed, in: namespace) {
      } else if vault.sealsAll {
        new.failure?.message = vault.seal(try vault.opened(message, name), name, in: namespace)
        isChanged = true
      }
    }
    if let response, vault.sealsAll {
      let first = response.head.isEmpty ? response.body : response.head
      if !response.isSealed || vault.isOld(first, in: namespace), !first.isEmpty {
        let plain = try response.opened(of: id, number: number, vault)
        func sealed(_ bytes: [UInt8], _ part: SealedName.Part) -> [UInt8] {
          bytes.isEmpty ? [] : vault.seal(bytes, .attempt(id, number: number, part), in: namespace)
        }
        new.response?.head = sealed(plain.head, .head)
        new.response?.body = sealed(plain.body, .answer)
        new.response?.isSealed = true
        isChanged = true
      }
    }
    return isChanged ? new : nil
  }
}
