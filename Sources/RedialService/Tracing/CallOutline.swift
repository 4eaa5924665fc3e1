internal import RedialModel

/// The part of a call that spans and log lines need: its spec without header fields and the like, because the number
/// of waiting spans is limited, not their size.
struct CallOutline: Sendable {
  /// As people may see it.
  let url: String
  let method: String
  /// The key contains the namespace.
  let target: TargetKey
  let policyName: String?
  let orderingKey: String?
  let labels: [CallSpec.Label]

  init(_ spec: CallSpec) {
    (url, method, target) = (spec.shownURL, spec.method, spec.target)
    (policyName, orderingKey, labels) = (spec.policyName, spec.orderingKey, spec.labels)
  }
}
