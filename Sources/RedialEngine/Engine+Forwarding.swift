internal import RedialCore
internal import RedialModel

/// How a call gets to the engine that has its target.
///
/// A call that is written into the store for its owner has two more versions there than one that its owner accepts: it
/// is claimed, and then started. So it is forwarded: the engine gives it its identity, and the owner accepts it as its
/// own. Whoever forwards waits for the answer. If none comes, or the owner has not done it, the call is submitted here
/// again, with its identity, and written into the store for its owner.
///
/// The owner may have stored it by then, or may do so a moment later; the identity tells the store that it is the same
/// call. The owner's copy stays when it was first. If the other one was first, the owner's commit is refused, and made
/// again with a change of the stored call in place of the insert.
extension Engine {
  /// Whether a submission is forwarded. A call with an ordering key waits for its turn in the store in any case, and one with a
  /// record of its request is in the commit of that.
  func isForwarded(_ descriptor: CallDescriptor) -> Bool {
    guard let forwarding = settings.forwarding, !owns(descriptor.spec.target) else { return false }
    return descriptor.spec.orderingKey == nil && descriptor.audit == nil
      && descriptor.body.count <= forwarding.largestBody
  }

  /// Gives a call its identity, and has its owner accept it.
  mutating func forward(_ descriptor: CallDescriptor, reply: ReplyToken<SubmissionReply>) {
    if let refusal = refusal(in: descriptor.spec.namespace) { return refuse(reply, refusal) }
    var descriptor = descriptor
    descriptor.identity = GivenIdentity(id: nextID(), createdAt: now)
    effects.actions.append(.forward(descriptor, reply))
  }

  /// Answers a submission of a call that has its identity, if nothing is to be stored: false if it is.
  mutating func answered(
    _ descriptor: CallDescriptor, _ identity: GivenIdentity, _ reply: ReplyToken<SubmissionReply>
  ) -> Bool {
    if identity.isOfPeer {
      // It is never forwarded again: whoever has sent it stores it.
      guard owns(descriptor.spec.target) else {
        refuse(reply, .ownedElsewhere(descriptor.spec.target))
        return true
      }
      let patience = settings.forwarding?.patience ?? .zero
      guard now - identity.createdAt <= patience, desk.forwarded.take(identity, for: patience, at: now) else {
        refuse(reply, .forwardedTooLate)
        return true
      }
    }
    guard var known = calls[identity.id]?.record else { return false }
    known.mayBeStored = true
    // After the commit of the first, which may not have happened yet, and may fail.
    afterCommit.append(.reply(.submission(reply, .accepted(known))))
    return true
  }

  /// A call as it is in the store if another instance has put it there for its owner.
  static func asStored(_ new: CallRecord) -> CallRecord {
    var record = new
    record.progress = CallProgress(
      state: .scheduled, due: new.progress.roundStartedAt, waiting: .startTime,
      roundStartedAt: new.progress.roundStartedAt)
    return record
  }
}
