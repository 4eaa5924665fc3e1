public import RedialCore

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
  /// - Parameter attempt: The attempt that has ended it; nil if none has.
  public init(_ kind: CallKind, _ target: TargetKey, _ reason: StopReason, endedBy attempt: AttemptRecord?) {
    self.kind = kind
    self.target = target
    self.reason = reason
    // Whatever the breaker has opened for, a call that does not wait for it fails alike.
    error = reason == .tripped ? "" : attempt.map(Self.error) ?? ""
  }

  /// The group of a call that has failed; nil for another call.
  ///
  /// - Parameter last: Its last attempt.
  public init?(of call: CallRecord, last: AttemptRecord?) {
    guard let reason = call.progress.failure else { return nil }
    // A decision to stop may be that of an earlier round.
    var isEnd = false
    if case .stop = last?.decision?.action { isEnd = call.progress.isRetry }
    self.init(call.kind, call.spec.target, reason, endedBy: isEnd ? last : nil)
  }

  /// The id of the group.
  public var id: IssueID { IssueID(kind, target, .failed(reason), error) }

  private static func error(of attempt: AttemptRecord) -> String {
    if let failure = attempt.failure {
      let message = ErrorPattern.of(failure.message)
      return message.isEmpty ? failure.code : "\(failure.code): \(message)"
    }
    guard let status = attempt.status else { return "\(attempt.outcome.name)" }
    guard let line = attempt.response.flatMap({ AnsweredError.line(of: $0.body) }) else { return "\(status)" }
    return "\(status) \(ErrorPattern.of(line))"
  }
}
