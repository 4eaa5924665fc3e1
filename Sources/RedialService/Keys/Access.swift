internal import RedialModel

/// The permission that a request needs.
enum Access: Sendable, Equatable {
  /// None.
  case open
  /// Any key.
  case anyKey
  /// A key with that scope.
  case scope(APIScope)
}
