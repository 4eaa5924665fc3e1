/// An absolute http or https URL, taken apart as far as Redial needs it.
public struct TargetURL: Sendable, Hashable {
  /// The longest URL that is read, in bytes.
  public static let maximumLength = 8192

  /// The origin: scheme, host in lower case, and the port unless it is the scheme's own (RFC 6454 §6.2).
  public var origin: String

  /// Reads a URL.
  ///
  /// - Throws: What is wrong with it, as a clause for people.
  public init(_ text: String) throws(URLFault) {
    let bytes = Array(text.utf8)
    guard bytes.count <= Self.maximumLength else { throw URLFault("is longer than \(Self.maximumLength) bytes") }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw URLFault("has a space, a control character or a character outside ASCII; percent-encode it")
    }
    let lower = text.lowercased()
    let scheme: String
    if lower.hasPrefix("http://") {
      scheme = "http"
    } else if lower.hasPrefix("https://") {
      scheme = "https"
    } else {
      throw URLFault("must be absolute and start with http:// or https://")
    }
    let afterScheme = lower.dropFirst(scheme.count + 3)
    let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@") else {
      throw URLFault("has credentials in it; send them in an Authorization header instead")
    }
    guard !text.utf8.contains(UInt8(ascii: "\\")) else { throw URLFault("has a backslash in it") }
    let (host, port) = try Self.split(authority)
    let isDefault = port == nil || port == (scheme == "http" ? 80 : 443)
    origin = "\(scheme)://\(host)" + (isDefault ? "" : ":\(port ?? 0)")
  }

  /// What is wrong with a URL.
  public struct URLFault: Error, Sendable, Hashable {
    /// A clause that goes on from "the URL".
    public var detail: String

    init(_ detail: String) {
      self.detail = detail
    }
  }

  private static func split(_ authority: Substring) throws(URLFault) -> (host: Substring, port: Int?) {
    var host = authority
    var port: Int?
    let afterHost = authority.hasPrefix("[") ? authority.drop { $0 != "]" } : authority[...]
    if let colon = afterHost.firstIndex(of: ":") {
      host = authority[..<colon]
      let digits = authority[authority.index(after: colon)...]
      // An empty port is the default one (RFC 3986 §3.2.3).
      if !digits.isEmpty {
        guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(digits),
          (1...65535).contains(number)
        else { throw URLFault("has a port that is not a number from 1 to 65535") }
        port = number
      }
    }
    guard !host.isEmpty else { throw URLFault("has no host") }
    if host.hasPrefix("[") {
      guard host.hasSuffix("]"), host.count > 4,
        host.dropFirst().dropLast().utf8.allSatisfy({ isHex($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else { throw URLFault("has a malformed IPv6 address") }
    } else {
      guard host.utf8.allSatisfy({ isHostByte($0) }), host.utf8.count <= 253 else {
        throw URLFault("has a host with characters that a host name cannot have")
      }
    }
    return (host, port)
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
  }
}
