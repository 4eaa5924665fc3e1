internal import RedialStore

/// What an instance needs to share a store.
struct SharedParts: Sendable {
  /// The store, for what is exchanged beside its work.
  let store: any SharedStore
  /// Signs requests between the instances.
  let trust: PeerTrust
  /// The API keys, which any instance may change.
  let keys: KeyRing
  /// The policies, which any instance may change.
  let policies: StoredPolicies
  /// Tells which documents cannot be read.
  let damaged: DamagedDocuments
  /// What could not be read when it had changed.
  let unread = UnreadDocuments()
}
