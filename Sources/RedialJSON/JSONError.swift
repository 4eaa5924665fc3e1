/// Why a text is not JSON, or not the expected JSON.
public struct JSONError: Error, Sendable, Hashable {
  /// The offset of the error from the start of the text, in bytes.
  public var offset: Int
  /// What was expected or found, as a clause for people.
  public var reason: String

  /// Creates an error at an offset.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// The error as a clause that continues the name of the text.
  ///
  /// - Parameter expected: What the text should be.
  public func clause(expected: String = "valid JSON") -> String { "is not \(expected): at byte \(offset), \(reason)" }
}
