public import RedialCore
public import RedialJSON

/// A policy whose schedule is requested.
public struct PlanRequest: Sendable, Hashable {
  public var policy: RetryPolicy
  /// Its name: `default`, or a stored one with its version; nil for one that was given inline.
  public var policyName: String?
  /// Whether the requests may be repeated.
  public var mayRepeat: Bool
  /// The assumed duration of each attempt.
  public var attemptDuration: Duration
  /// The maximum number of listed attempts, 1...1000.
  public var limit: Int

  private enum Member: String, CaseIterable { case policy, idempotent, attemptDuration, limit }

  /// Reads a request from JSON.
  ///
  /// - Parameter policies: The policies that it may name.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each wrong
  ///   member.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, policies: NamedPolicies? = nil, in namespace: Namespace = .default
  ) throws(Problem) -> PlanRequest {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .naming(policies, in: namespace))
    var mayRepeat = true
    var attemptDuration = Duration.zero
    var limit = 100
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"policy\": {\"maxAttempts\": 5}}") else {
        return
      }
      try reader.json.beginObject()
      var members = Members(of: Member.self)
      while let member = try reader.nextMember(&members, as: Member.self, of: "a preview", at: "") {
        switch member {
        case .policy: try reader.readPolicy()
        case .idempotent: mayRepeat = try reader.bool("/idempotent") ?? mayRepeat
        case .attemptDuration:
          attemptDuration =
            try reader.duration("/attemptDuration", in: .zero...Duration.seconds(3600)) ?? attemptDuration
        case .limit: limit = try reader.integer("/limit", in: 1...1000) ?? limit
        }
      }
    }
    try reader.refuseFaults(.invalidPolicy)
    return PlanRequest(
      policy: reader.policy.finished(mayRepeat: mayRepeat).policy,
      policyName: reader.policy === KnownPolicy.unsaid ? CallSpec.defaultPolicyName : reader.policyName,
      mayRepeat: mayRepeat,
      attemptDuration: attemptDuration,
      limit: limit)
  }

  public func plan() -> RetryPlan { policy.plan(attemptDuration: attemptDuration, limit: limit) }

  /// The warnings for its author.
  public func warnings(of plan: RetryPlan) -> [CallWarning] {
    CallWarning.of(plan.warnings, policy, mayRepeat: mayRepeat)
  }

  /// Writes a plan of it as one object.
  public func write(_ plan: RetryPlan, to writer: inout JSONWriter) {
    PlanView.write(plan, of: policy, named: policyName, mayRepeat: mayRepeat, to: &writer)
  }
}
