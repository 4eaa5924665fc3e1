internal import RedialCore
internal import RedialModel

/// A target in the engine's memory: its breaker, its limits, its due calls, and what these occupy.
struct TargetState: Sendable {
  let key: TargetKey
  /// The place of its namespace.
  let namespace: Int
  /// The pattern of the rule that its settings come from.
  let pattern: String?
  /// What the store has of it, or is about to have.
  private(set) var record = TargetRecord()
  private(set) var limits: TargetLimits
  private(set) var breaker: CircuitBreaker
  /// When its breaker was last informed of the end of an attempt.
  private(set) var lastEnd = Timestamp.epoch
  /// Results of its recent attempts.
  private(set) var recent = RecentAttempts()
  /// How its calls ended.
  private(set) var ends = TargetEnds()
  /// Its due calls in memory.
  private(set) var due: DueCalls
  /// Its due calls in the store.
  private(set) var stored = StoredCalls()
  /// What its calls occupy.
  private(set) var occupancy = Occupancy()
  /// The slots that it has earned.
  private(set) var credit = SlotCredit()
  /// How its slots are shared between its callers.
  private var callers = SlotShares()
  /// A slot beside those that it gets.
  var beside = SlotBeside()
  /// Which of its callers fail.
  private(set) var failing = FailingCallers()
  /// With which errors its calls have failed.
  private var errors = KnownErrors()
  /// What of it fails while the rest works.
  private(set) var parts = FailingParts()
  /// Its due calls that go ahead of the others.
  private var ahead = CallsAhead()
  /// The calls that were chosen to try it while it was down.
  var probes = ProbeTurns()
  /// Whether it is the target of a webhook endpoint that is disabled, or was removed.
  private var isOfDisabled = false
  /// Whether its next call waits for a connection.
  var lacksConnection = false
  /// The recent usual size of a body.
  private(set) var usualBody = 0
  /// What has held its calls back.
  private(set) var holds: HoldLog
  /// Whether a call with an ordering key has passed its turn on here.
  private(set) var hasPassedTurns = false
  /// The standing that was last reported.
  private var reported = TargetStanding()
  /// When a timer will examine it again.
  private var nextLook: Timestamp?
  /// Whether its place is free.
  private(set) var isForgotten = false

  init(key: TargetKey, namespace: Int, settings: TargetSettings, pattern: String?, most: Int, at now: Timestamp) {
    self.key = key
    self.namespace = namespace
    self.pattern = pattern
    limits = TargetLimits(settings, most: most)
    breaker = CircuitBreaker(settings: settings.breaker)
    holds = HoldLog(at: now)
    due = DueCalls(hasBudget: limits.budget != nil, newShare: settings.newCallShare)
  }

  var settings: TargetSettings { limits.settings }
  var controls: TargetControls { record.controls }
  /// Whether none of its calls may start: an operator has paused it, or its webhook endpoint is disabled.
  var isPaused: Bool { controls.isPaused || isOfDisabled }

  /// Changes what its calls occupy. Only the roster can, because it counts the same for the namespace and for the whole.
  mutating func count<Result>(_: Roster.Authority, _ change: (inout Occupancy) -> Result) -> Result {
    change(&occupancy)
  }

  /// Changes the slots that it has earned. Only the roster can, because it counts those that are borrowed.
  mutating func count(_: Roster.Authority, credit change: (inout SlotCredit) -> Void) {
    change(&credit)
  }

  /// The group that one of its failed calls belongs to.
  mutating func place(_ group: FailedGroup, at now: Timestamp) -> IssueID { errors.place(group, at: now) }

  // MARK: The store

  /// Changes what the store is to have of it. Returns whether that is something else now.
  mutating func save(_ change: (inout TargetRecord) -> Void) -> Bool {
    let before = record
    change(&record)
    return record != before
  }

  /// Takes over what the store has of it, and the breaker.
  mutating func recover(_ saved: TargetRecord) {
    record = saved
    if let open = saved.breaker, !settings.breaker.isOff {
      breaker = CircuitBreaker(settings: settings.breaker, openUntil: open.until, trips: open.trips)
    }
    if let usual = saved.usual { breaker.recall(UsualFailures(share: usual.share, learnedAt: usual.at)) }
  }

  // MARK: Waits

  /// A call with an ordering key has ended.
  mutating func passTurn() { hasPassedTurns = true }

  /// This holds its next call back; nil if that is the service itself.
  ///
  /// - Parameter until: When that will be over, if that is known.
  mutating func hold(_ reason: WaitReason?, until: Timestamp = .distantFuture, at now: Timestamp) {
    holds.hold(reason, until: until, at: now)
  }

