public import RedialCore

/// The identity of a call that one instance has given it and another is to accept. Either of them may have stored the
/// call by now, so whoever stores it expects that it is there.
public struct GivenIdentity: Sendable, Hashable {
  /// The call's id.
  public var id: CallID
  /// When it was accepted.
  public var createdAt: Timestamp
  /// Whether another instance has given it. Otherwise this one has, and accepts the call itself after all.
  public var isOfPeer: Bool

  /// Creates an identity.
  public init(id: CallID, createdAt: Timestamp, isOfPeer: Bool = false) {
    self.id = id
    self.createdAt = createdAt
    self.isOfPeer = isOfPeer
  }
}

extension CallDescriptor {
  /// Creates the descriptor of a call that another instance has read and forwarded.
  public init(forwarded spec: CallSpec, body: [UInt8], start: Start, key: IdempotencyKey?, as identity: GivenIdentity) {
    self.init(spec: spec, body: body, start: start)
    self.key = key
    self.identity = identity
  }
}
