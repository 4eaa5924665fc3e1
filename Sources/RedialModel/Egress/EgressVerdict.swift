public import RedialJSON

/// What an egress policy decides about a URL before anything is resolved or dialled.
public enum EgressVerdict: Sendable, Hashable {
  /// It may be called: it has an address.
  case allowed
  /// The name is not refused; its address is checked when it is dialled.
  case decidedWhenDialled
  /// It may not be called.
  case refused(EgressPolicy.Refusal)

  /// The stable word in the API.
  public var word: String {
    switch self {
    case .allowed: "allowed"
    case .decidedWhenDialled: "decidedWhenDialled"
    case .refused: "refused"
    }
  }

  /// The meaning, in a sentence. It reveals nothing about a name's addresses.
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
  /// The decision about a URL.
  ///
  /// - Parameter origin: A URL's origin, as ``TargetURL/origin`` gives it.
  public func verdict(ofOrigin origin: String) -> EgressVerdict {
    if let refusal = refusal(ofOrigin: origin) { return .refused(refusal) }
    return namesAddress(origin) ? .allowed : .decidedWhenDialled
  }
}
