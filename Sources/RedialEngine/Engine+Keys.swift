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
    if let refusal = standstill { return refuse(submission.reply, refusal) }
    desk.keys.begin(submission.key)
    desk.requestLater(.findKey(submission, at: now))
  }

  /// The store has answered.
  mutating func foundKey(_ submission: KeyedSubmission, _ record: KeyRecord?) {
    let (accepted, isStale) = desk.keys.end(submission.key)
    // The call that was accepted under the key meanwhile is not known any more; a client that asks again will get it.
    if isStale || !desk.leases.canWork { return refuse(submission.reply, .leaseLost) }
    if desk.putOff(.submit(submission.descriptor, submission.reply)) { return }
    if let trouble = desk.trouble { return refuse(submission.reply, desk.refusal ?? trouble.refusal) }
    if let earlier = record ?? accepted {
      let isSame = submission.key.repeats(earlier.key)
      var reply: SubmissionReply = isSame ? .replayed(earlier.call) : .refused(.keyReused(submission.key.name))
      // Another instance has stored this very call.
      if let identity = submission.descriptor.identity, identity.id == earlier.call {
        reply = .accepted(Self.asStored(self.record(of: submission.descriptor)))
      }
      // After the commit of the first, which may not have happened yet, and may fail.
      return afterCommit.append(.reply(.submission(submission.reply, reply)))
    }
    if let refusal = refusal(of: submission.descriptor.spec) { return refuse(submission.reply, refusal) }
    let id = accept(submission.descriptor, reply: submission.reply)
    let new = KeyRecord(
      key: submission.key, call: id, createdAt: now, expiresAt: now + settings.idempotencyTime)
    writes.append(.key(new))
    desk.keys.accepted(new)
  }

  mutating func lookupFailed(_ submission: KeyedSubmission, _ refusal: Refusal) {
    desk.keys.end(submission.key)
    refuse(submission.reply, refusal)
  }

  /// The store has not looked yet, and is asked again, unless it was lost meanwhile.
  mutating func lookUpAgain(_ submission: KeyedSubmission, _ failure: StoreError) {
    desk.keys.end(submission.key)
    if desk.putOff(.submit(submission.descriptor, submission.reply)) { return }
    refuse(submission.reply, desk.refusal ?? Refusal(failure))
  }
}
