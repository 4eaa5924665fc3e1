public import RedialCore

/// A policy of which the schedule is asked for.
public struct PlanRequest: Sendable, Hashable {
  /// The policy.
  public var policy: RetryPolicy
  /// How long each attempt is taken to last.
  public var attemptDuration: Duration
  /// The most attempts to list, 1...1000.
  public var limit: Int

  /// Reads a request from JSON.
  ///
  /// - Parameter policies: Those that it may name.
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each member at
  ///   fault.
  public static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, policies: NamedPolicies? = nil, in namespace: Namespace = .default
  ) throws(Problem) -> PlanRequest {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: .naming(policies, in: namespace))
    var method = "GET"
    var idempotent = false
    var attemptDuration = Duration.zero
    var limit = 100
    try reader.readWhole { reader throws(JSONError) in
      guard try reader.expect(.object, "", "must be a JSON object such as {\"policy\": {\"maxAttempts\": 5}}") else {
        return
      }
      try reader.json.beginObject()
      var members = Members(["policy", "method", "idempotent", "attemptDuration", "limit"])
      while let key = try reader.nextMember(&members, of: "a preview", at: "") {
        switch key {
        case "policy": try reader.readPolicy()
        case "method": method = try reader.string("/method") ?? method
        case "idempotent": idempotent = try reader.bool("/idempotent") ?? idempotent
        case "attemptDuration":
          attemptDuration =
            try reader.duration("/attemptDuration", in: .zero...Duration.seconds(3600)) ?? attemptDuration
        default: limit = try reader.integer("/limit", in: 1...1000) ?? limit
        }
      }
    }
    try reader.refuseFaults(code: "invalidPolicy", title: "The policy cannot be previewed")
    return PlanRequest(
      policy: reader.policy.finished(for: Idempotency(method: method, hasKey: idempotent)).policy,
      attemptDuration: attemptDuration,
      limit: limit)
  }

  /// The plan that is asked for.
  public func plan() -> RetryPlan { policy.plan(attemptDuration: attemptDuration, limit: limit) }
}
