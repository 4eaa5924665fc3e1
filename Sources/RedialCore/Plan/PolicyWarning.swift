/// What a reader of a policy should think about: it is allowed, and seldom meant.
public enum PolicyWarning: Sendable, Hashable {
  /// Waits are not spread: clients that fail together come back together.
  case noJitter
  /// The deadline leaves no time for the attempts from this number on.
  case unreachableAttempts(from: Int)
  /// One attempt may take longer than the whole call.
  case timeoutBeyondDeadline
  /// Neither attempts nor time are bounded: a call to a target that is gone is tried for ever.
  case unbounded
  /// Retries follow at once: a target that is down is hammered.
  case noWait
  /// Capped after jitter: at the maximum, clients fall into step.
  case jitterLostAtMaximum
  /// Capped before jitter: a wait may be longer than the maximum, up to this.
  case waitBeyondMaximum(Duration)
  /// The first wait is longer than the maximum, which therefore takes its place.
  case initialBeyondMaximum
  /// The multiplier is below 1 and counts as 1.
  case multiplierBelowOne
  /// The jitter's factor is outside 0...1 and counts as the nearer end.
  case factorOutOfRange
  /// This status is both to be retried and to stop the call; it stops.
  case contradictoryStatus(Int)
  /// This status is retried, though no later attempt can do better: the request itself is at fault.
  case permanentStatusRetried(Int)
  /// There is one attempt only.
  case noRetry
  /// The time that an attempt must have left is not shorter than the deadline: none is retried, and the library makes none
  /// at all.
  case minimumAttemptTimeBeyondDeadline
  /// The last attempt is pulled forward to the last moment, and no time is kept for it to be made in.
  case noTimeForLastAttempt
  /// `Retry-After` is respected beyond the deadline, where it only ends the call.
  case retryAfterBeyondDeadline
  /// The attempts are over long before the deadline: their waits take this long at most.
  case attemptsEndEarly(after: Duration)

  /// A stable word for programs.
  public var code: StaticString {
    switch self {
    case .noJitter: "noJitter"
    case .unreachableAttempts: "unreachableAttempts"
    case .timeoutBeyondDeadline: "timeoutBeyondDeadline"
    case .unbounded: "unbounded"
    case .noWait: "noWait"
    case .jitterLostAtMaximum: "jitterLostAtMaximum"
    case .waitBeyondMaximum: "waitBeyondMaximum"
    case .initialBeyondMaximum: "initialBeyondMaximum"
    case .multiplierBelowOne: "multiplierBelowOne"
    case .factorOutOfRange: "factorOutOfRange"
    case .contradictoryStatus: "contradictoryStatus"
    case .permanentStatusRetried: "permanentStatusRetried"
    case .noRetry: "noRetry"
    case .minimumAttemptTimeBeyondDeadline: "minimumAttemptTimeBeyondDeadline"
    case .noTimeForLastAttempt: "noTimeForLastAttempt"
    case .retryAfterBeyondDeadline: "retryAfterBeyondDeadline"
    case .attemptsEndEarly: "attemptsEndEarly"
    }
  }

  /// A sentence for people.
  public var sentence: String {
    switch self {
    case .noJitter: "Waits are not spread: clients that fail together come back together."
    case .unreachableAttempts(let number): "The deadline leaves no time for attempt \(number) and those after it."
    case .timeoutBeyondDeadline: "One attempt may take longer than the whole call."
    case .unbounded: "Neither attempts nor time are bounded: a target that is gone is tried for ever."
    case .noWait: "Retries follow at once: a target that is down is hammered."
    case .jitterLostAtMaximum: "Waits are capped after jitter: at the maximum, clients fall into step."
    case .waitBeyondMaximum(let longest):
      "Waits are capped before jitter: one may take \(longest.wholeMicroseconds / 1000) ms."
    case .initialBeyondMaximum: "The first wait is longer than the maximum, which takes its place."
    case .multiplierBelowOne: "The multiplier is below 1 and counts as 1."
    case .factorOutOfRange: "The jitter's factor is outside 0 to 1 and counts as the nearer end."
    case .contradictoryStatus(let status): "Status \(status) is both to be retried and to stop the call; it stops."
    case .permanentStatusRetried(let status):
      "Status \(status) is retried, though it says that the request itself is at fault."
    case .noRetry: "There is one attempt only."
    case .minimumAttemptTimeBeyondDeadline: "An attempt must have more time left than there is: none is retried."
    case .noTimeForLastAttempt: "The last attempt is pulled forward, and no minimum time is kept for it."
    case .retryAfterBeyondDeadline: "Retry-After is respected beyond the deadline, where it only ends the call."
    case .attemptsEndEarly(let waits):
      "The attempts are used up after \(Self.text(waits)) of waiting, long before the deadline. A target that is down for "
        + "longer loses the call; without maxAttempts the whole deadline is used."
    }
  }

  private static func text(_ span: Duration) -> String {
    let milliseconds = span.wholeMicroseconds / 1000
    return milliseconds < 10_000 ? "\(milliseconds) ms" : "\(milliseconds / 1000) s"
  }
}
