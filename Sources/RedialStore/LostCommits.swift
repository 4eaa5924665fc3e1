package import RedialCore

/// Commits that a database had made and does not have any more: a server without them has taken over.
///
/// The store keeps the last such loss as a setting, so that all instances and `redial doctor` learn of it.
package struct LostCommits: Sendable, Hashable {
  package static let settingName = "lostCommits"
  /// How long it is shown.
  package static let shownFor = Duration.seconds(7 * 86_400)

  /// The numbers of the last commits, of all ledgers that went back: those that an instance knew, and those that the server has.
  package let made: Int64
  package let found: Int64
  package let at: Timestamp
  /// When the server was started, in microseconds since 1970: by this one server is known from another.
  package let server: Int64

  package init(made: Int64, found: Int64, at time: Timestamp, server: Int64) {
    (self.made, self.found, self.at, self.server) = (made, found, time, server)
  }

  /// Reads the setting; nil if it is none.
  package init?(_ text: String) {
    let numbers = text.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }), numbers[1] <= numbers[0] else { return nil }
    self.init(made: numbers[0], found: numbers[1], at: Timestamp(microseconds: numbers[2]), server: numbers[3])
  }

  /// The setting.
  package var text: String { "\(made) \(found) \(at.microseconds) \(server)" }

  package var count: Int64 { made - found }

  /// Whether it is still shown.
  package func isShown(at now: Timestamp) -> Bool { now - at < Self.shownFor }
}
