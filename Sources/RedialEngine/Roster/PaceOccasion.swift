internal import RedialCore
internal import RedialModel

/// An occasion to save what a target's pace has learned. A row for each change of the rate would cost more than it is
/// worth.
enum PaceOccasion: Sendable {
  /// An attempt has ended: saved if the limit is new or lifted, and every ten seconds while there is one.
  case attempt
  /// The breaker has opened or closed, or the target is about to get another owner: saved if anything is known.
  case change

  /// Whether to save this, after what was saved before.
  func isDue(_ new: SavedPace, after old: SavedPace?) -> Bool {
    let wasLimited = old?.isLimited ?? false
    if new.isLimited != wasLimited { return true }
    switch self {
    case .attempt: return new.isLimited && (old.map { new.at - $0.at >= Self.interval } ?? true)
    case .change: return new.delivered > 0 || new.isLimited
    }
  }

  /// The least time between two saves while there is a limit.
  static let interval = Duration.seconds(10)
}
