internal import RedialCore
internal import RedialModel

/// Submissions that may be repetitions.
///
/// The store knows whether one is. It serves requests in order, so it knows every call whose insert was requested
/// before. A call that is accepted under a key while a lookup of the same key is on its way is remembered here until
/// the answer has come back. So of any number of simultaneous submissions exactly one is accepted.
extension Engine {
  /// Asks the store for the call that was accepted under the key.
  mutating func lookUp(_ submission: KeyedSubmission) {
    if isDraining || trouble != nil || isShortOfRoom || isStoreMisplaced || !leases.canWork, let problem = refusal() {
      return refuse(submission.reply, problem)
    }
    keys[submission.key.text, default: KeyLookups()].outstanding += 1
    claims.append(.findKey(submission, at: now))
  }

  /// The store has answered.
  mutating func foundKey(_ submission: KeyedSubmission, _ record: KeyRecord?) {
    let isStale = keys[submission.key.text]?.stale ?? 0 > 0
    let accepted = endLookup(submission.key)
    // The call that was accepted under the key meanwhile is not known any more; a client that asks again will get it.
    if isStale || !leases.canWork { return refuse(submission.reply, Self.leaseLost) }
    if putOff(.submit(submission.descriptor, submission.reply)) { return }
    if let trouble { return refuse(submission.reply, trouble.problem) }
    if let earlier = record ?? accepted {
      let isSame = earlier.key.fingerprint == submission.key.fingerprint
      let reply = isSame ? Reply.replayed(earlier.call) : .refused(Self.keyReused(submission.key))
      // After the commit of the first, which may not have happened yet, and may fail.
      return afterCommit.append(.reply(submission.reply, reply))
    }
    if let problem = refusal(of: submission.descriptor.spec) { return refuse(submission.reply, problem) }
    let id = accept(submission.descriptor, reply: submission.reply)
    let new = KeyRecord(
      key: submission.key, call: id, createdAt: now, expiresAt: now + settings.idempotencyTime)
    writes.append(.key(new))
    keys[submission.key.text]?.accepted = new
  }

  /// The lookup failed.
  mutating func lookupFailed(_ submission: KeyedSubmission, _ problem: Problem) {
    endLookup(submission.key)
    refuse(submission.reply, problem)
  }

  /// The store has not looked yet, and is asked again.
  mutating func lookUpAgain(_ submission: KeyedSubmission) {
    endLookup(submission.key)
    _ = putOff(.submit(submission.descriptor, submission.reply))
  }

  /// Counts an answer about a key. Returns the call that was accepted under it meanwhile.
  @discardableResult
  mutating func endLookup(_ key: IdempotencyKey) -> KeyRecord? {
    guard var lookups = keys[key.text] else { return nil }
    lookups.outstanding -= 1
    lookups.stale = max(0, lookups.stale - 1)
    keys[key.text] = lookups.outstanding > 0 ? lookups : nil
    return lookups.accepted
  }

  /// Forgets calls that were accepted but may not have reached the disk.
  mutating func forgetAcceptedKeys() {
    for key in keys.keys { keys[key]?.accepted = nil }
  }

  /// The code of the problem that a key was used for something else.
  static let keyReusedCode = "idempotencyKeyReused"

  static func keyReused(_ key: IdempotencyKey) -> Problem {
    Problem(
      status: 422, code: keyReusedCode, title: "The Idempotency-Key was used for another call",
      detail:
        "Another descriptor was submitted under the key \"\(QualifiedKey.bare(key.text))\". A new call needs a new key."
    )
  }
}