  /// What has held a call back that starts now; nil if nothing has for long.
  mutating func held(_ progress: CallProgress, newSince: Timestamp, isOrdered: Bool, at now: Timestamp) -> HeldTimes? {
    holds.times(of: progress, newSince: newSince, isOrdered: isOrdered, at: now)
  }

  /// A call has started. What held others back is forgotten once none is due.
  mutating func started(isRetry: Bool, at now: Timestamp) {
    ends.countStart(isRetry: isRetry)
    if !hasDue { holds.clear(at: now) }
  }

  // MARK: Limits

  /// When its limits, without its breaker, let the next attempt start.
  mutating func nextStart(isTrial: Bool = false, at now: Timestamp) -> TargetLimits.NextStart {
    limits.nextStart(inFlight: occupancy.inFlight, isTrial: isTrial, at: now)
  }

  /// Counts an attempt that starts against its limits; the call's count already includes it.
  ///
  /// - Returns: Its cost in the retry budget.
  mutating func charge(_ progress: CallProgress, at now: Timestamp) -> RetryBudget.Withdrawal? {
    limits.charge(isRetry: progress.attempts > progress.attemptsBefore + 1, at: now)
  }

  /// Returns the cost of an attempt that was never made.
  mutating func refund(_ withdrawal: RetryBudget.Withdrawal, at now: Timestamp) {
    limits.refund(withdrawal, at: now)
  }

  /// Changes the pause that it asks for, and returns what that returns.
  mutating func changePause<Result>(at now: Timestamp, _ change: (inout TargetPause) -> Result) -> Result {
    limits.changePause(at: now, change)
  }

  /// Counts an attempt that starts for its pace, unless it goes ahead of that.
  mutating func startPaced(_ call: CallSpec, at now: Timestamp) -> AdaptivePace.Ticket? {
    failing.isUnproven && goesAhead(call) ? nil : limits.startPaced(at: now)
  }

  /// Counts the end of an attempt for its pace. Returns whether it is about the target's load, and so no reason to open
  /// the breaker. What always fails, while others get through, says nothing about the load.
  mutating func end(
    _ ticket: AdaptivePace.Ticket?, _ sign: AdaptivePace.Sign, of call: CallSpec, at now: Timestamp
  ) -> Bool {
    let isLoad = (sign == .refused || sign == .silent) && failing.fails(call.callers) ? .none : sign
    return limits.end(ticket, isLoad, at: now)
  }

  /// Its breaker has opened.
  mutating func suspendPace(at now: Timestamp) {
    limits.suspendPace(at: breaker.failingSince ?? now)
  }

  /// An operator closes its breaker, and what its pace holds back may go.
  ///
  /// - Parameter forgets: Whether it forgets what breaker and pace have learned.
  mutating func release(forgets: Bool, at now: Timestamp) {
    if forgets { breaker.reset() } else { breaker.close() }
    failing = FailingCallers()
    useNewBreakerSettings()
    limits.releasePace(forgets: forgets, at: now)
  }

  /// Begins with what the pace of its last owner has learned.
  mutating func recover(_ pace: SavedPace, at now: Timestamp) {
    limits.recover(pace, at: now)
    // It was saved when the breaker opened, if not later.
    if breaker.state != .closed { limits.suspendPace(at: min(pace.at, now)) }
  }

  /// Its breaker has closed, but it should not get its full load at once.
  mutating func startSlowly(at now: Timestamp) {
    limits.startSlowly(at: now)
  }

  /// It is about to belong to another instance.
  mutating func depart(at now: Timestamp) {
    limits.depart(at: now)
  }

  /// It does not belong to another instance yet.
  mutating func stay(at now: Timestamp) {
    limits.stay(at: now)
  }

  /// Applies what operators have set.
  mutating func apply(
    _ settings: TargetSettings, most: Int, in calls: CallTable, at now: Timestamp
  ) {
    let hasNewShare = settings.newCallShare != limits.settings.newCallShare
    let hasNewBudget = limits.apply(settings, most: most)
    useNewBreakerSettings()
    if hasNewBudget || hasNewShare {
      due.sort(hasBudget: limits.budget != nil, newShare: settings.newCallShare, in: calls)
    }
    limits.pause(isPaused, at: now)
  }

  /// Its webhook endpoint is disabled, or enabled. Returns whether that is news.
  mutating func disable(_ isDisabled: Bool, at now: Timestamp) -> Bool {
    guard isDisabled != isOfDisabled else { return false }
    isOfDisabled = isDisabled
    limits.pause(isPaused, at: now)
    return true
  }

