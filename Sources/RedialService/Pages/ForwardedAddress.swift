/// The address that a client used for the reverse proxy in front of the service.
struct ForwardedAddress: Sendable, Hashable {
  /// `http` or `https`; nil when it is not known.
  private(set) var scheme: String?
  /// The host, perhaps with a port; nil when it is not known.
  private(set) var host: String?
  /// The path before the service's own paths, such as `/redial`, without a slash at its end; empty for none.
  private(set) var prefix = ""

  /// The fields that contain it, in lower case.
  static let names: Set<String> = ["x-forwarded-proto", "x-forwarded-host", "x-forwarded-prefix"]
  /// The lengths of their names in bytes.
  static let lengths = 16...18
  /// The maximum length of a host and of a prefix that are accepted, in bytes.
  private static let longest = 512

  /// Reads the fields. An invalid value is ignored.
  ///
  /// Of several hosts or schemes the last counts: the nearest proxy has added it, while the client may have sent the
  /// first. Several prefixes are joined, because each proxy on the way removes one.
  ///
  /// - Parameter fields: Those of ``names``, by their names in lower case, in the order of the request.
  init(_ fields: [(name: String, value: String)]) {
    for (name, value) in fields {
      for part in value.split(separator: ",") {
        let text = String(part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" })
        switch name {
        case "x-forwarded-proto": scheme = Self.scheme(text)
        case "x-forwarded-host": host = Self.isHost(text) ? text : nil
        case "x-forwarded-prefix": prefix += Self.prefix(text)
        default: break
        }
      }
    }
    if prefix.utf8.count > Self.longest { prefix = "" }
  }

  /// The start of links: `https://example.com/redial`, or only `/redial` if the scheme or the host is unknown; empty
  /// for none.
  var base: String {
    guard let scheme, let host else { return prefix }
    return "\(scheme)://\(host)\(prefix)"
  }

  private static func scheme(_ text: String) -> String? {
    let scheme = text.lowercased()
    return scheme == "http" || scheme == "https" ? scheme : nil
  }

  /// A name, an IPv4 address, or an IPv6 address in brackets, with an optional port (RFC 3986 section 3.2.2).
  static func isHost(_ text: String) -> Bool {
    guard text.utf8.count <= longest else { return false }
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = rest[rest.index(after: rest.startIndex)..<end]
      guard address.count > 1,
        address.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else { return false }
      rest = rest[rest.index(after: end)...]
    } else {
      let name = rest.prefix { isLetterOrDigit($0) || "-._".utf8.contains($0) }
      guard !name.isEmpty else { return false }
      rest = rest[name.endIndex...]
    }
    guard let colon = rest.popFirst() else { return true }
    return colon == UInt8(ascii: ":") && (1...5).contains(rest.count) && rest.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// A path of whole segments without `.` and `..`; an empty text for anything else. Browsers take a path that begins
  /// with two slashes as the name of a host.
  private static func prefix(_ text: String) -> String {
    let path = text.hasSuffix("/") ? text.dropLast() : text[...]
    guard path.hasPrefix("/") else { return "" }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    let isPath = segments.allSatisfy { segment in
      !segment.isEmpty && segment != "." && segment != ".."
        && segment.utf8.allSatisfy { isLetterOrDigit($0) || "-._~!$&'()*+;=:@".utf8.contains($0) }
    }
    return isPath ? String(path) : ""
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
  }
}
