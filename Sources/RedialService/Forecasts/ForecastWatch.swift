internal import Dispatch
internal import RedialCore
internal import RedialEngine
internal import RedialForecast
internal import RedialModel
internal import Synchronization

/// Learns how right forecasts are: it makes one when a target with a backlog works again or is limited by its pace, and
/// compares it with the time that the backlog takes.
final class ForecastWatch: Sendable {
  private struct State: Sendable {
    var log = ForecastLog()
    /// Targets for which a forecast may be made.
    var candidates: Set<TargetKey> = []
    /// Errors as shares of the time that it took.
    var errors = Histogram(bounds: [0.05, 0.1, 0.25, 0.5, 1, 2, 5])
    var isStopped = false
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "redial.forecasts", qos: .utility)

  /// How often targets are looked at.
  private static let interval = DispatchTimeInterval.seconds(1)
  /// The maximum number of candidates; those beyond it get no forecast.
  private static let mostCandidates = 64

  /// Calls a closure at intervals with the targets to look at, if there are any.
  func start(_ look: @escaping @Sendable ([TargetKey]) -> Void) {
    queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
      guard let self else { return }
      let (isStopped, targets) = state.withLock {
        ($0.isStopped, $0.candidates.union($0.log.targets).sorted())
      }
      if isStopped { return }
      if !targets.isEmpty { look(targets) }
      start(look)
    }
  }

  /// Ends the calls.
  func stop() {
    state.withLock { $0.isStopped = true }
  }

  /// A target works again, or its pace has a limit.
  func heed(_ notice: Notice) {
    switch notice {
    case .breakerClosed(let target): addCandidate(target)
    case .targetStands(let target, let standing) where standing.isPaced: addCandidate(target)
    default: break
    }
  }

  private func addCandidate(_ target: TargetKey) {
    state.withLock { state in
      if state.candidates.count < Self.mostCandidates { state.candidates.insert(target) }
    }
  }

  /// The targets as they are now. Returns those for which a forecast is to be made.
  ///
  /// - Parameter asked: The targets that were asked for; those that are missing are not known any more.
  func look(at targets: [TargetSnapshot], of asked: [TargetKey], at now: Timestamp) -> [TargetKey] {
    state.withLock { state in
      var due: [TargetKey] = []
      for key in Set(asked).subtracting(targets.map(\.key)) {
        state.candidates.remove(key)
        state.log.forget(key)
      }
      for target in targets {
        if let judged = state.log.observe(target, at: now) { state.errors.record(abs(judged.error)) }
        guard state.candidates.contains(target.key) else { continue }
        if state.log.isDue(target, at: now) {
          state.log.begin(target.key, at: now)
          due.append(target.key)
        }
        let isOver = target.breaker == .closed && target.pace?.rate == nil
        if isOver || target.breaker == .open { state.candidates.remove(target.key) }
      }
      return due
    }
  }

  /// A forecast was made.
  func add(_ forecast: TargetForecast) {
    guard let drainsIn = forecast.result?.drainsIn else { return }
    state.withLock {
      $0.log.add(
        forecast.target.key, drainsIn: drainsIn, ordinary: forecast.load.ordinary, madeAt: forecast.load.now)
    }
  }

  /// How right the last forecasts for a target were.
  func accuracy(of target: TargetKey) -> ForecastAccuracy { state.withLock { $0.log.accuracy(of: target) } }

  /// The metrics.
  var family: MetricFamily {
    MetricFamily(
      "redial_forecast_error_ratio",
      "Error of forecasts of when a backlog is drained, as a share of the time that it took.",
      state.withLock { $0.errors.figures })
  }
}
