internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import Synchronization

/// The breakers that let nothing, or only probes, through, kept from what the
/// engine gives notice of, so that a query can say what a call waits for
/// without asking the engine.
final class OpenBreakers: Sendable {
  /// By target, when it lets probes through; nil for one that does so now.
  private let breakers = Mutex<[String: Timestamp?]>([:])

  /// Notes those that an earlier process left open.
  func note(_ state: RecoveredState) {
    breakers.withLock { breakers in
      for (target, breaker) in state.breakers { breakers[target] = .some(breaker.until) }
    }
  }

  /// Notes a change.
  func note(_ notice: Notice) {
    switch notice {
    case .breakerOpened(let target, let until, _): breakers.withLock { $0[target] = .some(until) }
    case .breakerHalfOpen(let target): breakers.withLock { $0[target] = .some(nil) }
    case .breakerClosed(let target): _ = breakers.withLock { $0.removeValue(forKey: target) }
    default: break
    }
  }

  /// Why a call waits, and until when; nil when it does not wait.
  func wait(of call: CallRecord, at now: Timestamp) -> CallView.Wait? {
    guard call.progress.state.visible == .scheduled else { return nil }
    if call.progress.due > now, let reason = call.progress.waiting, reason != .breaker, reason != .concurrency {
      return CallView.Wait(reason: reason, until: call.progress.due)
    }
    let breaker = breakers.withLock { $0[call.spec.target] }
    guard let breaker else { return CallView.Wait(reason: .concurrency, until: nil) }
    return CallView.Wait(reason: .breaker, until: breaker.map { max($0, now) })
  }
}
