/// Some of the slots that targets are divided into: the unit in which instances share a store.
///
/// A target is in the slot that its key hashes to, so that whatever is decided for the whole of a target, such as its
/// breaker, its limits and the turns of its ordering keys, is decided by the one instance that holds the slot.
public struct ShardSet: Sendable, Hashable {
  /// How many slots there are; fixed, since stores keep them by number.
  public static let count = 64
  /// No slot.
  public static let none = ShardSet(rawValue: 0)
  /// Every slot.
  public static let all = ShardSet(rawValue: .max)

  /// Bit *n* stands for slot *n*.
  public var rawValue: UInt64

  /// Creates a set from its bits.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  /// Creates a set from numbers of slots, 0...63; others are left out.
  public init(_ shards: some Sequence<Int>) {
    rawValue = shards.reduce(0) { $0 | ((0..<Self.count).contains($1) ? 1 << UInt64($1) : 0) }
  }

  /// The slot of a target, 0...63: the folded FNV-1a hash of its key (Fowler, Noll and Vo; draft-eastlake-fnv), which
  /// must never change, since stores keep it.
  public static func shard(of target: String) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in target.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    // The high bits depend on all bytes, the lowest ones hardly on any but the last.
    return Int((hash >> 32 ^ hash) % UInt64(count))
  }

  /// How many slots are in it.
  public var size: Int { rawValue.nonzeroBitCount }
  /// Whether none is.
  public var isEmpty: Bool { rawValue == 0 }
  /// The numbers of its slots, in order.
  public var shards: [Int] { (0..<Self.count).filter(contains) }

  /// Whether a slot is in it.
  public func contains(_ shard: Int) -> Bool { rawValue >> UInt64(shard) & 1 == 1 }
  /// Whether the slot of a target is in it.
  public func contains(target: String) -> Bool { contains(Self.shard(of: target)) }
  /// The slots of both.
  public func union(_ other: Self) -> Self { Self(rawValue: rawValue | other.rawValue) }
  /// The slots that the other has, too.
  public func intersection(_ other: Self) -> Self { Self(rawValue: rawValue & other.rawValue) }
  /// The slots that the other has not.
  public func subtracting(_ other: Self) -> Self { Self(rawValue: rawValue & ~other.rawValue) }
}
