package import RedialModel

/// Why a sealed value cannot be opened.
package enum SealDamage: Error, Hashable {
  /// It is not as it was sealed, or belongs elsewhere.
  case changed
  /// The store has no such data key.
  case noKey(UInt32)
  /// The data key cannot be unwrapped without this key.
  case lost(key: String)
  /// The key was erased, and so all that it sealed.
  case erased(namespace: String)
  /// It is not known whether there is a key, because the store cannot be read.
  case unreadable(StoreError)

  /// The same of something that belongs to no call.
  package func error(_ what: String) -> StoreError {
    if case .unreadable(let error) = self { return error }
    var remedy = "Restore the store from a backup."
    if case .lost = self { remedy = "Put the key file with it back, or set this anew." }
    return StoreError(kind: .corrupt, message: "\(reason(what).capitalizedFirst). \(remedy)")
  }

  /// A clause, such as "its descriptor …".
  package func reason(_ what: String) -> String {
    switch self {
    case .changed: "\(what) was changed, or is of another call: it does not open with its key"
    case .noKey(let id): "\(what) is encrypted with the data key \(id), which is missing in the store, or damaged"
    case .lost(let key): "\(what) is encrypted, and needs the key \(key), which is missing"
    case .erased(let namespace): "\(what) was erased with the key of the namespace \(namespace)"
    case .unreadable(let error): "\(what) is encrypted, and the data keys cannot be read: \(error.message)"
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
