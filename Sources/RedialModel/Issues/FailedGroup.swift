public import RedialCore
public import RedialJSON

/// What the calls of a group have in common: one target, one reason and one error.
public struct FailedGroup: Sendable, Hashable {
  public var kind: CallKind
  public var target: TargetKey
  /// Why they failed.
  public var reason: StopReason
  /// What the last attempt failed with, without what differs from call to call; empty if no attempt ended them, such as
  /// for a deadline that passed while they waited.
  public var error: String

  /// The group of a call that fails.
  ///
  /// - Parameters:
  ///   - attempt: The attempt that has ended it; nil if none has.
  ///   - redact: The members of its answer that nobody sees.
  public init(
    _ kind: CallKind, _ target: TargetKey, _ reason: StopReason, endedBy attempt: AttemptRecord?,
    redact: [JSONPointer] = []
  ) {
    self.kind = kind
    self.target = target
    self.reason = reason
    // Whatever the breaker has opened for, a call that does not wait for it fails alike.
    error = reason == .tripped ? "" : attempt.map { Self.error(of: $0, redact) } ?? ""
  }

  /// The group of a call that has failed; nil for another call.
  ///
  /// - Parameter last: Its last attempt.
  public init?(of call: CallRecord, last: AttemptRecord?) {
    guard let reason = call.progress.failure else { return nil }
    // A decision to stop may be that of an earlier round.
    var isEnd = false
    if case .stop = last?.decision?.action { isEnd = call.progress.isRetry }
    self.init(call.kind, call.spec.target, reason, endedBy: isEnd ? last : nil, redact: call.spec.redact)
  }

  /// The group for errors of its target that are not distinguished any more.
  public var others: FailedGroup {
    var others = self
    others.error = "other errors of this target"
    return others
  }

  /// The id of the group.
  public var id: IssueID { IssueID(kind, target, .failed(reason), error) }

  private static func error(of attempt: AttemptRecord, _ redact: [JSONPointer]) -> String {
    if let failure = attempt.result.decisiveFailure {
      let message = ErrorPattern.of(failure.message)
      return message.isEmpty ? failure.code : "\(failure.code): \(message)"
    }
    guard let status = attempt.status else { return "\(attempt.outcome.name)" }
    let body = attempt.response.flatMap { redact.shown($0.body, isWhole: !$0.truncated) }
    guard let line = body.flatMap({ AnsweredError.line(of: $0) }) else { return "\(status)" }
    return "\(status) \(ErrorPattern.of(line))"
  }
}
