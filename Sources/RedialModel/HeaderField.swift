/// One HTTP header field as its sender wrote it.
public struct HeaderField: Sendable, Hashable {
  /// The field name, case preserved; compared without regard to case (RFC 9110 §5.1).
  public var name: String
  /// The field value, without surrounding white space.
  public var value: String

  /// Creates a field from a name and a value that the caller has validated.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Whether the field has that name, ignoring case.
  ///
  /// - Parameter lowercase: ASCII in lower case.
  public func isNamed(_ lowercase: StaticString) -> Bool { ASCIIText.equal(name, ignoringCase: lowercase) }
}
