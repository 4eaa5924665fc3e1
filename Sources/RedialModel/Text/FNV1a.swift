/// The hash FNV-1a of 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv): the same in every process, unlike `Hasher`.
package struct FNV1a: Sendable {
  /// The hash of all that was added.
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  /// The hash of a text.
  package init(_ text: String) {
    add(text)
  }

  package mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  package mutating func add(_ text: String) {
    for byte in text.utf8 { add(byte) }
  }
}
