internal import RedialCore
internal import RedialModel

/// Whether a call is as a command needs it.
///
/// An operation on many calls finds a call before its command is executed, and after a crash a command may be executed
/// twice. So the command says what the call must still be, and the call's owner decides.
extension CallCommand {
  /// Whether only a call that has ended will do.
  var isForEnded: Bool {
    switch condition {
    case .ended, .unchanged: true
    case .unfinished, nil: false
    }
  }

  /// When an ended call begins that the command runs again. A submission that is repeated asked for a start time, and a call that
  /// was cancelled before it still waits for it. Whoever retries a call wants it now.
  func start(of ended: CallRecord, at now: Timestamp) -> Timestamp {
    guard case .unchanged = condition, ended.progress.attempts == 0 else { return now }
    return max(now, ended.progress.roundStartedAt)
  }

  /// Why the condition keeps the command from an ended call; nil if it does not.
  func refusal(ofEnded record: CallRecord) -> Refusal? {
    switch condition {
    case nil: nil
    case .unfinished: .callNotUnfinished(record.id)
    case .unchanged(let time, let attempts):
      record.progress.finishedAt == time && record.progress.attempts == attempts ? nil : .callEndedAgain(record.id)
    case .ended(let time): record.progress.finishedAt.map { $0 > time } == true ? .callEndedAgain(record.id) : nil
    }
  }
}
