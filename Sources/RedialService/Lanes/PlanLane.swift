internal import Dispatch
internal import RedialModel
internal import Synchronization

/// The thread for work that only computes: previews of policies and dry runs. They read nothing from the store, and may take
/// a tenth of a second each. On the query lanes, lists and long polls would wait behind them.
///
/// Each API key has a queue of its own, and the queues are served in rotation, so that a key with many requests delays only itself.
final class PlanLane: Sendable {
  /// Why a plan is not made.
  enum Refusal: Sendable {
    /// The key has its maximum number of waiting plans.
    case keyIsFull
    /// All keys together have their maximum.
    case isFull
  }

  private struct State: Sendable {
    var waiting: [Caller.Admission: [@Sendable () -> Void]] = [:]
    /// The keys with waiting plans, the next one first.
    var rotation: [Caller.Admission] = []
    var count = 0
    var isRunning = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "redial.plans", qos: .utility)
  private let maxPerKey: Int
  private let maxWaiting: Int

  /// - Parameters:
  ///   - maxPerKey: How many plans of one key may wait, 1 or more. Without API keys there is one queue for all.
  ///   - maxWaiting: How many may wait in all, 1 or more.
  init(maxPerKey: Int = 16, maxWaiting: Int = 256) {
    self.maxPerKey = maxPerKey
    self.maxWaiting = maxWaiting
  }

  /// Makes a plan when its key is next.
  ///
  /// - Returns: Nil, or why it is never made.
  func run(for key: Caller.Admission, _ plan: @escaping @Sendable () -> Void) -> Refusal? {
    let (refusal, starts) = state.withLock { state -> (Refusal?, Bool) in
      guard state.waiting[key]?.count ?? 0 < maxPerKey else { return (.keyIsFull, false) }
      guard state.count < maxWaiting else { return (.isFull, false) }
      if state.waiting[key] == nil { state.rotation.append(key) }
      state.waiting[key, default: []].append(plan)
      state.count += 1
      defer { state.isRunning = true }
      return (nil, !state.isRunning)
    }
    if starts { queue.async { self.work() } }
    return refusal
  }

  private func work() {
    while let plan = next() { plan() }
  }

  /// The next plan, of the next key in the rotation; nil if none waits.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.rotation.isEmpty else {
        state.isRunning = false
        return nil
      }
      let key = state.rotation.removeFirst()
      guard var jobs = state.waiting.removeValue(forKey: key), !jobs.isEmpty else { return nil }
      let plan = jobs.removeFirst()
      state.count -= 1
      if !jobs.isEmpty {
        state.waiting[key] = jobs
        state.rotation.append(key)
      }
      return plan
    }
  }
}

extension PlanLane.Refusal {
  /// The problem for the client.
  var problem: Problem {
    switch self {
    case .keyIsFull:
      Problem(
        .tooManyPreviews,
        detail: "The maximum of previews and dry runs of this API key is waiting. Wait for their answers first.",
        retryAfter: 1)
    case .isFull:
      Problem(
        .previewsFull,
        detail: "The maximum of previews and dry runs is waiting. Try again in a moment.", retryAfter: 2)
    }
  }
}
