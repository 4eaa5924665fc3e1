/// Why a text is not JSON, or not the JSON that was expected.
public struct JSONError: Error, Sendable, Hashable {
  /// Bytes from the start of the text to where it went wrong.
  public var offset: Int
  /// What was expected or found, as a clause for people.
  public var reason: String

  /// Creates an error at an offset.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }
}
