internal import RedialCore
internal import RedialModel

extension CapturedResponse {
  /// The wait that the target asks for: by `Retry-After`, the longest of several, else, with 429 or 503, by `RateLimit` fields that show an
  /// exhausted quota.
  ///
  /// A time in them is one of the target's clock. So it is compared with that (``targetTime(at:)``): the engine's may be
  /// hours off, if the machine's clock was set only after the start.
  func askedWait(status: Int, at now: Timestamp) -> Duration? {
    let time = targetTime(at: now)
    if let wait = head.retryAfter(at: time) { return wait }
    return status == 429 || status == 503 ? quotaWait(at: now) : nil
  }

  /// The wait until a quota is renewed that `RateLimit` fields show as exhausted; nil if they show none, or no time. A
  /// server may send them with any status (draft-ietf-httpapi-ratelimit-headers-10, section 6).
  func quotaWait(at now: Timestamp) -> Duration? {
    // Most responses have no such fields.
    guard head.mayName(startingWith: UInt8(ascii: "r"), or: UInt8(ascii: "x")) else { return nil }
    func read(at time: Timestamp) -> Duration? {
      var fields = RateLimitFields()
      head.forEach { fields.note($0, $1, at: time) }
      return fields.wait
    }
    // Usually no quota is exhausted, and the target's time is not needed.
    return read(at: now) == nil ? nil : read(at: targetTime(at: now))
  }

  /// No answer is older, in seconds: ten years.
  private static let oldest: Int64 = 315_360_000

  /// The time of the target's clock: that of its `Date` field (RFC 9110, section 6.6.1), and of a cache in between its `Age`
  /// (RFC 9111, section 5.1). Without a valid `Date`, `now`.
  private func targetTime(at now: Timestamp) -> Timestamp {
    guard let date = head.first("date").flatMap({ HTTPDate.parse($0, at: now) }) else { return now }
    let age = head.first("age").flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
    return date + .seconds(max(0, min(age, Self.oldest)))
  }
}
