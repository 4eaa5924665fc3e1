internal import RedialCore
internal import RedialModel

/// The limits of a target besides its breaker: its concurrency, rate, pace, retry budget, slow start and Retry-After pause,
/// and the pause of an operator.
///
/// Without such limits an attempt costs one flag and one comparison here.
struct TargetLimits: Sendable {
  /// When the next attempt may start.
  enum NextStart: Sendable, Equatable {
    case now
    /// When another attempt has ended: it waits for this.
    case afterAnother(WaitReason)
    /// When another attempt has ended, or at this time, when a slow start allows more.
    case afterAnotherOr(Timestamp)
    /// At this time at the earliest: it waits for this.
    case at(Timestamp, WaitReason)
    /// When an operator has resumed the target.
    case afterPause
    /// Its next owner decides.
    case byNextOwner
  }

  /// The settings in effect.
  private(set) var settings: TargetSettings
  /// Maximum attempts in flight, by its settings and by its share of all.
  private(set) var maxInFlight: Int
  /// Whether the target is paused.
  private(set) var isPaused = false
  private(set) var rate: RateLimiter?
  private(set) var budget: RetryBudget?
  private(set) var slowStart: SlowStart
  /// What the target can take; nil if its pace is fixed.
  private(set) var pace: AdaptivePace?
  /// The pause that the target has asked for.
  private(set) var pause = TargetPause()
  /// When its retry budget, which is used up, allows the next retry.
  private(set) var retriesUntil: Timestamp?
  /// Whether it is about to belong to another instance, or may be, so that no attempt starts any more.
  private(set) var isDeparting = false
  /// Whether an attempt needs more checks than the number of attempts in flight.
  private var isLimited: Bool

  init(_ settings: TargetSettings, most: Int) {
    self.settings = settings
    maxInFlight = min(settings.maxInFlight, most)
    slowStart = SlowStart(duration: settings.slowStart)
    rate = settings.rateLimiter
    budget = settings.retryBudget
    isLimited = rate != nil
    if settings.pace == .adaptive { pace = AdaptivePace() }
  }

  /// When the next attempt may start, beside so many in flight.
  ///
  /// - Parameters:
  ///   - isTrial: Whether it is one that may start although the target has asked for a pause.
  ///   - isUnpaced: Whether it is one that may start whatever the pace.
  mutating func nextStart(
    inFlight: Int, isTrial: Bool = false, isUnpaced: Bool = false, at now: Timestamp
  ) -> NextStart {
    guard isLimited else { return inFlight < maxInFlight ? .now : .afterAnother(.concurrency) }
    updateIsLimited(at: now)
    if isDeparting { return .byNextOwner }
    if isPaused { return .afterPause }
    if let until = pause.until, !isTrial { return .at(until, .retryAfter) }
    if !isUnpaced, let until = pace?.fullUntil(beside: inFlight, within: maxInFlight, at: now) {
      return inFlight < maxInFlight ? .at(until, .pace) : .afterAnother(.concurrency)
    }
    let limit = pace == nil ? slowStart.limit(of: maxInFlight, at: now) : maxInFlight
    guard inFlight < limit else {
      return limit < maxInFlight
        ? .afterAnotherOr(now + slowStart.duration / Self.rampSteps) : .afterAnother(.concurrency)
    }
    if case .rejected(let until)? = rate?.peek(at: now) { return .at(until, .rateLimit) }
    if !isUnpaced, let until = pace?.wait(at: now) { return .at(until, .pace) }
    return .now
  }

  /// How many times a target in its slow start is examined, if its attempts take long.
  private static let rampSteps = 20

  /// Updates whether an attempt needs more checks.
  mutating func updateIsLimited(at now: Timestamp) {
    pause.advance(to: now)
    isLimited =
      isDeparting || isPaused || pause.until != nil || rate != nil || pace?.rate != nil
      || pace == nil && slowStart.share(at: now) < 1
  }

  // MARK: The retry budget

  /// Whether the retry budget allows a retry now. If not, ``retriesUntil`` is set.
  mutating func allowsRetry(at now: Timestamp) -> Bool {
    guard (budget?.balance(at: now) ?? 1) < 1 else { return true }
    retriesUntil = nextRetry(at: now)
    return false
  }

  /// When a budget that is used up allows the next retry, if no attempt starts before: at the first of the steps in
  /// which it forgets.
  private func nextRetry(at now: Timestamp) -> Timestamp {
    let step = TargetSettings.retryWindow.wholeMicroseconds / 10
    let current = now.microseconds / step
    let times = (1...10).map { Timestamp(microseconds: (current + $0) * step) }
    return times.first { (budget?.balance(at: $0) ?? 1) >= 1 } ?? now + TargetSettings.retryWindow
  }

