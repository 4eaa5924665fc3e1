internal import RedialText

/// The parts of an absolute http or https URL that Redial needs.
public struct TargetURL: Sendable, Hashable {
  /// The maximum length of a URL, in bytes.
  public static let maximumLength = 8192

  /// The origin: scheme, host in lower case, and the port unless it is the scheme's default (RFC 6454 §6.2).
  ///
  /// All spellings of one host have one origin, so that no spelling avoids the settings of another: the final dot of a
  /// name is removed, an IPv4 address, mapped or not, is four decimal numbers, and an IPv6 address is written as in RFC
  /// 5952.
  public var origin: String

  /// Reads a URL.
  ///
  /// - Throws: What is wrong with it, as a clause for people.
  public init(_ text: String) throws(URLFault) {
    if let origin = ASCIIText.withBytes(of: text, { Self.leadingOrigin(of: $0) }) {
      self.origin = origin
      return
    }
    var text = text
    // Typed errors cannot pass through the standard library's closures.
    let result: Result<String, URLFault> = text.withUTF8 { bytes in
      do throws(URLFault) {
        return .success(try Self.origin(of: bytes))
      } catch {
        return .failure(error)
      }
    }
    origin = try result.get()
  }

  /// Whether what is sent to a URL is not encrypted.
  public static func isClear(_ url: String) -> Bool { url.prefix(5).lowercased() == "http:" }

  /// What is wrong with the name of an origin's host, so that no resolver finds it (RFC 1035 §2.3.4); nil for a name that
  /// may exist, and for an address.
  public static func nameFault(inOrigin origin: String) -> String? {
    ASCIIText.withBytes(of: origin) { bytes in
      let start = bytes[4] == UInt8(ascii: "s") ? 8 : 7
      guard start < bytes.count, bytes[start] != UInt8(ascii: "[") else {
        return start < bytes.count ? nil : emptyLabel
      }
      var length = 0
      for byte in bytes[start...] {
        if byte == UInt8(ascii: ":") { break }
        if byte != UInt8(ascii: ".") {
          length += 1
        } else if length == 0 {
          return emptyLabel
        } else {
          if length > longestLabel { break }
          length = 0
        }
      }
      if length == 0 { return emptyLabel }
      return length > longestLabel
        ? "has a host with more than \(longestLabel) bytes between two dots, which no name has" : nil
    }
  }

  private static let emptyLabel = "has a host with nothing before or between its dots, which no name has"
  /// The longest part of a name between two dots, in bytes.
  private static let longestLabel = 63

  /// Whether a text is a host with or without a port, and nothing else.
  static func isAuthority(_ text: String) -> Bool {
    !text.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
      && (try? TargetURL("http://\(text)")) != nil
  }

  /// What is wrong with a URL.
  public struct URLFault: Error, Sendable, Hashable {
    /// A clause that continues "the URL".
    public var detail: String

    init(_ detail: String) {
      self.detail = detail
    }
  }

  /// The origin if the URL begins with it, as nearly every one does: scheme and host are in lower case, and a port is
  /// not the scheme's default. Nil for others, whether they are valid or not.
  private static func leadingOrigin(of bytes: UnsafeBufferPointer<UInt8>) -> String? {
    guard bytes.count > 8, bytes.count <= maximumLength else { return nil }
    let isVisible = !ASCIIText.anyMarked(bytes) { word in
      word & ASCIIText.tops | ASCIIText.marks(of: word, below: 0x21) | ASCIIText.marks(of: word, equalTo: 0x7F)
        | ASCIIText.marks(of: word, equalTo: 0x5C)
    }
    let isSecure = bytes[4] == UInt8(ascii: "s")
    guard isVisible, ASCIIText.starts(bytes, with: isSecure ? "https://" : "http://") else { return nil }
    let start = isSecure ? 8 : 7
    var at = start
    while at < bytes.count, isHostByte(bytes[at]) { at += 1 }
    let host = bytes[start..<at]
    guard !host.isEmpty, host.count <= 253, host.last != UInt8(ascii: "."),
      !IPAddress.endsLikeNumber(host) || IPAddress.plainDotted(host) != nil
    else {
      return nil
    }
    if at < bytes.count, bytes[at] == UInt8(ascii: ":") {
      let first = at + 1
      var port = 0
      at = first
      while at < bytes.count, at - first < 6, bytes[at] &- 0x30 < 10 {
        port = port * 10 + Int(bytes[at] &- 0x30)
        at += 1
      }
      guard at > first, bytes[first] != 0x30, port <= 65535, port != (isSecure ? 443 : 80) else { return nil }
    }
    // The general parser handles other continuations.
    guard at == bytes.count || bytes[at] == UInt8(ascii: "/") || bytes[at] == UInt8(ascii: "?") else { return nil }
    return String(decoding: UnsafeBufferPointer(rebasing: bytes[..<at]), as: UTF8.self)
  }

