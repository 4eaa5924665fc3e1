import Redial

/// Stands in for stations that one reaches over a bad line.
actor StationNetwork {
  private struct Station {
    var temperature: Int
    /// How many questions fail before the first answer.
    var failures: Int
  }

  private var stations = [
    "Bergen": Station(temperature: 9, failures: 0),
    "Oslo": Station(temperature: 4, failures: 2),
    "Svalbard": Station(temperature: -12, failures: .max),
  ]

  /// Asks a station once.
  func ask(_ name: String) throws(StationFailure) -> Int {
    guard let station = stations[name] else { throw .unknownStation }
    guard station.failures == 0 else {
      stations[name]?.failures -= 1
      throw .noConnection
    }
    return station.temperature
  }
}

/// Why a station gave no answer.
enum StationFailure: RetryOutcomeProviding {
  /// The question never reached it.
  case noConnection
  /// There is no such station.
  case unknownStation

  var retryOutcome: AttemptOutcome {
    switch self {
    case .noConnection: .notSent
    case .unknownStation: .unusable
    }
  }
}
