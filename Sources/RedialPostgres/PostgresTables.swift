/// What was done with the tables of a store.
package enum PostgresTables: Sendable, Hashable {
  /// They were made.
  case made
  /// They were of an older version, and were upgraded.
  case upgraded(from: Int)
  /// They were there, and were not changed.
  case existing
}
