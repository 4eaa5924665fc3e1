internal import RedialCore
internal import RedialModel

/// Whether a call is as a command needs it.
///
/// An operation on many calls finds a call before its command is executed, and after a crash a command may be executed
/// twice. So the command says what the call must still be, and the call's owner decides.
extension CallCommand {
  /// Whether only a call that has ended will do.
  var isForEnded: Bool {
    if case .ended = condition { true } else { false }
  }

  /// Why the condition keeps the command from an ended call; nil if it does not.
  func refusal(ofEnded record: CallRecord) -> Problem? {
    switch condition {
    case nil: return nil
    case .unfinished:
      return Problem(
        status: 409, code: "callEnded", title: "The call has ended",
        detail: "\(record.id) has ended, and this is only for calls that have not.")
    case .ended(let time):
      guard let end = record.progress.finishedAt, end > time else { return nil }
      return Problem(
        status: 409, code: "callEnded", title: "The call has ended again",
        detail: "\(record.id) was run again, or has ended later than the operation was accepted.")
    }
  }
}
