internal import RedialCore
internal import RedialJSON

/// Reads a client's JSON in one pass and collects all faults: a call descriptor, and everything else that has members.
///
/// A value of the wrong kind is recorded and skipped, so that one answer shows the client all of its mistakes. Only
/// text that is not JSON ends the reading.
struct DescriptorReader: ~Copyable {
  var json: JSONReader
  var faults: [Problem.Fault] = []
  /// The number of faults; ``faults`` has the first of them.
  var faultCount = 0
  let limits: CallDescriptor.Limits
  /// Whether a member's null is no fault but removes it: no value is read, as for a member that is left out.
  var nullRemoves = false

  /// The policy that was read last.
  private(set) var policy = KnownPolicy.unsaid
  /// Its name and version, if it is a stored one.
  private(set) var policyName: String?
  /// The origin of the URL of a call, if it is one that can be called.
  var origin: String?
  /// Where the reading of a call's fields is.
  var place = FieldPlace()

  init(json: JSONReader, limits: CallDescriptor.Limits) {
    self.json = json
    self.limits = limits
  }

  mutating func readPolicy() throws(JSONError) {
    // A name is not cached by its bytes, because the policy behind it can change.
    if try json.peek() == .string {
      let name = try json.string()
      if name == CallSpec.defaultPolicyName { return policy = KnownPolicy.unsaid }
      guard let policies = limits.policies else { return fault("/policy", "cannot be a name here; give an object") }
      switch policies.resolve(name, in: limits.namespace) {
      case .found(let known, let reference): (policy, policyName) = (known, reference)
      case .fault(let detail): fault("/policy", detail)
      }
      return
    }
    if let (known, count) = KnownPolicies.recent.latest(leading: json.rest) {
      json.passKnownValue(of: count)
      policy = known
      return
    }
    var ahead = json
    let text = json.raw(try ahead.skipValue())
    if let known = KnownPolicies.recent.policy(readFrom: text) {
      json = ahead
      policy = known
      return
    }
    let faultsBefore = faultCount
    var draft = PolicyDraft()
    try draft.read(from: &self)
    guard faultCount == faultsBefore else { return }
    // Whether an outdated text is a fault depends on who gives it.
    policy = draft.isOutdated ? KnownPolicy(draft) : KnownPolicies.recent.remember(draft, readFrom: text)
  }
}
