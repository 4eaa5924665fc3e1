package import RedialModel

/// In tests, a text in the code is a key of the default namespace.
extension Qualified: ExpressibleByStringInterpolation {
  /// The key that a literal spells.
  package init(stringLiteral value: String) {
    self.init(value, in: .default)
  }
}
