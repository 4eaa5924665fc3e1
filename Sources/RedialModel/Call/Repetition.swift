internal import RedialCore

/// What a submission does under the idempotency key of a call that has failed or was cancelled. The words are the API's.
public enum RepetitionRule: String, Sendable, Hashable, CaseIterable {
  /// It runs the call again, unless that could execute it twice.
  case rerun
  /// It is answered with the call as it is.
  case answer
}

/// What a submission has done under the idempotency key of an earlier one. The words are the API's.
public enum IdempotencyStatus: String, Sendable, Hashable, CaseIterable {
  /// Nothing: its call was accepted before.
  case repeated
  /// It runs its call again, which had failed or was cancelled.
  case rerun
  /// Nothing: its call had failed or was cancelled, and cannot run again.
  case notRerun
}

extension CallRecord {
  /// What a submission does that repeats that of this call.
  ///
  /// A target that must not get a request twice is called again only if no attempt was executed; every other target gets the same
  /// `Idempotency-Key` with each attempt. A call that has ended the service is called again only by a person.
  ///
  /// - Parameter attempts: Its attempts; not asked for if it may be repeated.
  public func whenRepeated<Failure: Error>(
    _ attempts: () throws(Failure) -> [AttemptRecord]
  ) throws(Failure) -> IdempotencyStatus {
    guard spec.repetitionRule == .rerun, progress.state == .failed || progress.state == .cancelled else {
      return .repeated
    }
    guard spec.contentErasedAt == nil, progress.failure != .attemptEndedTheService else { return .notRerun }
    if spec.idempotent || progress.attempts == 0 { return .rerun }
    let known = try attempts()
    return known.count == progress.attempts && known.allSatisfy { !$0.mayHaveBeenExecuted } ? .rerun : .notRerun
  }
}

extension AttemptRecord {
  /// Whether the target, or a server behind it, may still be executing the request: it was sent, and nobody has said that it
  /// is over.
  public var mayBeProcessed: Bool {
    switch outcome {
    case .notSent, .localFault, .blocked: figures?.mayHaveLeft ?? false
    case .unusable, .interrupted, .cancelled: figures?.mayHaveLeft ?? true
    case .answered: StatusSet.unfinished.contains(status ?? 0)
    case .maybeSent: true
    }
  }

  /// Whether the target may have executed the request, or one that has redirected it. A status of 4xx has refused it (RFC 9110
  /// §15.5), except 409: that may be about an earlier attempt.
  var mayHaveBeenExecuted: Bool {
    switch outcome {
    case .notSent, .localFault, .blocked: figures?.mayHaveLeft ?? false
    case .unusable: figures?.mayHaveLeft ?? true
    case .answered: status.map { !(400...499).contains($0) || $0 == 409 } ?? true || (figures?.redirects ?? 0) > 0
    case .maybeSent, .interrupted, .cancelled: true
    }
  }
}
