internal import CLinux
internal import Glibc
internal import RedialModel
package import RedialStore

/// What encrypts the values of a store.
extension ServiceSettings {
  /// The vault of the store that the settings name. Each opened store has its own.
  ///
  /// - Parameter made: Is called with the path of a key file that was made beside the store.
  /// - Throws: If the key cannot be used.
  package func vault(made: @escaping @Sendable (_ path: String) -> Void = { _ in }) throws(ServiceStartError) -> Vault {
    // A dump would have the key, and what it encrypts.
    if encryptionKeyFile ?? encryptionKeyCommand != nil { redial_forbid_dumps() }
    if let path = encryptionKeyFile {
      var beside: String?
      if case .sqlite(let store) = try location() { beside = Self.absolute(store) }
      let file = try ServiceStartError.of { () throws(StoreError) in try KeyFile(path, formerlyBeside: beside) }
      return Vault(file, sealsAll: true)
    }
    if let encryptionKeyCommand { return Vault(KeyCommand(encryptionKeyCommand), sealsAll: true) }
    switch try location() {
    case .sqlite(let path):
      let place = Self.absolute(path)
      let file = try ServiceStartError.of { () throws(StoreError) in try KeyFile(besideStore: place, made: made) }
      // It encrypts secrets alone: without it, all else can be read.
      return Vault(file, setsAside: true)
    // No file is beside all instances.
    case .postgres: return .none
    }
  }
}
