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

  public var description: String { name }

  /// Orders by name.
  public static func < (a: Namespace, b: Namespace) -> Bool { a.name < b.name }
}
