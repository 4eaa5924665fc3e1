package import RedialCore

/// A call: its spec, and its progress.
package struct CallRecord: Sendable {
  package let id: CallID
  /// Whether it is a client's call or a webhook.
  package let kind: CallKind
  /// The request and how to retry it.
  package let spec: CallSpec
  /// The request body, or its size if only the store has it.
  package internal(set) var content: RequestBody
  /// When it was accepted.
  package let createdAt: Timestamp
  /// The part that changes during its life.
  package var progress: CallProgress
  /// Its attempts so far, without their response bodies. Kept only for a call with a callback, whose webhook contains
  /// them; empty otherwise.
  package var history: [AttemptRecord]
  /// Its manual retries, latest last; kept as the history is, and read when the call is shown on its own.
  package var retries: [ManualRetry] = []
  /// Whether another instance may have stored this new call already, see ``GivenIdentity``. It is not stored.
  package var mayBeStored = false
  /// The call whose end this new webhook reports: without that end there is no webhook. It is not stored.
  package var reportsEndOf: CallID?

  /// Creates a record with its body in memory.
  package init(
    id: CallID, kind: CallKind, spec: CallSpec, body: [UInt8], createdAt: Timestamp, progress: CallProgress,
    history: [AttemptRecord] = []
  ) {
    self.init(
      id: id, kind: kind, spec: spec, content: .held(body), createdAt: createdAt, progress: progress, history: history)
  }

  /// Creates a record from its parts.
  package init(
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
  package var deadline: Timestamp { progress.roundStartedAt + spec.policy.deadline }
  /// When it became due for the first attempt of this round.
  package var newSince: Timestamp { max(createdAt, progress.roundStartedAt) }
  /// Whether it is due for its first attempt of this round, and not for long.
  package func isNew(at now: Timestamp) -> Bool { !progress.isRetry && now - newSince <= FairShare.newFor }

  /// After this time no attempt begins: the deadline minus the policy's minimum time for an attempt.
  package var lastStart: Timestamp {
    let least = spec.policy.deadlineRule.minimumAttemptTime
    return least > .zero
      ? Timestamp(microseconds: deadline.microseconds &- least.wholeMicroseconds) : deadline
  }
}

/// The part of a call that changes during its life.
package struct CallProgress: Sendable, Hashable {
  package var state: StoredState
  /// While it waits: when it runs next (in a target's queue: its deadline). While it runs: when the attempt began.
  package var due: Timestamp
  /// Why it waits, as of the beginning of the wait.
  package var waiting: WaitReason?
  /// Attempts begun, of all rounds.
  package var attempts: Int
  /// Attempts of this round that this side interrupted; the policy does not count them.
  package var interruptions: Int
  /// Attempts begun before this round. A manual retry of an ended call begins a new round.
  package var attemptsBefore: Int
  /// The waits of this round that the backoff has computed.
  package var waits: WaitHistory
  /// When this round's deadline started to count.
  package var roundStartedAt: Timestamp
  /// When it ended.
  package var finishedAt: Timestamp?
  /// Why it failed.
  package var failure: StopReason?

  /// Creates the progress of a call that waits for `due`.
  package init(
    state: StoredState, due: Timestamp, waiting: WaitReason? = nil, attempts: Int = 0, interruptions: Int = 0,
    attemptsBefore: Int = 0, waits: WaitHistory = .none, roundStartedAt: Timestamp, finishedAt: Timestamp? = nil,
    failure: StopReason? = nil
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
  }

  /// Whether the next attempt would not be the first of this round.
  package var isRetry: Bool { attempts > attemptsBefore }

  /// Attempts of this round that count against the policy's `maxAttempts`.
  package var chargedAttempts: Int { attempts - attemptsBefore - interruptions }
}
