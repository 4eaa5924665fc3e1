internal import RedialModel

/// What spans and the log's lines say of a call: its spec without header fields and the like, since what waits to be told
/// of is bounded by its number.
struct CallOutline: Sendable {
  let url: String
  let method: String
  /// Qualified by the namespace.
  let target: String
  let policyName: String?
  let orderingKey: String?
  let labels: [CallSpec.Label]

  init(_ spec: CallSpec) {
    (url, method, target) = (spec.url, spec.method, spec.target)
    (policyName, orderingKey, labels) = (spec.policyName, spec.orderingKey, spec.labels)
  }
}
