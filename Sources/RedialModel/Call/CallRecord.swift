public import RedialCore

/// A call: its spec, and its progress.
public struct CallRecord: Sendable {
  public let id: CallID
  /// Whether it is a client's call or a webhook.
  public let kind: CallKind
  /// The request and how to retry it.
  public let spec: CallSpec
  /// The request body, or its size if only the store has it.
  public internal(set) var content: RequestBody
  /// When it was accepted.
  public let createdAt: Timestamp
  /// The part that changes during its life.
  public var progress: CallProgress
  /// Its attempts so far, without their response bodies. Kept only for a call with a callback, whose webhook contains
  /// them; empty otherwise.
  public var history: [AttemptRecord]
  /// Its manual retries, latest last; kept as the history is, and read when the call is shown on its own.
  public var retries: [ManualRetry] = []
  /// Whether another instance may have stored this new call already, see ``GivenIdentity``. It is not stored.
  public var mayBeStored = false
  /// The call whose end this new webhook reports: without that end there is no webhook. It is not stored.
  public var reportsEndOf: CallID?

  /// Creates a record with its body in memory.
  public init(
    id: CallID, kind: CallKind, spec: CallSpec, body: [UInt8], createdAt: Timestamp, progress: CallProgress,
    history: [AttemptRecord] = []
  ) {
    self.init(
      id: id, kind: kind, spec: spec, content: .held(body), createdAt: createdAt, progress: progress, history: history)
  }

  /// Creates a record from its parts.
  public init(
    id: CallID, kind: CallKind, spec: CallSpec, content: RequestBody, createdAt: Timestamp, progress: CallProgress,
    history: [AttemptRecord] = []
  ) {
    self.id = id
    self.kind = kind
    self.spec = spec
    self.content = content
    self.createdAt = createdAt
    self.progress = progress
    self.history = history
  }

  /// When the call's deadline passes.
  public var deadline: Timestamp { progress.roundStartedAt + spec.policy.deadline }
  /// When it became due for the first attempt of this round.
  public var newSince: Timestamp { max(createdAt, progress.roundStartedAt) }
  /// Whether it is due for its first attempt of this round, and not for long.
  public func isNew(at now: Timestamp) -> Bool { !progress.isRetry && now - newSince <= FairShare.newFor }

  /// After this time no attempt begins: the deadline minus the policy's minimum time for an attempt.
  public var lastStart: Timestamp {
    let least = spec.policy.deadlineRule.minimumAttemptTime
    return least > .zero
      ? Timestamp(microseconds: deadline.microseconds &- least.wholeMicroseconds) : deadline
  }
}

/// The part of a call that changes during its life.
public struct CallProgress: Sendable, Hashable {
  public var state: StoredState
  /// While it waits: when it runs next (in a target's queue: its deadline). While it runs: when the attempt began.
  public var due: Timestamp
  /// Why it waits, as of the beginning of the wait.
  public var waiting: WaitReason?
  /// Attempts begun, of all rounds.
  public var attempts: Int
  /// What the policy does not count of this round, as one number of 31 bits, because the stores have it so: ``cutOffAttempts`` in
  /// bits 0 to 9; of ``unprovenAttempts`` the lower bits from 20 on, the upper ones in 10 to 13; ``Strikes`` in 14 to 17 and 19;
  /// and in 18 ``mayBeProcessing``, of all rounds.
  public var interruptions: Int
  /// Attempts begun before this round. A manual retry of an ended call begins a new round.
  public var attemptsBefore: Int
  /// The waits of this round that the backoff has computed.
  public var waits: WaitHistory
  /// When this round's deadline started to count.
  public var roundStartedAt: Timestamp
  /// When it ended.
  public var finishedAt: Timestamp?
  /// Why it failed.
  public var failure: StopReason?
  /// Which group of failed calls it belongs to; nil for a call that has not failed, or did before there were groups.
  public var issue: IssueID?

  /// Creates the progress of a call that waits for `due`.
  public init(
    state: StoredState, due: Timestamp, waiting: WaitReason? = nil, attempts: Int = 0, interruptions: Int = 0,
    attemptsBefore: Int = 0, waits: WaitHistory = .none, roundStartedAt: Timestamp, finishedAt: Timestamp? = nil,
    failure: StopReason? = nil, issue: IssueID? = nil
  ) {
    self.state = state
    self.due = due
    self.waiting = waiting
    self.attempts = attempts
    self.interruptions = interruptions
    self.attemptsBefore = attemptsBefore
    self.waits = waits
    self.roundStartedAt = roundStartedAt
    self.finishedAt = finishedAt
    self.failure = failure
    self.issue = issue
  }

  /// Whether a service could not read the call, and ended it: no other failed call lacks its reason.
  public var isSetAside: Bool { state == .failed && failure == nil }

  /// Why it failed and its group, as stores have it.
  public var failureCode: FailureCode? { FailureCode(failure, issue) }

  /// Since when a due call is due. In its target's queue in the store nobody keeps that; it is not before all computed waits.
  public func dueSince(at now: Timestamp) -> Timestamp { due <= now ? due : roundStartedAt + waits.total }

  /// Whether the next attempt would not be the first of this round.
  public var isRetry: Bool { attempts > attemptsBefore }

  /// Attempts of this round that count against the policy's `maxAttempts`.
  public var chargedAttempts: Int { attempts - attemptsBefore - cutOffAttempts - unprovenAttempts }

  /// The highest numbers of attempts that are not counted. Those without a credential are a minute apart: three weeks of them.
  public static let mostCutOff = 1 << 10 - 1
  public static let mostUnproven = 1 << 15 - 1
  /// Attempts of this round that this side interrupted.
  public var cutOffAttempts: Int {
    get { interruptions & Self.mostCutOff }
    set { interruptions = interruptions & ~Self.mostCutOff | min(max(0, newValue), Self.mostCutOff) }
  }
  /// Attempts of this round that had no credential to go with.
  public var unprovenAttempts: Int {
    get { interruptions >> 20 | (interruptions >> 10 & 0xF) << 11 }
    set {
      let count = min(max(0, newValue), Self.mostUnproven)
      interruptions = interruptions & Self.others | (count & 0x7FF) << 20 | (count >> 11) << 10
    }
  }

  /// Whether an attempt, of any round, ended while the target may still have been executing it.
  public var mayBeProcessing: Bool {
    get { interruptions & Self.processing != 0 }
    set { interruptions = newValue ? interruptions | Self.processing : interruptions & ~Self.processing }
  }

  private static let processing = 1 << 18
  /// All that does not count attempts without a credential.
  private static let others = processing | mostCutOff | Strikes.all
}
