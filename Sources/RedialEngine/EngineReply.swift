package import RedialModel

/// Identifies whoever waits for a reply of the engine, and fixes the type of that reply. The service knows who it is.
package struct ReplyToken<Answer: Sendable>: Sendable, Hashable {
  /// The service's number for it.
  package var rawValue: UInt64

  /// Creates a token.
  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}

/// An answer of the engine, with the token of the request that it answers. Each kind of request has its own type of answer,
/// so none can be answered with that of another.
package enum Reply: Sendable {
  case submission(ReplyToken<SubmissionReply>, SubmissionReply)
  /// To a command about a call.
  case command(ReplyToken<CallCommand.Reply>, CallCommand.Reply)
  /// To a command about a target.
  indirect case targetCommand(ReplyToken<TargetCommand.Reply>, TargetCommand.Reply)

  /// Why the request is refused; nil if it is not.
  package var refusal: Refusal? {
    switch self {
    case .submission(_, .refused(let refusal)): refusal
    case .command(_, let reply): reply.refusal
    case .targetCommand(_, let reply): reply.refusal
    case .submission: nil
    }
  }

  /// The refusal of the same request.
  func refused(_ refusal: Refusal) -> Reply {
    switch self {
    case .submission(let token, _): .submission(token, .refused(refusal))
    case .command(let token, _): .command(token, .refused(refusal))
    case .targetCommand(let token, _): .targetCommand(token, .refused(refusal))
    }
  }
}

/// An answer to a submission.
package enum SubmissionReply: Sendable {
  /// The call is on disk.
  case accepted(CallRecord)
  /// The call was accepted before, under the same key, and is on disk.
  case replayed(CallID)
  /// The call is refused.
  case refused(Refusal)
}

/// An answer to a command.
package enum CommandReply<Subject: Sendable>: Sendable {
  /// The command is done and on disk. This is the subject now.
  case done(Subject)
  /// The subject is already as the command wants it, and so on disk.
  case unchanged(Subject)
  /// Another instance runs the calls of this target, or none for the moment; nothing was done. The command is for the
  /// one that does.
  case elsewhere(TargetKey)
  /// The command is refused.
  case refused(Refusal)

  /// Why nothing was done; nil if it was.
  package var refusal: Refusal? {
    switch self {
    case .done, .unchanged: nil
    case .elsewhere(let target): .ownedElsewhere(target)
    case .refused(let refusal): refusal
    }
  }
}

package struct TargetPage: Sendable, Hashable {
  /// The targets, by key.
  package var targets: [TargetSnapshot]
  /// The last target, if more follow.
  package var next: TargetKey?
}

/// What has happened to the calls of a namespace.
package struct NamespaceTally: Sendable, Hashable {
  package var namespace: Namespace
  /// The counts.
  package var tally: CallTally
  /// How many due calls wait for their targets now, without webhooks.
  package var backlog: Int
}

/// The current state.
package struct EngineReport: Sendable, Hashable {
  /// All targets that are remembered, without their backlogs.
  package var targets: [TargetSnapshot]
  /// Attempts in flight.
  package var inFlight: Int
  /// Unfinished calls.
  package var unfinished: Int
  /// Calls in memory.
  package var held: Int
  /// How long clients' calls took until they ended, since the engine began.
  package var durations = CallDurations()
  /// Whether new calls are refused, because the last write failed or the instance has no lease on the store.
  package var storeFailing: Bool
}
