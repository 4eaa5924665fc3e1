/// A call's part in the order of a key.
package struct CallTurn: Sendable, Hashable {
  /// The ordering key.
  package var key: String
  /// Whether the call has the turn.
  package var hasTurn: Bool

  /// Creates a part.
  package init(key: String, hasTurn: Bool) {
    (self.key, self.hasTurn) = (key, hasTurn)
  }
}
