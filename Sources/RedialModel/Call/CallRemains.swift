internal import RedialJSON

/// What can still be read of a call that is damaged in the store.
public struct CallRemains: Sendable, Hashable {
  /// The call's id.
  public var id: CallID
  /// The name of its target, as clients know it.
  public var target: String?
  public var labels: [CallSpec.Label]

  /// Creates the remains of a call.
  public init(id: CallID, target: String? = nil, labels: [CallSpec.Label] = []) {
    self.id = id
    self.target = target
    self.labels = labels
  }
}

extension Problem {
  /// 409: a call cannot be read. This is the answer to everything that a client wants of it.
  public static func callDamaged(_ call: CallRemains, _ detail: String) -> Problem {
    var problem = Problem(.callDamaged, detail: detail)
    problem.call = call
    return problem
  }
}
