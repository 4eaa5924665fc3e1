public import RedialCore
public import RedialModel

/// Names a client that waits for a reply; the shell knows which.
public struct ReplyToken: Sendable, Hashable {
  /// The shell's number for it.
  public var rawValue: UInt64

  /// Creates a token.
  public init(rawValue: UInt64) {
    self.rawValue = rawValue
  }
}

/// What happens to the engine.
public enum EngineEvent: Sendable {
  /// The store has been opened; always the first event.
  case recovered(RecoveredState)
  /// A client hands in a call.
  case submit(CallDescriptor, ReplyToken)
  /// A client wants something done to a call.
  case operate(Operation)
  /// An operator wants something done to a target.
  indirect case control(TargetControl)
  /// A client wants to know how things stand.
  case report(ReplyToken)
  /// Somebody wants what was counted since this was last asked.
  case tally(ReplyToken)
  /// A client wants to see a target, or all of them.
  case describe(String?, ReplyToken)
  /// A client wants to see a page of the targets of a namespace.
  indirect case describePage(TargetQuery, ReplyToken)
  /// An attempt has ended.
  case attemptEnded(AttemptResult)
  /// Due calls, taken from the store.
  case claimedDue(Claim)
  /// Calls of a target's queue, taken from the store; `complete` when there are no more.
  case claimedQueued(target: String, calls: [CallRecord], complete: Bool)
  /// The call that an operation asked for; nil when there is none.
  case fetched(Operation, CallRecord?)
  /// The call that an operation asked for cannot be understood, as the message says, and the store is well.
  case fetchedDamaged(Operation, hasEnded: Bool, message: String)
  /// The call, if any, that was accepted under the key of a submission before.
  case foundKey(KeyedSubmission, KeyRecord?)
  /// So many calls of a namespace that a claim came upon could not be understood, and were ended by the store.
  case setAside(Int, in: Namespace)
  /// There are valid keys of these namespaces, and of no others.
  case namespaces([Namespace])
  /// A lease was granted or renewed.
  case leased(LeaseGrant, LeaseAsk)
  /// Others have put something into the store for this engine's shards, or left: a hint to look at once.
  case changed
  /// The store could not do this.
  case storeFailed(StoreRequest, StoreFailure)
  /// The store has come to a ``StoreRequest/Body/barrier`` of this epoch, and has written something for it.
  case storeWritten(epoch: UInt64)
  /// The disk is full but for what is kept for accepted calls, or has room again.
  case room(isShort: Bool)
  /// Who is told of events from now on, by webhooks.
  case subscriptions([WebhookSubscription])
  /// Something to tell subscribers.
  case announce(Announcement)
  /// Time to stop: start nothing more, and say when nothing is under way.
  case drain
}

/// Something that a client wants done to a call.
public struct Operation: Sendable, Hashable {
  /// What.
  public enum Kind: Sendable, Hashable {
    /// End it now.
    case cancel
    /// Run it now, or again.
    case retry
    /// Erase its payloads, once it has ended.
    case erase
    /// Remove it, once it has ended.
    case purge
  }

  /// What is wanted.
  public var kind: Kind
  /// Of which call.
  public var id: CallID
  /// In which namespace; to it, a call of another is none.
  public var namespace: Namespace
  /// Who wants it.
  public var reply: ReplyToken
  /// On whose behalf, and why.
  public var attribution: Attribution
  /// Whether an erasure takes the call's labels, too.
  public var erasesLabels: Bool

  /// Creates an operation.
  public init(
    _ kind: Kind, _ id: CallID, in namespace: Namespace = .default, reply: ReplyToken,
    attribution: Attribution = Attribution(), erasesLabels: Bool = false
  ) {
    self.erasesLabels = erasesLabels
    self.namespace = namespace
    self.kind = kind
    self.id = id
    self.reply = reply
    self.attribution = attribution
  }
}

/// Something that an operator wants done to a target.
public struct TargetControl: Sendable, Hashable {
  /// What.
  public enum Kind: Sendable, Hashable {
    /// Replace what is set for it, at once and for the calls that wait, too.
    case configure(TargetOverrides)
    /// Start nothing until it is resumed.
    case pause
    /// End the pause.
    case resume
    /// Hold its breaker open until it is reset.
    case trip
    /// Close its breaker, and forget what it knew.
    case reset
    /// Close its breaker, forget when it wanted to be asked again, and let go what waits for either.
    case release
  }

  /// What is wanted.
  public var kind: Kind
  /// Of which target, by its qualified key.
  public var target: String
  /// Who wants it.
  public var reply: ReplyToken

  /// Creates a control.
  public init(_ kind: Kind, _ target: String, reply: ReplyToken) {
    self.kind = kind
    self.target = target
    self.reply = reply
  }
}

/// A submission that may be the repetition of another.
public struct KeyedSubmission: Sendable {
  /// What is handed in.
  public var descriptor: CallDescriptor
  /// Its key.
  public var key: IdempotencyKey
  /// Who hands it in.
  public var reply: ReplyToken
}

/// What came of an attempt, as the transport saw it.
public struct AttemptResult: Sendable {
  /// The call.
  public var id: CallID
  /// The attempt's number.
  public var number: Int
  /// How far it got.
  public var outcome: OutcomeClass
  /// The status, when answered.
  public var status: Int?
  /// What went wrong, unless answered.
  public var failure: AttemptFailure?
  /// What was kept of the response, when answered.
  public var response: CapturedResponse?
  /// How long it took.
  public var duration: Duration
  /// What the exchange took and how it was made; nil when nobody knows.
  public var figures: ExchangeFigures?

  /// Creates a result.
  public init(
    id: CallID, number: Int, outcome: OutcomeClass, status: Int? = nil, failure: AttemptFailure? = nil,
    response: CapturedResponse? = nil, duration: Duration, figures: ExchangeFigures? = nil
  ) {
    self.id = id
    self.number = number
    self.outcome = outcome
    self.status = status
    self.failure = failure
    self.response = response
    self.duration = duration
    self.figures = figures
  }
}

extension AttemptResult {
  /// The end of an attempt that was not begun, since its ``AttemptStart/startBefore`` had passed: it is taken back, and
  /// costs the call none of its attempts.
  public init(tooLate start: AttemptStart) {
    self.init(
      id: start.call.id, number: start.number, outcome: .localFault,
      failure: AttemptFailure(
        code: Self.tooLate, message: "The attempt was not started: another instance may have the call."),
      duration: .zero)
  }

  /// Whether the attempt was not begun, since its time was over.
  var isTooLate: Bool { outcome == .localFault && failure?.code == Self.tooLate }

  private static let tooLate = "leaseOver"
}

/// Why the store could not do what it was asked.
public struct StoreFailure: Sendable, Hashable {
  /// Whether it is for want of disk space.
  public var isFull: Bool
  /// Whether it is since others have taken the store, or this instance's part of it, over.
  public var isLeaseLost: Bool
  /// The keys of this commit under which another instance has just accepted calls; when there are any, the store is well.
  public var taken: [TakenKey]
  /// What went wrong, for people.
  public var message: String

  /// Creates a failure.
  public init(isFull: Bool, isLeaseLost: Bool = false, taken: [TakenKey] = [], message: String) {
    self.isFull = isFull
    self.isLeaseLost = isLeaseLost
    self.taken = taken
    self.message = message
  }
}
