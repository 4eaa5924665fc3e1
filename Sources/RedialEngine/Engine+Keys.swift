internal import RedialCore
internal import RedialModel

/// Submissions that may be repetitions.
///
/// Whether one is, the store knows; and since the store serves requests in order, it knows of every call whose insert was
/// asked for before. What is accepted under a key while a lookup of the same key is on its way is remembered here
/// until that has come back, so that of any number of simultaneous submissions one is accepted.
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
    // What was accepted under the key since it was asked for is not known any more; whoever asks again will hear of it.
    if isStale || !leases.canWork { return refuse(submission.reply, Self.leaseLost) }
    if putOff(.submit(submission.descriptor, submission.reply)) { return }
    if let trouble { return refuse(submission.reply, trouble.problem) }
    if let earlier = record ?? accepted {
      let isSame = earlier.key.fingerprint == submission.key.fingerprint
      let reply = isSame ? Reply.replayed(earlier.call) : .refused(Self.keyReused(submission.key))
      // Behind the commit of the first, which may still be under way, and may fail.
      return afterCommit.append(.reply(submission.reply, reply))
    }
    if let problem = refusal(of: submission.descriptor.spec) { return refuse(submission.reply, problem) }
    let id = accept(submission.descriptor, reply: submission.reply)
    let new = KeyRecord(
      key: submission.key, call: id, createdAt: now, expiresAt: now + settings.idempotencyTime)
    writes.append(.key(new))
    keys[submission.key.text]?.accepted = new
  }

  /// The store could not look.
  mutating func lookupFailed(_ submission: KeyedSubmission, _ problem: Problem) {
    endLookup(submission.key)
    refuse(submission.reply, problem)
  }

  /// The store has not looked, and will.
  mutating func lookUpAgain(_ submission: KeyedSubmission) {
    endLookup(submission.key)
    _ = putOff(.submit(submission.descriptor, submission.reply))
  }

  /// Counts an answer about a key; answers what was accepted under it meanwhile.
  @discardableResult
  mutating func endLookup(_ key: IdempotencyKey) -> KeyRecord? {
    guard var lookups = keys[key.text] else { return nil }
    lookups.outstanding -= 1
    lookups.stale = max(0, lookups.stale - 1)
    keys[key.text] = lookups.outstanding > 0 ? lookups : nil
    return lookups.accepted
  }

  /// What was accepted and may not have reached the disk is no longer known to have been.
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
