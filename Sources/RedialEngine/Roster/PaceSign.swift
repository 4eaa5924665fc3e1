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
    switch status {
    case 429, 503: self = .refused
    case ..<500: self = .delivered(after: result.duration)
    default:
      let asked = result.response?.askedWait(status: status, at: now)
      self = asked == nil ? .none : .refused
    }
  }
}
