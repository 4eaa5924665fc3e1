/// A set of the shards into which targets are divided: the unit in which instances share a store.
///
/// The hash of its key selects a target's shard, so that one instance, the owner of the shard, makes all decisions
/// about a whole target, such as those about its breaker, its limits and the turns of its ordering keys.
public struct ShardSet: Sendable, Hashable {
  /// The number of shards; fixed, because stores contain their numbers.
  public static let count = 64
  /// No shard.
  public static let none = ShardSet(rawValue: 0)
  /// Every shard.
  public static let all = ShardSet(rawValue: .max)

  /// Bit *n* stands for shard *n*.
  public var rawValue: UInt64

  /// Creates a set from its bits.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Creates a set from numbers of shards, 0...63; others are left out.
  public init(_ shards: some Sequence<Int>) {
    rawValue = shards.reduce(0) { $0 | ((0..<Self.count).contains($1) ? 1 << UInt64($1) : 0) }
  }

  /// The shard of a target, 0...63: the folded ``FNV1a`` hash of its key, which must never change, because stores contain
  /// it.
  public static func shard(of target: TargetKey) -> Int {
    let hash = FNV1a(target.text).value
    // The high bits depend on all bytes, the lowest ones hardly on any except the last.
    return Int((hash >> 32 ^ hash) % UInt64(count))
  }

  /// The number of its shards.
  public var size: Int { rawValue.nonzeroBitCount }
  /// Whether it is empty.
  public var isEmpty: Bool { rawValue == 0 }
  /// The numbers of its shards, in order.
  public var shards: [Int] { (0..<Self.count).filter(contains) }

  /// Whether it contains a shard.
  public func contains(_ shard: Int) -> Bool { rawValue >> UInt64(shard) & 1 == 1 }
  /// Whether it contains the shard of a target.
  public func contains(target: TargetKey) -> Bool { self == .all || contains(Self.shard(of: target)) }
  /// The shards of both.
  public func union(_ other: Self) -> Self { Self(rawValue: rawValue | other.rawValue) }
  /// The shards that are in both.
  public func intersection(_ other: Self) -> Self { Self(rawValue: rawValue & other.rawValue) }
  /// The shards that the other does not contain.
  public func subtracting(_ other: Self) -> Self { Self(rawValue: rawValue & ~other.rawValue) }
}
