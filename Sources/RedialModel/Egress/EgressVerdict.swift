/// What an egress policy says of a URL before anything is resolved or dialled.
public enum EgressVerdict: Sendable, Hashable {
  /// It may be called: it names an address.
  case allowed
  /// Nothing speaks against its name; the address that the name leads to is judged when it is dialled.
  case decidedWhenDialled
  /// It may not be called.
  case refused(EgressPolicy.Refusal)

  /// The stable word of the wire.
  public var word: String {
    switch self {
    case .allowed: "allowed"
    case .decidedWhenDialled: "decidedWhenDialled"
    case .refused: "refused"
    }
  }

  /// What it means, in a sentence. It tells nothing of what a name resolves to.
  public var sentence: String {
    switch self {
    case .allowed: "The egress policy allows this address."
    case .decidedWhenDialled:
      "The egress policy does not refuse this name. The address that it leads to is checked for each attempt."
    case .refused(let refusal): "The egress policy refuses \(refusal.clause)."
    }
  }

  /// Writes it as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("verdict", word)
    if case .refused(let refusal) = self {
      writer.field("rule", refusal.rule)
    } else {
      writer.field("rule", nil as String?)
    }
    writer.field("detail", sentence)
    writer.endObject()
  }
}

extension EgressPolicy {
  /// What the policy says of a URL as it stands.
  ///
  /// - Parameter origin: A URL's origin, as ``TargetURL/origin`` gives it.
  public func verdict(ofOrigin origin: String) -> EgressVerdict {
    if let refusal = refusal(ofOrigin: origin) { return .refused(refusal) }
    return namesAddress(origin) ? .allowed : .decidedWhenDialled
  }
}
