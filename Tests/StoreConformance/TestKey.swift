import Glibc
package import RedialStore

/// A key file for tests, and vaults with it. Each opened store has its own vault.
package enum TestKey {
  /// The file: it is made once for each process, and removed when that exits.
  package static let path: String = {
    let path = "/tmp/redial-test-\(getpid()).key"
    let text = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0, write(file, text, text.utf8.count) == text.utf8.count, close(file) == 0 else {
      fatalError("could not write \(path)")
    }
    atexit { unlink("/tmp/redial-test-\(getpid()).key") }
    return path
  }()

  /// A vault that seals everything.
  package static func vault() -> Vault {
    do { return Vault(try KeyFile(path), sealsAll: true) } catch { fatalError("\(error)") }
  }
}
