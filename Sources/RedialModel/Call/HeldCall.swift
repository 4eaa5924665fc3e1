/// A call that the store shows as one in an engine's memory, without an attempt in flight.
package struct HeldCall: Sendable, Hashable {
  package var id: CallID
  package var target: TargetKey

  /// Creates the pair.
  package init(_ id: CallID, at target: TargetKey) {
    self.id = id
    self.target = target
  }
}
