package import RedialCore
package import RedialModel

/// The effects of a step: first the requests to the store, in order, then the rest.
package struct Effects: Sendable {
  /// Requests to the store, to be served in this order.
  package var store: [StoreRequest] = []
  /// Actions that do not wait for the store.
  package var actions: [Action] = []
  /// When the engine needs its next step if nothing happens before; nil for never.
  package var wakeAt: Timestamp?

  /// No effects.
  package init() {}
}

/// One request to the store.
///
/// Requests carry the engine's epoch. When one fails, every later one of the same epoch must fail too, without being
/// executed, and in order: the engine learns of the failure only afterwards, and its later requests depend on the
/// failed one.
package struct StoreRequest: Sendable {
  /// The request itself.
  package enum Body: Sendable {
    /// Make these changes, all or none, and then perform the actions.
    case commit([StoreWrite], then: [Action])
    /// Load calls that are due before this time.
    case claimDue(before: Timestamp, limit: Int)
    /// Load calls from a target's queue.
    case claimQueued(target: TargetKey, limit: Int)
    /// Load the call that a command is about.
    case fetch(CallCommand)
    /// Find the call that was accepted under a key.
    case findKey(KeyedSubmission, at: Timestamp)
    /// Renew the lease, or join the instances that share the store.
    case lease(LeaseAsk)
    /// Write anything at all, after everything older. It shows whether the store can be written. If an older request
    /// failed, it fails after all of them.
    case barrier
  }

  /// The request itself.
  package var body: Body
  /// The engine's epoch at the time of the request.
  package var epoch: UInt64

  /// Creates a request.
  package init(_ body: Body, epoch: UInt64) {
    self.body = body
    self.epoch = epoch
  }
}

/// A request for a lease.
package struct LeaseAsk: Sendable {
  /// The requested change.
  package var request: LeaseRequest
  /// The session to renew; nil for a new one, which ends an earlier session of the same instance.
  package var session: Int64?
  /// When it was requested, by the engine's clock.
  var at: Timestamp
  /// The number of the engine's lease that it is for.
  var round: UInt64
}

/// Something to do outside the engine.
package enum Action: Sendable {
  /// Answer a client.
  case reply(Reply)
  /// Tell the answer to a question.
  case answer(@Sendable () -> Void)
  case start(AttemptStart)
  /// Abort a call's attempt. Its end is still reported.
  case abort(CallID)
  /// Report to operators.
  case notice(Notice)
  /// Show an event to those who listen. Its webhooks are made.
  case event(TargetEvent)
  /// Take over the state that was found in shards that now belong to this instance.
  case tookOver(ShardSet, RecoveredState)
  /// The lease is not wanted any more: end its session, so that the others share all shards.
  case resign
  /// Have the owner of a call's target accept the call, which has its identity. If it does not answer, or has not done
  /// it, submit the call again as it is here, see ``Engine/forward(_:reply:)``.
  indirect case forward(CallDescriptor, ReplyToken<SubmissionReply>)
  /// Tell the owners of these shards that calls for them are on disk. Only a hint: without it they find them later.
  case tellOwners(ShardSet)
  /// All attempts in flight have ended, and their ends are on disk.
  case drained
}

/// What has happened to a target, for the event stream and for webhooks.
package struct TargetEvent: Sendable {
  /// The event's type.
  package let type: EventType
  /// Whose breaker has changed, or for which an operator has acted.
  package let target: TargetKey
  /// `{type, timestamp, data}`.
  package let payload: [UInt8]
}

package struct AttemptStart: Sendable {
  package var call: CallRecord
  /// The attempt's number.
  package var number: Int
  /// The maximum duration.
  package var timeout: Duration
  /// The TLS settings; nil if no target has any.
  package var tls: CallTLS?
  /// The stored credential of the call; if it names none, that of its target.
  package var credential: String?
  /// How it is signed, as the call or its target says.
  package var signing: RequestSigning?
  /// The attempt must not start at or after this time, by the engine's clock, because its call's deadline has passed,
  /// or another instance may have the call then. It can be too late if the store took long to count it. Report it as
  /// ``EngineEvent/attemptTooLate(_:number:)``.
  package var startBefore: Timestamp
}

/// Something that a person should know.
package enum Notice: Sendable, Hashable {
  /// The state of an earlier process was taken over.
  case recovered(unfinished: Int, interrupted: Int)
  /// A target's breaker has opened.
  ///
  /// `failures` is how many calls have failed without a success between them, and `usualShare` the share of failures that
  /// is usual for the target, 0...1.
  case breakerOpened(target: TargetKey, until: Timestamp, trips: Int, failures: Int, usualShare: Double)
  /// A target's breaker lets probes through.
  case breakerHalfOpen(target: TargetKey)
  /// A target's breaker lets calls through again.
  case breakerClosed(target: TargetKey)
  /// A target's outage begins.
  case targetDown(target: TargetKey, TargetOutage)
  /// A target's outage is over.
  case targetRecovered(target: TargetKey, TargetOutage)
  /// A target's pace has begun to limit how many attempts start, to so many per second. It delivered so many before.
  case paceLimited(target: TargetKey, rate: Double, delivered: Double)
  /// A target's pace limits nothing any more.
  case paceLifted(target: TargetKey)
  /// An operator acted on a target.
  case targetControlled(target: TargetKey, action: String)
  /// The stored TLS settings of a target name files that may not be named today: these members do not apply.
  case tlsFilesLeftOut(target: TargetKey, members: [String])
  /// The stored TLS settings of a target apply to no origin: they were set for a name before such settings needed origins.
  case tlsWithoutOrigins(target: TargetKey)
  /// The reasons for which calls to a target wait have changed. Changes of its breaker have their own notices.
  case targetStands(target: TargetKey, TargetStanding)
  /// A call ended without success.
  ///
  /// `traceparent` is the trace of the client's request, if the client sent one.
  case callFailed(
    CallID, kind: CallKind, target: TargetKey, reason: StopReason, attempts: Int, traceparent: String?)
  /// The store failed; new calls are refused until it works again.
  case storeFailed(message: String)
  /// The failed writes are tried again.
  case storeRetried(writes: Int)
  /// This instance has gained shards.
  case shardsGained(ShardSet)
  /// Shards were given back, and none of their calls is in memory.
  case shardsReleased(ShardSet)
  /// Other instances may own everything that was this instance's, for this reason. It has dropped everything.
  case leaseLost(reason: String)
}
