package import RedialCore

/// What decides how fast attempts start, within the limits that were set.
package protocol Pacing {
  /// What a request in flight is known by.
  associatedtype Ticket

  /// When the next attempt may start; nil for at once.
  mutating func wait(at now: Timestamp) -> Timestamp?
  /// How many may be in flight, within `full`.
  mutating func concurrency(within full: Int) -> Int
  /// Whether another may be in flight beside so many, within `full`.
  mutating func hasRoom(beside inFlight: Int, within full: Int) -> Bool
  /// Counts an attempt that starts.
  mutating func start(at now: Timestamp) -> Ticket
  /// Counts its end.
  mutating func end(_ ticket: Ticket, _ sign: AdaptivePace.Sign, at now: Timestamp)
  /// The target's breaker has opened.
  mutating func suspend(at now: Timestamp)
  /// The target's breaker has closed.
  mutating func recover(at now: Timestamp)
  /// Whether a refusal at this time is about the load.
  func isDelivering(at now: Timestamp) -> Bool
}

extension AdaptivePace: Pacing {}

extension Pacing {
  package mutating func hasRoom(beside inFlight: Int, within full: Int) -> Bool { inFlight < concurrency(within: full) }
}

/// No pace besides the limits that were set.
package struct NoPace: Pacing {
  package init() {}
  package func wait(at now: Timestamp) -> Timestamp? { nil }
  package func concurrency(within full: Int) -> Int { full }
  package func start(at now: Timestamp) {}
  package func end(_ ticket: Void, _ sign: AdaptivePace.Sign, at now: Timestamp) {}
  package func suspend(at now: Timestamp) {}
  package func recover(at now: Timestamp) {}
  package func isDelivering(at now: Timestamp) -> Bool { false }
}
