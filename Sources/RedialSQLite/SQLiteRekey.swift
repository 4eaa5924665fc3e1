internal import Glibc
package import RedialModel
package import RedialStore

/// New data keys for a store in a file, as a command makes them.
package enum SQLiteRekey {
  /// Whether a service runs on the store.
  package static func isOwned(_ path: String) -> Bool { StoreFile.isOwned(path) }

  /// Does all of it, on a store that no service uses.
  package static func run(_ path: String, _ vault: Vault, _ report: (RekeyProgress) -> Void) throws(StoreError) {
    let store = try SQLiteStore(path: path, vault: vault)
    defer { store.close() }
    try store.beginRekey()
    while let step = try store.rekeyStep() { report(step) }
  }

  /// Asks the service that runs on the store, and waits until it is done.
  package static func ask(_ path: String, _ vault: Vault, _ report: (RekeyProgress) -> Void) throws(StoreError) {
    let request = SQLiteStore.rekeyRequest(of: path)
    let file = open(request, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreError(
        kind: .unavailable,
        message: "The service cannot be asked, because \(request) cannot be made: \(String(cString: strerror(errno))).")
    }
    close(file)
    let reader = try SQLiteReader(path: path, connections: 1, vault: vault)
    while true {
      let place = try reader.setting(SQLiteStore.rekeySetting)
      if place == nil, access(request, F_OK) != 0 { return }
      guard StoreFile.isOwned(path) else {
        throw StoreError(kind: .unavailable, message: "The service has ended. Its next start goes on.")
      }
      let numbers = place?.split(separator: " ").compactMap { Int($0) } ?? []
      if numbers.count == 2 { report(try reader.rekeyProgress(Int64(numbers[0]), Int64(numbers[1]))) }
      usleep(100_000)
    }
  }
}