  // MARK: The breaker

  /// Asks the breaker for a permit.
  mutating func acquire(for call: CallSpec, at now: Timestamp) -> (CircuitBreaker.Admission, BreakerChange?) {
    let before = breaker.state
    if before == .closed { return (breaker.acquire(at: now), nil) }
    let admission = goesAhead(call) ? breaker.acquireEarly(at: now) : breaker.acquireBeside(at: now)
    if case .permitted(let permit) = admission, permit.isProbe { failing.tried(call.callers) }
    return (admission, change(since: before))
  }

  /// A permit for a call that does not wait for the breaker.
  mutating func bypassBreaker(at now: Timestamp) -> CircuitBreaker.Permit { breaker.bypass(at: now) }

  /// Returns a permit to the breaker, with the result of the call.
  mutating func record(
    _ result: CircuitBreaker.Result, of permit: CircuitBreaker.Permit, call: CallID, _ spec: CallSpec,
    took: Duration, at now: Timestamp
  ) -> BreakerChange? {
    let before = breaker.state
    lastEnd = now
    var result = result
    var wasDown = false
    switch result {
    case .success:
      if !failing.isEmpty { wasDown = failing.succeeded(spec.callers, isDown: before != .closed, at: now) }
    case .failure: if failing.failed(spec.callers, isDown: before != .closed, at: now) { result = .ignored }
    case .ignored: if permit.isProbe { failing.untried(spec.callers) }
    }
    breaker.record(result, of: permit, call: UInt64(bitPattern: call.rawValue), took: took, at: now)
    let change = change(since: before)
    switch change {
    case .opened where before == .closed: failing.beginOutage()
    case .closed: failing.endOutage(wasDown: wasDown)
    case .opened, .halfOpened: break
    case nil: if wasDown, breaker.state == .closed, failing.prove(), isPaced { limits.startSlowly(at: now) }
    }
    return change
  }

  /// Counts the end of an attempt for what is shown of the target's parts.
  ///
  /// - Parameter isLocal: Whether it failed on this side.
  mutating func count(
    _ result: CircuitBreaker.Result, isLocal: Bool, of call: CallID, _ spec: CallSpec, cause: @autoclosure () -> String,
    at now: Timestamp
  ) {
    if isLocal { return parts.failedHere(call, cause(), at: now) }
    switch result {
    case .success: parts.succeeded(spec, at: now)
    case .failure: parts.failed(spec, call, cause(), at: now)
    case .ignored: break
    }
  }

  /// Lets the breaker's open time end, if it is over.
  mutating func advance(to now: Timestamp) -> BreakerChange? {
    let before = breaker.state
    breaker.advance(to: now)
    return change(since: before)
  }

  /// Closes the breaker, and forgets its history.
  @discardableResult
  mutating func reset() -> BreakerChange? {
    let before = breaker.state
    breaker.reset()
    return change(since: before)
  }

  /// Holds the breaker open until it is reset.
  mutating func trip() {
    breaker.force(.open)
  }

  private func change(since before: CircuitBreaker.State) -> BreakerChange? {
    switch (before, breaker.state) {
    case (.closed, .open(let until, let trips)), (.halfOpen, .open(let until, let trips)):
      .opened(until: until, trips: trips)
    case (.open, .halfOpen): .halfOpened
    case (.halfOpen, .closed), (.open, .closed): .closed
    default: nil
    }
  }

  /// Gives the breaker its settings. With probes in flight it gets them when these have ended, unless it closes by them: it
  /// would let more through beside them.
  mutating func useNewBreakerSettings() {
    guard breaker.settings != settings.breaker else { return }
    if case .halfOpen(let probing) = breaker.state, probing.inFlight > 0, breaker.isBroken(by: settings.breaker) {
      return
    }
    breaker.change(to: settings.breaker)
  }

  // MARK: Calls that go ahead

  /// How many due calls are looked at for those that go ahead.
  private static let mostLookedAt = 1024

  /// A call has become due, and may go ahead.
  mutating func addAhead(_ entry: ReadyQueue.Entry, _ call: CallSpec) {
    if let doubt = doubt(call) { ahead.add(entry, doubt) }
    if beside.isShort, let silent = silentCallers(of: call) { beside.calls.add(entry, silent) }
  }

  /// Finds the calls that go ahead among those that are due, as the breaker has changed.
  mutating func gatherAhead(in calls: CallTable) {
    ahead = failing.isEmpty ? CallsAhead() : gathered(in: calls, doubt(_:))
  }

