internal import Dispatch
internal import Glibc
internal import RedialCore
internal import Synchronization

/// What this side needs on the way to a target, and what may be at fault in its place.
enum Helper: Sendable {
  case resolver, proxy
}

/// Distinguishes a target that is at fault from a helper that does not work, for which libcurl has only one code.
///
/// A name in `invalid.` never exists (RFC 6761 §6.4), and any resolver can say so without asking another, and any proxy. So
/// one that says nothing in time does not work. The question blocks, and has a thread of its own.
final class HelperProbe: Sendable {
  /// How long an answer is valid.
  private let memory: Duration
  /// The timeout of an answer.
  private let patience: Duration

  private struct State {
    var waiting: [@Sendable (Bool) -> Void] = []
    var last: (isUp: Bool, at: ContinuousClock.Instant)?
    /// The current question and its number.
    var askedAt: ContinuousClock.Instant?
    var number = 0
  }

  private enum Step {
    case known(Bool)
    case waits
    case asks(Int)
  }

  private let state = Mutex(State())
  private let question: @Sendable () -> Bool

  /// - Parameter question: Whether the helper works; it may block.
  init(
    memory: Duration = .seconds(1), patience: Duration = .seconds(2),
    question: @escaping @Sendable () -> Bool = HelperProbe.isResolving
  ) {
    (self.memory, self.patience) = (memory, patience)
    self.question = question
  }

  /// Finds out whether the helper works, and calls back on any thread; at once if that is known.
  func ask(_ answer: @escaping @Sendable (_ isUp: Bool) -> Void) {
    let now = ContinuousClock.now
    let step = state.withLock { state -> Step in
      if let last = state.last, now - last.at < memory { return .known(last.isUp) }
      // A question without an answer in time may still be running: there is never another beside it.
      if let askedAt = state.askedAt, now - askedAt >= patience { return .known(false) }
      state.waiting.append(answer)
      guard state.askedAt == nil else { return .waits }
      state.askedAt = now
      state.number += 1
      return .asks(state.number)
    }
    switch step {
    case .known(let isUp): answer(isUp)
    case .waits: break
    case .asks(let number):
      let patience = DispatchTimeInterval.microseconds(Int(self.patience.wholeMicroseconds))
      DispatchQueue.global().asyncAfter(deadline: .now() + patience) { self.giveUp(number) }
      DispatchQueue(label: "redial.helper").async { self.tell(self.question()) }
    }
  }

  private func tell(_ isUp: Bool) {
    let waiting = state.withLock { state in
      state.askedAt = nil
      state.last = (isUp, ContinuousClock.now)
      defer { state.waiting = [] }
      return state.waiting
    }
    for answer in waiting { answer(isUp) }
  }

  private func giveUp(_ number: Int) {
    let waiting = state.withLock { state -> [@Sendable (Bool) -> Void] in
      guard state.askedAt != nil, state.number == number else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for answer in waiting { answer(false) }
  }

  /// Whether the system's resolver answers that a name does not exist.
  @Sendable
  private static func isResolving() -> Bool {
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo("redial-probe.invalid.", nil, nil, &found)
    if let found { freeaddrinfo(found) }
    // A resolver that returns an address for such a name works too; -5 is glibc's EAI_NODATA, for a name without
    // addresses.
    return code == 0 || code == EAI_NONAME || code == -5
  }
}
