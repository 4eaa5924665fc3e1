/// A tenant: its calls, targets, policies and limits are separate from those of all other namespaces.
///
/// A client with an API key acts in the key's namespace; ``default`` is used where no namespace is named.
public struct Namespace: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Its name: 1 to 63 lower-case letters, digits and hyphens.
  public let name: String

  /// The namespace used where none is named.
  public static let `default` = Namespace(unchecked: "default")
  /// The maximum length of a name, in characters.
  public static let longestName = 63
  /// The rule for names, as a clause for people.
  public static let rule = "must have 1 to \(longestName) lower-case letters, digits and hyphens"

  private init(unchecked name: String) {
    self.name = name
  }

  /// The namespace of that name; nil for an invalid name.
  public init?(_ name: some StringProtocol) {
    let isName = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    guard isName, (1...Self.longestName).contains(name.utf8.count) else { return nil }
    self.init(unchecked: String(name))
  }

  /// Whether it is ``default``.
  public var isDefault: Bool { name == Self.default.name }

  /// The name.
  public var description: String { name }

  /// Orders by name.
  public static func < (a: Namespace, b: Namespace) -> Bool { a.name < b.name }
}

/// Keys that people choose, such as those of targets and of repeated submissions, separated by namespace.
///
/// Code that handles them need not know namespaces: a qualified key is one text, `NAMESPACE`, U+001F and the key; in
/// ``Namespace/default`` it is the key itself, so that keys stored before there were namespaces stay valid. Two
/// different keys never have the same qualified text, whatever characters they contain.
public enum QualifiedKey {
  private static let separator: Unicode.Scalar = "\u{1F}"
  private static let separatorByte: UInt8 = 0x1F

  /// The qualified key of a namespace's key.
  public static func make(_ key: String, in namespace: Namespace) -> String {
    // A key of the default namespace that looks like one of another is written out in full.
    if namespace.isDefault, ASCIIText.withBytes(of: key, { position(in: $0, limit: $0.count) }) == nil { return key }
    var text = namespace.name
    text.unicodeScalars.append(separator)
    return text + key
  }

  /// The namespace of a qualified key.
  public static func namespace(of key: String) -> Namespace {
    guard let end = split(key) else { return .default }
    return Namespace(key[..<end]) ?? .default
  }

  /// The unqualified key, as people see it.
  public static func bare(_ key: String) -> String {
    guard let end = split(key) else { return key }
    return String(key.unicodeScalars[end...].dropFirst())
  }

  private static func split(_ key: String) -> String.Index? {
    ASCIIText.withBytes(of: key) { position(in: $0, limit: Namespace.longestName + 1) }
      .map { key.utf8.index(key.utf8.startIndex, offsetBy: $0) }
  }

  /// The position of the first separator within a number of bytes.
  private static func position(in bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> Int? {
    // Nearly no key has a control character.
    guard ASCIIText.anyMarked(bytes, { ASCIIText.marks(of: $0, below: 0x20) }) else { return nil }
    return bytes.prefix(limit).firstIndex(of: separatorByte)
  }
}
