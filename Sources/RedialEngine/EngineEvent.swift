package import RedialCore
package import RedialModel

/// An input of the engine.
package enum EngineEvent: Sendable {
  /// The store has been opened; always the first event.
  case recovered(RecoveredState)
  /// A client submits a call.
  case submit(CallDescriptor, ReplyToken<SubmissionReply>)
  /// A client gives a command about a call.
  case command(CallCommand)
  /// An operator gives a command about a target.
  indirect case targetCommand(TargetCommand)
  /// Somebody asks something of the engine.
  case question(Question)
  case attemptEnded(CallID, number: Int, AttemptResult)
  /// An attempt was not started, because its ``AttemptStart/startBefore`` had passed. It is undone and does not count
  /// as an attempt of the call.
  case attemptTooLate(CallID, number: Int)
  /// Due calls, loaded from the store.
  case claimedDue(Claim)
  /// Calls of a target's queue, loaded from the store; `complete` if there are no more.
  case claimedQueued(target: TargetKey, calls: [CallRecord], complete: Bool)
  /// The call that a command is about; nil if there is none.
  case fetched(CallCommand, CallRecord?)
  /// The call that a command is about cannot be read. The store itself works.
  case fetchedDamaged(CallCommand, hasEnded: Bool, Problem)
  /// The call, if any, that was accepted earlier under the key of a submission.
  case foundKey(KeyedSubmission, KeyRecord?)
  /// A claim found this many calls of a namespace that cannot be read. The store has ended them.
  case setAside(Int, in: Namespace)
  /// Exactly these namespaces have valid API keys.
  case namespaces([Namespace])
  /// A lease was granted or renewed.
  case leased(LeaseGrant, LeaseAsk)
  /// An instance has come or left, or some shards have no owner. A hint to request the lease at once.
  case changed
  /// Another instance has stored calls for this engine's shards. A hint to look for due calls at once.
  case callsStored
  /// The lease of the session was renewed beside the store's other work; it is valid from when that was requested.
  case leaseRenewed(session: Int64, asked: Timestamp)
  /// The store could not execute this request.
  case storeFailed(StoreRequest, StoreError)
  /// The store has reached a ``StoreRequest/Body/barrier`` of this epoch and has written something for it.
  case storeWritten(epoch: UInt64)
  /// The store was lost, and it is not known whether the requests that it had were executed: why. Nil once that is
  /// known. Their results are reported only then.
  case storeInDoubt(String?)
  /// The disk has only the reserve for accepted calls left, or has room again.
  case room(isShort: Bool)
  /// The store's files were removed or replaced while it is open, or are back in their place.
  case storeMisplaced(Bool)
  /// Whether there are calls that only other engines can read. They get all shards, as long as it is so.
  case keyMissing(Bool)
  /// What the documents say that targets hide of their calls by their own settings.
  case privacies([TargetKey: TargetOverrides])
  /// The webhook endpoints that receive events from now on.
  case subscriptions([WebhookSubscription])
  /// An event to send to subscribers.
  case announce(Announcement)
  case change(DocumentChange)
  /// The service stops: start nothing more, and report when no attempt is in flight.
  case drain
}

/// A command of a client about a call.
package struct CallCommand: Sendable, Hashable {
  /// The reply: the call as it is then, or nil if it was removed, once the command is done and on disk; or why it is refused.
  package typealias Reply = CommandReply<CallRecord?>

  /// The action.
  package enum Kind: Sendable, Hashable {
    /// End it now.
    case cancel
    /// Run it now, or again.
    case retry
    /// Erase its payloads, once it has ended.
    case erase
    /// Remove it, once it has ended.
    case purge
    /// Take it into memory if the store shows it there and it is not. Of the service alone, see ``Engine/missing(among:)``.
    case reclaim
  }

  /// What must hold for the call when the command is executed, beside what its kind needs.
  package enum Condition: Sendable, Hashable {
    /// It has ended, at this time or before.
    case ended(by: Timestamp)
    /// It has ended, and not been run again since: at this time, after so many attempts.
    case unchanged(endedAt: Timestamp, attempts: Int)
    /// It has not ended.
    case unfinished
  }

  /// The action.
  package var kind: Kind
  package var id: CallID
  /// The namespace of the client. Calls of other namespaces do not exist for it.
  package var namespace: Namespace
  /// The client that waits for the answer.
  package var reply: ReplyToken<Reply>
  /// Who wants it, and why.
  package var attribution: Attribution
  /// Whether an erasure also removes the call's labels.
  package var erasesLabels: Bool
  /// What must hold for the call; nil for nothing.
  package var condition: Condition?
  /// The record of the request, for the commit of what it changes; nil for none.
  package var audit: StoredDocument?

  /// Creates a command.
  package init(
    _ kind: Kind, _ id: CallID, in namespace: Namespace = .default, reply: ReplyToken<Reply>,
    attribution: Attribution = Attribution(), erasesLabels: Bool = false, condition: Condition? = nil
  ) {
    self.condition = condition
    self.erasesLabels = erasesLabels
    self.namespace = namespace
    self.kind = kind
    self.id = id
    self.reply = reply
    self.attribution = attribution
  }
}

/// A command of an operator about a target.
package struct TargetCommand: Sendable, Hashable {
  /// The reply: the target as it is then, once the command is done and on disk, or why it is refused.
  package typealias Reply = CommandReply<TargetSnapshot>

  /// The action.
  package enum Kind: Sendable, Hashable {
    /// Replace its settings, at once and for waiting calls too.
    case configure(TargetOverrides)
    /// Change some of its settings, and leave the others.
    case patch(TargetPatch)
    /// Start no call until it is resumed.
    case pause
    /// End the pause.
    case resume
    /// Hold its breaker open until it is reset.
    case trip
    /// Close its breaker, and forget what breaker and pace have learned.
    case reset
    /// Close its breaker, forget its Retry-After, and run the calls that waited for them or for the pace.
    case release
  }

  /// The action.
  package var kind: Kind
  package var target: TargetKey
  /// The client that waits for the answer.
  package var reply: ReplyToken<Reply>
  /// The record of the request, for the commit of what it changes; nil for none.
  package var audit: StoredDocument?

  /// Creates a command.
  package init(_ kind: Kind, _ target: TargetKey, reply: ReplyToken<Reply>, audit: StoredDocument? = nil) {
    self.kind = kind
    self.target = target
    self.reply = reply
    self.audit = audit
  }
}

/// A submission that may repeat an earlier one.
package struct KeyedSubmission: Sendable {
  /// The submitted descriptor.
  package var descriptor: CallDescriptor
  package var key: IdempotencyKey
  /// The client that submits it.
  package var reply: ReplyToken<SubmissionReply>
}
