/// Why a text is not JSON, or not the expected JSON.
package struct JSONError: Error, Sendable, Hashable {
  /// The offset of the error from the start of the text, in bytes.
  package var offset: Int
  /// What was expected or found, as a clause for people.
  package var reason: String

  /// Creates an error at an offset.
  package init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }
}
