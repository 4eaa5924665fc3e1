/// A part of a policy that is allowed but is rarely intended.
public enum PolicyWarning: Sendable, Hashable {
  /// There is no jitter: calls that fail together retry together.
  case noJitter
  /// The deadline passes before the attempt with this number can begin.
  case unreachableAttempts(from: Int)
  /// One attempt may take longer than the whole call.
  case timeoutBeyondDeadline
  /// Neither attempts nor time have a limit: a call to a target that no longer exists is retried forever.
  case unbounded
  /// Retries do not wait: a target that is down receives all of them at once.
  case noWait
  /// The maximum is applied after the jitter, so many waits are exactly the maximum and calls retry together.
  case jitterLostAtMaximum
  /// The maximum is applied before the jitter, so a wait may be longer than the maximum, up to this.
  case waitBeyondMaximum(Duration)
  /// The first wait is longer than the maximum, so it is shortened to the maximum.
  case initialBeyondMaximum
  /// The multiplier is below 1, so 1 is used.
  case multiplierBelowOne
  /// The jitter's factor is outside 0...1, so the nearest value in that range is used.
  case factorOutOfRange
  /// This status is listed both as retried and as final; it counts as final.
  case contradictoryStatus(Int)
  /// This status is retried, although it says that the request is wrong and a retry cannot succeed.
  case permanentStatusRetried(Int)
  /// There is only one attempt.
  case noRetry
  /// The minimum time for an attempt is not shorter than the deadline: the service does not retry, and the library makes
  /// no attempt at all.
  case minimumAttemptTimeBeyondDeadline
  /// The last attempt is moved forward to just before the deadline, and no minimum time is reserved for it.
  case noTimeForLastAttempt
  /// A `Retry-After` beyond the deadline is followed, which ends the call.
  case retryAfterBeyondDeadline
  /// The attempts are used up long before the deadline: all waits together take this long at most.
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
    case .minimumAttemptTimeBeyondDeadline: "minAttemptTimeBeyondDeadline"
    case .noTimeForLastAttempt: "noTimeForLastAttempt"
    case .retryAfterBeyondDeadline: "retryAfterBeyondDeadline"
    case .attemptsEndEarly: "attemptsEndEarly"
    }
  }

  /// A sentence for people.
  public var sentence: String {
    switch self {
    case .noJitter: "There is no jitter: calls that fail together retry together."
    case .unreachableAttempts(let number): "The deadline passes before attempt \(number) can begin."
    case .timeoutBeyondDeadline: "One attempt may take longer than the whole call."
    case .unbounded:
      "Neither attempts nor time have a limit: a call to a target that no longer exists is retried forever."
    case .noWait: "Retries do not wait: a target that is down receives all of them at once."
    case .jitterLostAtMaximum:
      "The maximum is applied after the jitter: many waits are exactly the maximum, and calls retry together."
    case .waitBeyondMaximum(let longest):
      "The maximum is applied before the jitter: a wait may be up to \(longest.wholeMicroseconds / 1000) ms."
    case .initialBeyondMaximum: "The first wait is longer than the maximum, so it is shortened to the maximum."
    case .multiplierBelowOne: "The multiplier is below 1, so 1 is used."
    case .factorOutOfRange: "The jitter's factor is outside 0 to 1, so the nearest of these is used."
    case .contradictoryStatus(let status):
      "Status \(status) is listed both as retried and as final; it counts as final."
    case .permanentStatusRetried(let status):
      "Status \(status) is retried, although it says that the request is wrong and a retry cannot succeed."
    case .noRetry: "There is only one attempt, so nothing is retried."
    case .minimumAttemptTimeBeyondDeadline:
      "The minimum time for an attempt is not shorter than the deadline, so nothing is retried."
    case .noTimeForLastAttempt:
      "The last attempt is moved forward to just before the deadline, and no minimum time is reserved for it."
    case .retryAfterBeyondDeadline:
      "A Retry-After beyond the deadline is followed, which ends the call."
    case .attemptsEndEarly(let waits):
      "The attempts are used up after \(Self.text(waits)) of waiting, long before the deadline. A target that is down for "
        + "longer loses the call; without maxAttempts the whole deadline is used."
    }
  }

  private static func text(_ duration: Duration) -> String {
    let milliseconds = duration.wholeMicroseconds / 1000
    return milliseconds < 10_000 ? "\(milliseconds) ms" : "\(milliseconds / 1000) s"
  }
}
