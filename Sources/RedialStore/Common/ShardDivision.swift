package import RedialModel

/// How the shards are divided among the instances that share a store.
package struct ShardDivision {
  /// An even share of all shards, rounded up.
  package let share: Int
  /// The shards without an owner that an instance takes now.
  package let gained: ShardSet

  /// - Parameters:
  ///   - instances: The number of instances, at least 1.
  ///   - owned: The number of shards that the instance has.
  ///   - free: The shards that had no owner before it gave any back: it does not take those again at once.
  ///   - takesShards: Whether it wants more.
  package init(among instances: Int, owned: Int, free: ShardSet, takesShards: Bool) {
    share = (ShardSet.count + instances - 1) / instances
    let missing = takesShards ? max(0, share - owned) : 0
    gained = ShardSet(free.shards.prefix(missing))
  }
}
