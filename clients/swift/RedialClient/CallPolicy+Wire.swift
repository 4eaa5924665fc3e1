internal import Redial

extension CallPolicy: Encodable {
  /// The name of a stored policy, or the named parts in the words of the API.
  ///
  /// - Throws: `UnsupportedByService`, naming the part that the service does not support.
  public func encode(to encoder: any Encoder) throws {
    if let storedName {
      var text = encoder.singleValueContainer()
      return try text.encode(storedName)
    }
    // What the parts do not show is refused here.
    var parts = try whole.map(WirePolicy.init) ?? WirePolicy()
    parts.maxAttempts = maxAttempts
    parts.deadline = deadline
    parts.attemptTimeout = attemptTimeout
    parts.lastAttempt = lastAttempt
    parts.minimumAttemptTime = minAttemptTime
    parts.backoff = backoff
    parts.network = network
    parts.statuses = statuses
    parts.statusesWithRetryAfter = statusesWithRetryAfter
    parts.stopOn = stopOn
    parts.retryAfter = retryAfter
    parts.onTrip = onTrip
    try parts.encode(to: encoder)
  }
}