  private static func origin(of bytes: UnsafeBufferPointer<UInt8>) throws(URLFault) -> String {
    guard bytes.count <= maximumLength else { throw URLFault("is longer than \(maximumLength) bytes") }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw URLFault("has a space, a control character or a character outside ASCII; percent-encode it")
    }
    let scheme: StaticString
    if starts(bytes, "http://") {
      scheme = "http"
    } else if starts(bytes, "https://") {
      scheme = "https"
    } else {
      throw URLFault("must be absolute and start with http:// or https://")
    }
    let afterScheme = bytes[(scheme.utf8CodeUnitCount + 3)...]
    let authority = afterScheme.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard !authority.contains(UInt8(ascii: "@")) else {
      throw URLFault("has credentials in it; send them in an Authorization header instead")
    }
    guard !bytes.contains(UInt8(ascii: "\\")) else { throw URLFault("has a backslash in it") }
    let (host, port) = try split(authority)
    let isDefault = port == nil || port == (scheme.utf8CodeUnitCount == 4 ? 80 : 443)
    var origin: [UInt8] = []
    origin.reserveCapacity(scheme.utf8CodeUnitCount + 3 + host.count + 6)
    scheme.withUTF8Buffer { origin += $0 }
    origin += "://".utf8
    append(host, to: &origin)
    if let port, !isDefault {
      origin.append(UInt8(ascii: ":"))
      origin.appendDecimal(Int64(port))
    }
    return String(decoding: origin, as: UTF8.self)
  }

  /// Appends a host in its one canonical form.
  private static func append(_ host: Bytes, to origin: inout [UInt8]) {
    if let address = IPAddress(host: String(decoding: host, as: UTF8.self)) {
      // An IPv4-mapped address is dialled as its IPv4 address.
      origin += (address.v4 == nil ? "[\(address)]" : "\(address)").utf8
    } else {
      for byte in host.last == UInt8(ascii: ".") ? host.dropLast() : host { origin.append(lowercased(byte)) }
    }
  }

  /// Whether the bytes start with a text in lower case, ignoring their case.
  private static func starts(_ bytes: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { wanted in
      bytes.count >= wanted.count && wanted.indices.allSatisfy { lowercased(bytes[$0]) == wanted[$0] }
    }
  }

  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  private static func split(_ authority: Bytes) throws(URLFault) -> (host: Bytes, port: Int?) {
    var host = authority
    var port: Int?
    let isLiteral = authority.first == UInt8(ascii: "[")
    let afterHost = isLiteral ? authority.drop { $0 != UInt8(ascii: "]") } : authority
    if let colon = afterHost.firstIndex(of: UInt8(ascii: ":")) {
      host = authority[..<colon]
      let digits = authority[(colon + 1)...]
      // An empty port is the default one (RFC 3986 §3.2.3).
      if !digits.isEmpty {
        guard digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { throw badPort }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard (1...65535).contains(number) else { throw badPort }
        port = number
      }
    }
    guard !host.isEmpty else { throw URLFault("has no host") }
    // The maximum length of a DNS name (RFC 1035 §2.3.4).
    guard host.count <= 253 else { throw URLFault("has a host of \(host.count) bytes; no name is longer than 253") }
    if isLiteral {
      guard host.last == UInt8(ascii: "]"), host.count >= 4,
        host.dropFirst().dropLast().allSatisfy({
          isHex(lowercased($0)) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
        }), IPAddress(host: String(decoding: host, as: UTF8.self)) != nil
      else { throw URLFault("has a malformed IPv6 address") }
    } else {
      guard host.allSatisfy({ isHostByte(lowercased($0)) }), host.count <= 253 else {
        throw URLFault("has a host with characters that a host name cannot have")
      }
      try check(numbers: host)
    }
    return (host, port)
  }

  /// A host that ends in a number is an IPv4 address in one of its forms, or invalid.
  private static func check(numbers host: Bytes) throws(URLFault) {
    guard IPAddress.endsLikeNumber(host), IPAddress.plainDotted(host) == nil else { return }
    let text = String(decoding: host, as: UTF8.self)
    guard !IPAddress.looksLikeV4(text) || IPAddress(host: text) != nil else {
      throw URLFault("has a host that ends in a number and is not an IPv4 address")
    }
  }

  private static let badPort = URLFault("has a port that is not a number from 1 to 65535")

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
  }
}
