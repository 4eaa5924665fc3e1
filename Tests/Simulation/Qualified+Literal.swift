public import RedialModel

/// In tests, a text in the code is a key of the default namespace.
extension Qualified: ExpressibleByStringInterpolation {
  /// The key that a literal spells.
  public init(stringLiteral value: String) {
    self.init(value, in: .default)
  }
}
