internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// What protects a target, or the others from it.
///
/// The slots that a target earns (`SlotCredit`) have the same switch as `unprovenShare`.
enum Protection: String, CaseIterable {
  case pace, breaker, slowStart, targetShare, unprovenShare, newCallShare, retryAfterPause, retryBudget

  /// Those that are on by default.
  static let defaults = Set(allCases).subtracting([.retryBudget])

  /// The service's defaults, of all that protects only these.
  static func settings(_ protections: Set<Protection>) -> EngineSettings {
    var settings = EngineSettings(breaker: .service)
    settings.target.retriesPerSecond = 1
    for protection in allCases where !protections.contains(protection) { protection.switchOff(&settings) }
    return settings
  }

  private func switchOff(_ settings: inout EngineSettings) {
    switch self {
    case .pace: settings.target.pace = .fixed
    case .breaker:
      settings.target.breaker.consecutiveFailures = 0
      settings.target.breaker.failureRate = 2
    case .slowStart: settings.target.slowStart = .zero
    case .targetShare: settings.targetShare = 1
    case .unprovenShare: settings.unprovenShare = 1
    case .newCallShare: settings.target.newCallShare = 0
    case .retryAfterPause: settings.maxRetryAfterPause = .zero
    case .retryBudget: settings.target.retriesPerSecond = 0
    }
  }
}
