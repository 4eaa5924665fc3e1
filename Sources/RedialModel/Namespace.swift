/// One tenant's room: calls, targets, policies and limits of one namespace have nothing to do with those of another.
///
/// Who shows an API key acts in the key's namespace; ``default`` is that of everybody who says nothing of namespaces.
public struct Namespace: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Its name: 1 to 63 lower-case letters, digits and hyphens.
  public let name: String

  /// The namespace of everything that names none.
  public static let `default` = Namespace(unchecked: "default")
  /// The longest name, in characters.
  public static let longestName = 63
  /// What a name has to be, as a clause for people.
  public static let rule = "must have 1 to \(longestName) lower-case letters, digits and hyphens"

  private init(unchecked name: String) {
    self.name = name
  }

  /// The namespace of that name; nil for a text that cannot be one.
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

/// Keys that people choose, such as those of targets and of repeated submissions, told apart by namespace.
///
/// What handles them needs to know nothing of namespaces: a qualified key is one text, `NAMESPACE`, U+001F and the key; in
/// ``Namespace/default`` it is the key itself, so that what was stored before there were namespaces stays as it is. No
/// two keys of any namespaces are qualified to the same text, whatever characters they have.
public enum QualifiedKey {
  private static let separator: Unicode.Scalar = "\u{1F}"
  private static let separatorByte: UInt8 = 0x1F

  /// The key of a namespace as everything but people sees it.
  public static func make(_ key: String, in namespace: Namespace) -> String {
    // A key of the default namespace that looks like one of another is spelled out.
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

  /// The key as people see it.
  public static func bare(_ key: String) -> String {
    guard let end = split(key) else { return key }
    return String(key.unicodeScalars[end...].dropFirst())
  }

  private static func split(_ key: String) -> String.Index? {
    ASCIIText.withBytes(of: key) { position(in: $0, limit: Namespace.longestName + 1) }
      .map { key.utf8.index(key.utf8.startIndex, offsetBy: $0) }
  }

  /// Where the first separator is among the first so many bytes.
  private static func position(in bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> Int? {
    // Hardly any key has a control character.
    guard ASCIIText.anyMarked(bytes, { ASCIIText.marks(of: $0, below: 0x20) }) else { return nil }
    return bytes.prefix(limit).firstIndex(of: separatorByte)
  }
}
