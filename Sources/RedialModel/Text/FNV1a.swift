/// The hash FNV-1a of 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): the same in every process, unlike `Hasher`.
public struct FNV1a: Sendable {
  /// The hash of all that was added.
  public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  public init() {}

  /// The hash of a text.
  public init(_ text: String) {
    add(text)
  }

  public mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  public mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
  }
}
