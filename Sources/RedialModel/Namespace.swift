/// A tenant: its calls, targets, policies and limits are separate from those of all other namespaces.
///
/// A client with an API key acts in the key's namespace; ``default`` is used where no namespace is named.
package struct Namespace: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Its name: 1 to 63 lower-case letters, digits and hyphens.
  package let name: String

  /// The namespace used where none is named.
  package static let `default` = Namespace(unchecked: "default")
  /// The maximum length of a name, in characters.
  package static let longestName = 63
  /// The rule for names, as a clause for people.
  package static let rule = "must have 1 to \(longestName) lower-case letters, digits and hyphens"

  private init(unchecked name: String) {
    self.name = name
  }

  /// The namespace of that name; nil for an invalid name.
  package init?(_ name: some StringProtocol) {
    let isName = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    guard isName, (1...Self.longestName).contains(name.utf8.count) else { return nil }
    self.init(unchecked: String(name))
  }

  /// Whether it is ``default``.
  package var isDefault: Bool { name == Self.default.name }

  package var description: String { name }

  /// Orders by name.
  package static func < (a: Namespace, b: Namespace) -> Bool { a.name < b.name }
}
