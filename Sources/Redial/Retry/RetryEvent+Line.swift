extension RetryEvent {
  /// The event as a line for a log.
  public var line: String {
    switch self {
    case .attemptStarted(let name, let number): "\(name): attempt \(number) begins"
    case .succeeded(let name, let attempts, let elapsed):
      "\(name): succeeded at attempt \(attempts) after \(elapsed.forPeople)"
    case .attemptFailed(let name, let number, let error, _): "\(name): attempt \(number) failed: \(error)"
    case .waiting(let name, let reason, let duration): "\(name): waits \(duration.forPeople) (\(reason))"
    case .gaveUp(let name, let error): "\(name): \(error)"
    case .cancelled(let name, let attempts): "\(name): cancelled after \(attempts) attempt\(attempts == 1 ? "" : "s")"
    case .hedged(let name, let run): "\(name): run \(run) begins beside those in flight"
    case .timedOut(let name, let limit): "\(name): cancelled the work after \(limit.forPeople)"
    case .refused(let name, let error): "\(name): \(error)"
    case .fellBack(let name, let error): "\(name): a value in place of an error: \(error)"
    case .breakerChanged(let name, let from, let to): "\(name): breaker \(from.word) → \(to.word)"
    }
  }
}

extension CircuitBreaker.State {
  /// The state as one word.
  public var word: String {
    switch self {
    case .closed: "closed"
    case .open: "open"
    case .halfOpen: "halfOpen"
    case .forced(.open): "forcedOpen"
    case .forced(.closed): "forcedClosed"
    case .forced(.disabled): "disabled"
    case .forced(.metricsOnly): "metricsOnly"
    }
  }
}