  /// Those of the due calls that a judgement lets go ahead.
  private func gathered(in calls: CallTable, _ judge: CallsAhead.Judgement) -> CallsAhead {
    let sample = due.sample(of: Self.mostLookedAt)
    var all = CallsAhead()
    all.gather(sample, areAll: sample.count < Self.mostLookedAt, in: calls, judge)
    return all
  }

  /// The next call that goes ahead and may start.
  mutating func firstAhead(in calls: CallTable) -> ReadyQueue.Entry? {
    if ahead.isEmpty, ahead.isIncomplete { gatherAhead(in: calls) }
    guard !ahead.isEmpty else { return nil }
    var all = ahead
    defer { ahead = all }
    return all.first(in: calls, doubt(_:), mayStart(_:isRetry:))
  }

  /// It wants more slots than it gets. Returns from when on it may have one beside these.
  mutating func lackSlots(in calls: CallTable, at now: Timestamp) -> Timestamp {
    let wasShort = beside.isShort
    let start = beside.lack(answeredAt: callers.lastAnswer, at: now)
    if beside.isShort != wasShort { beside.calls = gathered(in: calls, silentCallers(of:)) }
    return start
  }

  /// The next call that may start beside attempts that hang and have all slots of the target.
  mutating func firstBeside(in calls: CallTable) -> ReadyQueue.Entry? {
    var found = beside.calls
    defer { beside.calls = found }
    if found.isEmpty, found.isIncomplete { found = gathered(in: calls, silentCallers(of:)) }
    return found.isEmpty ? nil : found.first(in: calls, silentCallers(of:), mayStart(_:isRetry:))
  }

  /// Whether a call may start out of its order.
  func mayStart(_ call: CallSpec, isRetry: Bool) -> Bool {
    !(isRetry && due.hasBudget) && !isCrowded(by: call)
      && (limits.pause.until == nil || limits.pause.admits(CallSource(call)))
  }

  /// Whether a call that goes ahead is due, and only the pace could hold it back.
  mutating func mayGoUnpaced(at now: Timestamp) -> Bool {
    failing.isUnproven && !(ahead.isEmpty && !ahead.isIncomplete)
      && limits.nextStart(inFlight: occupancy.inFlight, isUnpaced: true, at: now) == .now
  }

  // MARK: Due calls

  /// Puts a call into its queue.
  mutating func enqueue(_ entry: ReadyQueue.Entry, isRetry: Bool, isNew: Bool = false) {
    due.append(entry, isRetry: isRetry, isNew: isNew)
  }

  /// Whether a call that has become due for its first attempt waits as a new one, and not in the backlog.
  mutating func takesNew(_ call: CallRecord, in calls: CallTable, at now: Timestamp) -> Bool {
    guard breaker.state == .closed, call.isNew(at: now) else {
      return false
    }
    return due.takesNew(call.spec.priority, hasStored: stored.count > 0, in: calls, at: now)
  }

  /// Whether a call that is just accepted may wait as a new one in memory although others wait in the store.
  func hasRoomForNew(_ priority: Int, at now: Timestamp) -> Bool {
    breaker.state == .closed && due.hasRoomForNew(priority, at: now)
  }

  /// New calls become backlog.
  mutating func joinBacklog() {
    due.joinBacklog()
  }

  /// Takes out the call that ``firstReady(in:at:)`` returned, to start it.
  mutating func take(_ entry: ReadyQueue.Entry, _ call: CallRecord, at now: Timestamp) {
    due.remove(entry, isRetry: call.progress.isRetry, at: now)
  }

  /// Counts a call that becomes due or is due no more.
  mutating func countDue(_ change: Int, isRetry: Bool) {
    due.count(change, isRetry: isRetry)
  }

  /// Takes out the newest of the lowest priority, if that is below this one.
  mutating func removeLast(below priority: Int, in calls: CallTable) -> ReadyQueue.Entry? {
    due.removeLast(below: priority, in: calls)
  }

  /// The next call to start, as far as its retry budget allows.
  ///
  /// - Returns: Whether a retry waits for the budget, too; ``TargetLimits/retriesUntil`` is when it can go.
  mutating func firstReady(in calls: CallTable, at now: Timestamp) -> (ReadyQueue.Entry?, isRetryWaiting: Bool) {
    let crowded = callers.crowded(beside: occupancy.inFlight, of: limits.maxInFlight)
    let first = due.firstUsual(in: calls, crowded)
    guard let retry = due.firstRetry(in: calls, crowded) else { return (first, false) }
    if let first, first.goesBefore(retry) { return (first, false) }
    return limits.allowsRetry(at: now) ? (retry, false) : (first, true)
  }