  /// Counts an attempt that starts against the rate and the retry budget. Returns its cost in the budget.
  mutating func charge(isRetry: Bool, at now: Timestamp) -> RetryBudget.Withdrawal? {
    if rate != nil { _ = rate?.acquire(at: now) }
    guard budget != nil else { return nil }
    var withdrawal: RetryBudget.Withdrawal?
    if isRetry {
      withdrawal = budget?.withdraw(for: .transient, at: now)
    } else {
      budget?.begin(at: now)
    }
    retriesUntil = nil
    return withdrawal
  }

  /// Returns the cost of an attempt that was never made.
  mutating func refund(_ withdrawal: RetryBudget.Withdrawal, at now: Timestamp) {
    budget?.end(.neverSent, of: withdrawal, at: now)
  }

  // MARK: Changes

  /// Changes the pause that the target asks for, and returns what that returns.
  mutating func changePause<Result>(at now: Timestamp, _ change: (inout TargetPause) -> Result) -> Result {
    pause.advance(to: now)
    defer { updateIsLimited(at: now) }
    return change(&pause)
  }

  // MARK: The pace

  /// Counts an attempt that starts.
  mutating func startPaced(at now: Timestamp) -> AdaptivePace.Ticket? { pace?.start(at: now) }

  /// Counts the end of an attempt. Returns whether it is about the target's load, and so no reason to open its breaker.
  mutating func end(_ ticket: AdaptivePace.Ticket?, _ sign: AdaptivePace.Sign, at now: Timestamp) -> Bool {
    guard let ticket, pace != nil else { return false }
    let isLoad = sign == .refused && pace?.isDelivering(at: now) == true
    pace?.end(ticket, sign, at: now)
    if pace?.rate != nil { isLimited = true }
    return isLoad
  }

  /// The target's breaker has opened.
  mutating func suspendPace(at now: Timestamp) {
    pace?.suspend(at: now)
  }

  /// An operator has closed the target's breaker.
  ///
  /// - Parameter forgets: Whether what the pace has learned is forgotten too.
  mutating func releasePace(forgets: Bool, at now: Timestamp) {
    if forgets, pace != nil { pace = AdaptivePace() }
    pace?.release(at: now)
    updateIsLimited(at: now)
  }

  /// Begins with what the last owner has saved.
  mutating func recover(_ saved: SavedPace, at now: Timestamp) {
    guard pace != nil else { return }
    pace = AdaptivePace(delivered: saved.delivered, limitedAt: saved.isLimited ? saved.at : nil, at: now)
    updateIsLimited(at: now)
  }

  /// What the pace has learned, to be saved.
  func savedPace(at now: Timestamp) -> SavedPace {
    SavedPace(delivered: pace?.delivered ?? 0, isLimited: pace?.rate != nil, at: now)
  }

  /// A target whose breaker has closed works again, but should not get its full load at once.
  mutating func startSlowly(at now: Timestamp) {
    slowStart.start(at: now)
    pace?.recover(at: now)
    updateIsLimited(at: now)
  }

  /// The target is about to belong to another instance.
  mutating func depart(at now: Timestamp) {
    isDeparting = true
    updateIsLimited(at: now)
  }

  /// It does not belong to another instance yet.
  mutating func stay(at now: Timestamp) {
    isDeparting = false
    updateIsLimited(at: now)
  }

  /// The target is paused, or not any more.
  mutating func pause(_ isPaused: Bool, at now: Timestamp) {
    self.isPaused = isPaused
    updateIsLimited(at: now)
  }

  /// Applies other settings. Returns whether the retry budget is another.
  mutating func apply(_ new: TargetSettings, most: Int) -> Bool {
    let old = settings
    settings = new
    maxInFlight = min(new.maxInFlight, most)
    // A limit that does not change keeps its counts.
    if new.ratePerSecond != old.ratePerSecond || new.rateBurst != old.rateBurst { rate = new.rateLimiter }
    if new.pace != old.pace { pace = new.pace == .adaptive ? AdaptivePace() : nil }
    if new.slowStart != old.slowStart { slowStart = SlowStart(duration: new.slowStart) }
    guard new.retryShare != old.retryShare || new.retriesPerSecond != old.retriesPerSecond else { return false }
    budget = new.retryBudget
    retriesUntil = nil
    return true
  }
}
