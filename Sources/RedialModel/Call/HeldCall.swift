/// A call that the store shows as one in an engine's memory, without an attempt in flight.
public struct HeldCall: Sendable, Hashable {
  public var id: CallID
  public var target: TargetKey

  /// Creates the pair.
  public init(_ id: CallID, at target: TargetKey) {
    self.id = id
    self.target = target
  }
}
