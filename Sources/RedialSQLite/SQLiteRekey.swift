internal import Glibc
package import RedialModel
package import RedialStore

/// New data keys for a store in a file, as a command makes them.
package enum SQLiteRekey {
  /// Whether a service runs on the store.
  package static func isOwned(_ path: String) -> Bool { StoreFile.isOwned(path) }

  /// Does all of it, on a store that no service uses.
  package static func run(
    _ path: String, _ vault: Vault, _ forms: DocumentForms = .ofStores, _ report: (RekeyProgress) -> Void
  ) throws(StoreError) {
    let store = try SQLiteStore(path: path, vault: vault, forms: forms)
    defer { store.close() }
    try store.beginRekey()
    while let step = try store.rekeyStep() { report(step) }
  }

  /// Asks the service that runs on the store, and waits until it is done.
  package static func ask(_ path: String, _ vault: Vault, _ report: (RekeyProgress) -> Void) throws(StoreError) {
    try ask(path, "")
    let reader = try SQLiteReader(path: path, connections: 1, vault: vault)
    while true {
      let place = try reader.setting(SQLiteStore.rekeySetting)
      if place == nil, access(SQLiteStore.rekeyRequest(of: path), F_OK) != 0 { return }
      guard StoreFile.isOwned(path) else {
        throw StoreError(kind: .unavailable, message: "The service has ended. Its next start goes on.")
      }
      let numbers = place?.split(separator: " ").compactMap { Int($0) } ?? []
      if numbers.count == 2 { report(try reader.rekeyProgress(Int64(numbers[0]), Int64(numbers[1]))) }
      usleep(100_000)
    }
  }

  /// Asks the service to erase the data keys of a namespace, and waits until they are. Returns how many there were.
  package static func askToErase(_ namespace: Namespace, _ path: String) throws(StoreError) -> Int {
    func keys() throws(StoreError) -> Set<String> {
      var ids: Set<String> = []
      for document in try StoredDataKeys.read(path) where StoredDataKey.erasure(document, of: namespace) != nil {
        ids.insert(document.id)
      }
      return ids
    }
    let old = try keys()
    guard !old.isEmpty else { return 0 }
    try ask(path, namespace.name)
    while try !keys().isDisjoint(with: old) {
      guard StoreFile.isOwned(path) else {
        throw StoreError(kind: .unavailable, message: "The service has ended, and nothing was erased. Try again.")
      }
      usleep(100_000)
    }
    return old.count
  }

  /// Leaves a request for the service, once it has taken the one before.
  private static func ask(_ path: String, _ text: String) throws(StoreError) {
    let request = SQLiteStore.rekeyRequest(of: path)
    let draft = "\(request).\(getpid())"
    func fault() -> StoreError {
      let reason = String(cString: strerror(errno))
      return StoreError(
        kind: .unavailable, message: "The service cannot be asked, because \(request) cannot be made: \(reason).")
    }
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw fault() }
    defer { unlink(draft) }
    let isWritten =
      text.utf8.withContiguousStorageIfAvailable { write(file, $0.baseAddress, $0.count) == $0.count } ?? text.isEmpty
    close(file)
    guard isWritten else { throw fault() }
    // A link is there as a whole, or not at all.
    while link(draft, request) != 0 {
      guard errno == EEXIST else { throw fault() }
      guard StoreFile.isOwned(path) else {
        throw StoreError(kind: .unavailable, message: "The service has ended. Try again.")
      }
      usleep(100_000)
    }
  }
}
