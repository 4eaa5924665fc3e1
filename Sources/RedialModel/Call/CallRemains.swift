internal import RedialJSON

/// What can still be read of a call that is damaged in the store.
package struct CallRemains: Sendable, Hashable {
  /// The call's id.
  package var id: CallID
  /// The name of its target, as clients know it.
  package var target: String?
  package var labels: [CallSpec.Label]

  /// Creates the remains of a call.
  package init(id: CallID, target: String? = nil, labels: [CallSpec.Label] = []) {
    self.id = id
    self.target = target
    self.labels = labels
  }
}

extension Problem {
  /// 409: a call cannot be read. This is the answer to everything that a client wants of it.
  package static func callDamaged(_ call: CallRemains, _ detail: String) -> Problem {
    var problem = Problem(status: 409, code: "callDamaged", title: "The call is damaged", detail: detail)
    problem.call = call
    return problem
  }
}
