internal import Dispatch
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Makes the data keys of namespaces before the engine takes what they seal, where a program wraps them: off the lanes, and
/// one at a time. Who needs no new key does not wait for the program.
final class NamespaceKeys: Sendable {
  /// Called with why the key could not be made; with nil if it is there.
  typealias Ready = @Sendable (StoreError?) -> Void

  private struct Waiting {
    var namespaces: [Namespace: [Ready]] = [:]
  }

  /// How many namespaces wait for a key at most.
  static let mostWaiting = 100

  private let vault: Vault
  private let make: @Sendable (Namespace) throws(StoreError) -> Void
  private let log: Log
  private let queue = DispatchQueue(label: "redial.keys", qos: .userInitiated)
  private let waiting = Mutex(Waiting())

  /// - Parameters:
  ///   - isShared: Whether other instances make keys, too, which this one may not be able to read.
  ///   - make: Makes the key of a namespace, on a thread of its own.
  /// - Returns: Nil if keys are made at once where they are needed.
  init?(
    _ vault: Vault, isShared: Bool, _ log: Log, make: @escaping @Sendable (Namespace) throws(StoreError) -> Void
  ) {
    guard vault.isSlow || isShared && vault.sealsAll else { return nil }
    (self.vault, self.log, self.make) = (vault, log, make)
  }

  /// Whether a namespace has its key.
  func isReady(_ namespace: Namespace) -> Bool { vault.hasKey(of: namespace.name) }

  /// Calls back when the namespace has its key, or cannot get one.
  func ready(_ namespace: Namespace, _ then: @escaping Ready) {
    let isFirst = waiting.withLock { waiting -> Bool? in
      if waiting.namespaces[namespace] == nil, waiting.namespaces.count >= Self.mostWaiting { return nil }
      waiting.namespaces[namespace, default: []].append(then)
      return waiting.namespaces[namespace]?.count == 1
    }
    switch isFirst {
    case true?: queue.async { self.serve(namespace) }
    case false?: break
    case nil:
      then(StoreError(kind: .unavailable, message: "\(Self.mostWaiting) namespaces wait for a key already."))
    }
  }

  private func serve(_ namespace: Namespace) {
    var failure: StoreError?
    do throws(StoreError) {
      try make(namespace)
    } catch {
      failure = error
      log.write(.error, "keyNotMade", [("namespace", namespace.name), ("error", error.message)])
    }
    let served = waiting.withLock { $0.namespaces.removeValue(forKey: namespace) ?? [] }
    for then in served { then(failure) }
  }
}
