internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// What protects a target, or the others from it, by default.
enum Protection: String, CaseIterable {
  case pace, breaker, slowStart, targetShare, unprovenShare, newCallShare

  /// The service's defaults, of all that protects only these.
  static func settings(_ protections: Set<Protection>) -> EngineSettings {
    var settings = EngineSettings(breaker: .service)
    for protection in allCases where !protections.contains(protection) { protection.turnOff(&settings) }
    return settings
  }

  private func turnOff(_ settings: inout EngineSettings) {
    switch self {
    case .pace: settings.pace = .fixed
    case .breaker:
      settings.breaker.consecutiveFailures = 0
      settings.breaker.failureRate = 2
    case .slowStart: settings.slowStart = .zero
    case .targetShare: settings.targetShare = 1
    case .unprovenShare: settings.unprovenShare = 1
    case .newCallShare: settings.newCallShare = 0
    }
  }
}