  /// Whether the retry budget, if there is one, allows a retry.
  mutating func allowsRetry(at now: Timestamp) -> Bool { !due.hasBudget || limits.allowsRetry(at: now) }

  /// Whether all due calls in memory are retries that wait for their budget.
  mutating func hasOnlyRetries(in calls: CallTable) -> Bool {
    limits.budget != nil && due.firstUsual(in: calls) == nil
  }

  // MARK: Callers

  /// Whether a new call would have to wait because its caller has too many slots.
  func isCrowded(by call: CallSpec) -> Bool {
    callers.crowded(beside: occupancy.inFlight, of: limits.maxInFlight)?.excess(of: call.callers) != nil
  }

  /// An attempt starts. Returns its callers if their slots are counted.
  ///
  /// - Parameter isScarce: Whether it may soon get fewer slots than its limit.
  mutating func takeSlot(_ call: CallSpec, isScarce: Bool, at now: Timestamp) -> SlotHolders? {
    callers.start(
      call.callers, beside: occupancy.inFlight, of: limits.maxInFlight, isScarce: isScarce || beside.isShort, at: now)
  }

  /// How many of a call's callers have attempts in flight without answers; nil if it would hang with these.
  private func silentCallers(of call: CallSpec) -> Int? { callers.silent(among: call.callers) }

  /// An attempt that was counted has ended.
  mutating func freeSlot(_ holders: SlotHolders, startedAt: Timestamp) {
    callers.end(holders, startedAt: startedAt)
  }

  /// The target has answered an attempt that has not ended yet.
  mutating func recordAnswer(to holders: @autoclosure () -> SlotHolders, at now: Timestamp) {
    callers.recordAnswer(to: holders(), at: now)
  }

  // MARK: Calls in the store

  /// Takes over the number of calls that an earlier process left in the store.
  mutating func recover(stored count: Int) {
    stored.recover(count)
  }

  /// A call was written into its queue in the store.
  mutating func append(priority: Int) {
    stored.append(priority: priority)
  }

  /// A call has left its queue in the store by another way than a refill.
  mutating func leaveQueue() {
    stored.remove()
  }

  /// Some calls are requested from the store.
  mutating func beginRefill(_ limit: Int) {
    stored.beginRefill(limit)
  }

  /// The refill has failed, or nothing of it is of use.
  mutating func endRefill() {
    stored.endRefill()
  }

  /// So many calls have arrived from the store.
  mutating func endRefill(arrived: Int, complete: Bool) {
    let since = stored.endRefill()
    stored.arrived(arrived, complete: complete, since: since)
  }

  // MARK: The rest

  /// A call has come into memory, with a body of this size.
  mutating func recordBodySize(_ size: Int) {
    usualBody += (size - usualBody) / 8
  }

  /// Counts the end of a call.
  mutating func countEnd(of call: CallID, _ state: StoredState, after time: Duration, at now: Timestamp) {
    parts.ended(call)
    ends.count(state, after: time, at: now)
  }

  /// Counts an attempt that the target has ended.
  mutating func count(_ duration: Duration, succeeded: Bool, ended: Bool, at now: Timestamp) {
    recent.count(duration, succeeded: succeeded, ended: ended, at: now)
  }

  /// Whether a timer must be set to examine it again at this time, or earlier.
  mutating func needsTimer(at time: Timestamp) -> Bool {
    if let look = nextLook, look <= time { return false }
    nextLook = time
    return true
  }

  /// A timer has fired. Returns whether it is to be examined now.
  mutating func timerFired(at now: Timestamp) -> Bool {
    guard let look = nextLook, look <= now else { return false }
    nextLook = nil
    return true
  }

  /// Returns the reasons for which its calls wait, if they are to be reported, and whether it was paced at the last report.
  mutating func takeStanding(at now: Timestamp, always: Bool) -> (TargetStanding, wasPaced: Bool)? {
    let standing = standing(at: now)
    guard always || standing != reported else { return nil }
    defer { reported = standing }
    return (standing, reported.isPaced)
  }

  /// Frees its place.
  mutating func forget() {
    isForgotten = true
    recent = RecentAttempts()
    parts = FailingParts()
    ends = TargetEnds()
  }

  /// Forgets results that are too old to be shown.
  mutating func forgetOldResults(at now: Timestamp) {
    guard lastEnd + Self.recentMemory <= now else { return }
    recent = RecentAttempts()
    parts = FailingParts()
    ends.forgetTimes()
  }
}
