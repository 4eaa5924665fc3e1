public import RedialCore

extension CallView.Wait {
  /// Why a call waits, and when it can run at the earliest; nil if it does not wait.
  ///
  /// If several reasons apply, the result is the one that lasts longest: first those that only an operator or another
  /// call can end, then the latest time. The time is nil if it is unknown, and if the call's deadline comes first.
  public init?(of call: CallRecord, for target: TargetStanding, at now: Timestamp) {
    let progress = call.progress
    guard progress.state.visible == .scheduled else { return nil }
    let wait = target.wait(ofRetry: progress.isRetry, at: now)
    if progress.waiting == .ordering {
      self.init(reason: .ordering, until: nil)
    } else if let own = progress.waiting, own.isOfCall, let from = wait.ownFrom, progress.due >= from {
      self.init(reason: own, until: progress.due)
    } else {
      self.init(reason: wait.reason, until: wait.until)
    }
    if let until, until >= call.lastStart { self.until = nil }
  }
}
