internal import RedialCore
internal import RedialModel

extension CapturedResponse {
  /// The wait that the target asks for: by `Retry-After`, else, with 429 or 503, by `RateLimit` fields that show an
  /// exhausted quota.
  func askedWait(status: Int, at now: Timestamp) -> Duration? {
    if let field = head.first("retry-after"), let wait = RetryAfter.parse(field, at: now) { return wait }
    guard status == 429 || status == 503 else { return nil }
    var fields = RateLimitFields()
    head.forEach { fields.note($0, $1, at: now) }
    return fields.wait
  }
}
