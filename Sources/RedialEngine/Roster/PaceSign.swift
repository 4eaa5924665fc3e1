internal import RedialCore
internal import RedialModel

extension AdaptivePace.Sign {
  /// Reads what an attempt's end says about the load of its target.
  init(_ result: AttemptResult, _ sign: TargetSign, at now: Timestamp) {
    if case .silence = sign {
      self = .silent
      return
    }
    guard result.outcome == .answered, let status = result.status else {
      self = .none
      return
    }
    self.init(
      status: status, after: result.duration, asksToWait: result.response?.askedWait(status: status, at: now) != nil)
  }
}
