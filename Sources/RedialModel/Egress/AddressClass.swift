/// The purpose of an address, as far as it matters for calls (the IANA special-purpose registries, RFC 6890).
public enum AddressClass: UInt8, Sendable, Hashable, CaseIterable, Comparable {
  /// A unicast address of the public network.
  case `public` = 0
  /// Reserved for documentation, benchmarks, protocols or the future: no host has it.
  case reserved = 1
  /// Private networks: RFC 1918, shared (RFC 6598), unique local (RFC 4193), site-local (RFC 3879).
  case `private` = 2
  /// This machine itself.
  case loopback = 3
  /// `0.0.0.0/8` and `::`, which mean this machine on many systems.
  case unspecified = 4
  /// Several machines at a time, including broadcast.
  case multicast = 5
  /// Link-local addresses, where clouds serve the credentials of their machines.
  case linkLocal = 6
  /// An address outside the link-local ranges at which a cloud serves data about its machine.
  case metadata = 7

  /// Orders by the possible harm of a call, so that the worse of two is the greater.
  public static func < (left: AddressClass, right: AddressClass) -> Bool { left.rawValue < right.rawValue }
}

extension IPAddress {
  /// The class of an address; if it contains other addresses, the worst class of all.
  public var addressClass: AddressClass {
    if let v4 { return Self.classify(v4) }
    var found = classifyV6()
    for address in embedded { found = max(found, Self.classify(address)) }
    return found
  }

  private static func classify(_ address: UInt32) -> AddressClass {
    switch address >> 24 {
    case 0: return .unspecified
    case 10: return .private
    case 127: return .loopback
    case 224...239: return .multicast
    case 240...255: return address == .max ? .multicast : .reserved
    default: break
    }
    switch address {
    // Alibaba, Oracle (classic) and Azure (the platform's own channel).
    case 0x6464_64C8, 0xC000_00C0, 0xA83F_8110: return .metadata
    default: break
    }
    switch address >> 16 {
    case 0xA9FE: return .linkLocal
    case 0xC0A8, 0xAC10...0xAC1F, 0x6440...0x647F: return .private
    case 0xC612, 0xC613: return .reserved
    default: break
    }
    switch address >> 8 {
    case 0xC0_0000, 0xC0_0002, 0xC0_5863, 0xC6_3364, 0xCB_0071: return .reserved
    default: return .public
    }
  }

  private func classifyV6() -> AddressClass {
    if high == 0, low == 0 { return .unspecified }
    if high == 0, low == 1 { return .loopback }
    // Amazon's and Google's, both in the unique local range.
    if self == IPAddress(high: 0xFD00_0EC2_0000_0000, low: 0x254)
      || self == IPAddress(high: 0xFD20_00CE_0000_0000, low: 0x254)
    {
      return .metadata
    }
    switch high >> 56 {
    case 0xFF: return .multicast
    case 0xFC, 0xFD: return .private
    default: break
    }
    switch high >> 54 {
    case 0x3FA: return .linkLocal
    case 0x3FB: return .private
    default: break
    }
    // A gateway forwards these to the address that they contain, so only that counts.
    if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return .public }
    if high >> 16 == 0x0064_FF9B_0001 { return .private }
    // Global unicast is 2000::/3; nothing else is assigned.
    guard high >> 61 == 1 else { return .reserved }
    // Of 2001::/23 only Teredo has a class that follows from the address.
    if high >> 32 == 0x2001_0000 { return .public }
    if high >> 32 == 0x2001_0DB8 || high >> 41 == 0x2001_0000 >> 9 || high >> 44 == 0x3FFF0 { return .reserved }
    return .public
  }
}
