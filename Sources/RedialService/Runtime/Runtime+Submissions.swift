internal import RedialCore
internal import RedialEngine
internal import RedialModel

/// Submissions that were forwarded to the owners of their targets.
extension Runtime {
  /// After this time without an answer of the owner, a call is not stored here: it may have been executed and removed.
  static let longestForward = Duration.seconds(30)

  /// Forwards what the engine wants forwarded; without anything to do that with, the engine stores it.
  func forward(_ calls: [ForwardedCall]) {
    guard let forwardLane else { return post(calls.map { .submit($0.descriptor, $0.reply) }) }
    forwardLane.forward(calls)
  }

  /// Passes on what became of forwarded submissions.
  func forwarded(_ ended: ForwardLane.Ended) {
    var answers = SubmissionAnswers(most: ended.answered.count)
    for (call, reply) in ended.answered { answer(.submission(call.reply, reply), into: &answers) }
    let now = clock.now
    var events: [EngineEvent] = []
    for (call, isInDoubt) in ended.stored {
      if isInDoubt {
        replies.submissions.change(call.reply) { $0.isInDoubt = true }
        guard now - call.identity.createdAt <= Self.longestForward else {
          answer(.submission(call.reply, .refused(.outcomeUnknown)), into: &answers)
          continue
        }
      }
      events.append(.submit(call.descriptor, call.reply))
    }
    answers.send(redaction)
    if !events.isEmpty { post(events) }
  }
}
