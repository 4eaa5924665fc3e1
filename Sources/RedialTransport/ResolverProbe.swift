internal import Dispatch
internal import Glibc
internal import RedialCore
internal import Synchronization

/// Tells a name that does not exist from a resolver that does not work, which libcurl does not: it has one code for both.
///
/// A name in `invalid.` is one that never exists (RFC 6761 §6.4), and whoever resolves names can say so without asking
/// anybody. So a resolver that says anything else, or nothing in time, is down. Asking blocks, and has a thread of its own.
final class ResolverProbe: Sendable {
  /// How long an answer is valid.
  private static let memory = Duration.seconds(1)
  /// How long an answer may take: the one that is asked has nobody to ask.
  private static let patience = Duration.seconds(2)

  private struct State {
    var waiting: [@Sendable (Bool) -> Void] = []
    var last: (isUp: Bool, at: ContinuousClock.Instant)?
    /// The open question, and its number.
    var askedAt: ContinuousClock.Instant?
    var number = 0
  }

  private enum Turn {
    case known(Bool)
    case waits
    case asks(Int)
  }

  private let state = Mutex(State())
  private let question: @Sendable () -> Bool

  /// - Parameter question: Whether names can be resolved; it may block.
  init(question: @escaping @Sendable () -> Bool = ResolverProbe.isResolving) {
    self.question = question
  }

  /// Finds out whether names can be resolved, and tells it on any thread; at once when that is known.
  func ask(_ answer: @escaping @Sendable (_ isUp: Bool) -> Void) {
    let now = ContinuousClock.now
    let turn = state.withLock { state -> Turn in
      if let last = state.last, now - last.at < Self.memory { return .known(last.isUp) }
      // A question that got no answer in time may still be open: there is never another beside it.
      if let askedAt = state.askedAt, now - askedAt >= Self.patience { return .known(false) }
      state.waiting.append(answer)
      guard state.askedAt == nil else { return .waits }
      state.askedAt = now
      state.number += 1
      return .asks(state.number)
    }
    switch turn {
    case .known(let isUp): answer(isUp)
    case .waits: break
    case .asks(let number):
      let patience = DispatchTimeInterval.microseconds(Int(Self.patience.wholeMicroseconds))
      DispatchQueue.global().asyncAfter(deadline: .now() + patience) { self.giveUp(number) }
      DispatchQueue(label: "redial.resolver").async { self.tell(self.question()) }
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

  /// Whether the system's resolver knows that a name does not exist.
  @Sendable
  private static func isResolving() -> Bool {
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo("redial-probe.invalid.", nil, nil, &found)
    if let found { freeaddrinfo(found) }
    // A resolver that finds an address where none exists does answer; -5 is glibc's EAI_NODATA, for a name without
    // any.
    return code == 0 || code == EAI_NONAME || code == -5
  }
}
