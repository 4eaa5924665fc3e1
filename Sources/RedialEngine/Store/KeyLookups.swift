internal import RedialModel

/// Requests to the store for idempotency keys, without an answer yet.
///
/// The store serves requests in order, so it knows every call whose insert was requested before. A call that is
/// accepted under a key while a lookup of the same key is on its way is remembered here until the answer has come
/// back. So of any number of simultaneous submissions exactly one is accepted.
struct KeyLookups: Sendable {
  /// Answers about one key that the store still has to send.
  private struct Open: Sendable {
    var outstanding = 0
    /// The call that was accepted under the key since the first request: the answers may be older than its commit.
    var accepted: KeyRecord?
    /// How many of the open answers were requested under a lease that has been lost since.
    var stale = 0
  }

  private var open: [IdempotencyName: Open] = [:]

  /// A key is looked up.
  mutating func begin(_ key: IdempotencyKey) {
    open[key.name, default: Open()].outstanding += 1
  }

  /// A lookup has been answered, or has failed. Returns the call that was accepted under the key meanwhile, and
  /// whether the lookup was requested under a lease that has been lost.
  @discardableResult
  mutating func end(_ key: IdempotencyKey) -> (accepted: KeyRecord?, isStale: Bool) {
    guard var lookup = open[key.name] else { return (nil, false) }
    let isStale = lookup.stale > 0
    lookup.outstanding -= 1
    lookup.stale = max(0, lookup.stale - 1)
    open[key.name] = lookup.outstanding > 0 ? lookup : nil
    return (lookup.accepted, isStale)
  }

  /// A call was accepted under a key.
  mutating func accepted(_ record: KeyRecord) {
    open[record.key.name]?.accepted = record
  }

  /// Forgets calls that were accepted but may not have reached the disk.
  mutating func forgetAccepted() {
    for key in open.keys { open[key]?.accepted = nil }
  }

  /// The lease is lost: what the open requests are about belongs to others now.
  mutating func outdateAll() {
    for (key, lookup) in open {
      open[key]?.stale = lookup.outstanding
      open[key]?.accepted = nil
    }
  }
}
