/// Who uses a store.
package enum StoreSharing: Sendable, Hashable {
  /// One process has the store for itself, and all shards while it is open. It takes over all calls of the process
  /// before at once.
  case alone
  /// Several instances have leases on its shards.
  case shared
}
