/// An IPv4 or IPv6 address. An IPv4 address is stored in its IPv4-mapped form, which is its meaning in IPv6.
public struct IPAddress: Sendable, Hashable {
  /// The first eight bytes, in network order.
  public let high: UInt64
  /// The last eight bytes, in network order.
  public let low: UInt64

  /// Creates an IPv6 address from its halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates an IPv4 address from its four bytes, the first the most significant.
  public init(v4 value: UInt32) {
    high = 0
    low = 0xFFFF_0000_0000 | UInt64(value)
  }

  /// Its IPv4 address, if it is one; nil for any other IPv6 address.
  public var v4: UInt32? {
    high == 0 && low >> 32 == 0xFFFF ? UInt32(truncatingIfNeeded: low) : nil
  }

  /// The IPv4 addresses within an IPv6 address to which a gateway or tunnel would forward a packet: IPv4-mapped and
  /// -compatible (RFC 4291 §2.5.5), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo's server and client (RFC 4380
  /// §4) and ISATAP (RFC 5214 §6.1).
  public var embedded: [UInt32] {
    let last = UInt32(truncatingIfNeeded: low)
    if high == 0 {
      switch low >> 32 {
      case 0 where low > 1: return [last]
      case 0xFFFF: return [last]
      // IPv4-translated (RFC 2765 §2.1): the last 16 of the first 80 bits are ones.
      case 0xFFFF_0000: return [last]
      default: return []
      }
    }
    if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return [last] }
    // The local-use prefix is 64:ff9b:1::/48. A network may choose the position of the address: at /48 it surrounds the
    // byte that must be zero, at /96 it is at the end.
    if high >> 16 == 0x0064_FF9B_0001 {
      let split = UInt32(truncatingIfNeeded: high & 0xFFFF) << 16 | UInt32(truncatingIfNeeded: low >> 40 & 0xFFFF)
      return split == 0 ? [last] : [last, split]
    }
    if high >> 48 == 0x2002 { return [UInt32(truncatingIfNeeded: high >> 16)] }
    if high >> 32 == 0x2001_0000 { return [UInt32(truncatingIfNeeded: high), ~last] }
    if low >> 32 == 0x0000_5EFE || low >> 32 == 0x0200_5EFE { return [last] }
    return []
  }
}

/// A range of addresses that share a prefix (CIDR, RFC 4632).
public struct AddressBlock: Sendable, Hashable {
  /// The first address, with zeros beyond the prefix.
  public let base: IPAddress
  /// The length of the prefix, of 128; an IPv4 prefix counts from bit 96.
  public let length: Int

  /// Creates a block; bits of `base` beyond the prefix are cleared.
  ///
  /// - Parameter length: 0 to 128.
  public init(_ base: IPAddress, length: Int) {
    self.length = min(max(length, 0), 128)
    let (high, low) = Self.mask(self.length)
    self.base = IPAddress(high: base.high & high, low: base.low & low)
  }

  /// Reads `10.0.0.0/8`, `fd00::/8`, or a single address, which is a block of one.
  ///
  /// - Returns: Nil for anything else, and for a block with bits set beyond its prefix, which is probably a mistake.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(canonical: String(parts[0])) else { return nil }
    let width = address.v4 == nil || text.contains(":") ? 128 : 32
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let bits = Int(parts[1]), bits <= width
      else { return nil }
      length = bits
    }
    self.init(address, length: length + 128 - width)
    guard base == address else { return nil }
  }

  /// Whether the address is in the block. IPv4 addresses lie within IPv6's, but a block with more than all of them,
  /// such as `::/0`, is not intended for them.
  public func contains(_ address: IPAddress) -> Bool {
    if length < 96, address.v4 != nil { return false }
    let (high, low) = Self.mask(length)
    return address.high & high == base.high && address.low & low == base.low
  }

  private static func mask(_ length: Int) -> (high: UInt64, low: UInt64) {
    (
      length >= 64 ? .max : ~(UInt64.max >> UInt64(length)),
      length <= 64 ? 0 : length == 128 ? .max : ~(UInt64.max >> UInt64(length - 64))
    )
  }
}
