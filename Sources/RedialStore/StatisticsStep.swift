package import RedialCore
internal import RedialModel

/// The length of the steps of statistics.
package enum StatisticsStep: Int64, Sendable, CaseIterable {
  case minute = 60
  case hour = 3600

  /// Its length, in microseconds.
  package var microseconds: Int64 { rawValue * 1_000_000 }

  /// How long such steps are kept, in microseconds: somewhat longer than any query needs them.
  package var kept: Int64 {
    switch self {
    case .minute: 2 * 3600 * 1_000_000
    case .hour: 8 * 86_400 * 1_000_000
    }
  }

  /// The start of the step that contains a time.
  package func start(of time: Timestamp) -> Timestamp {
    Timestamp(microseconds: time.microseconds / microseconds * microseconds)
  }
}
