public import Foundation

/// A target as the service sees it at one moment.
public struct RedialTarget: Sendable, Hashable, Identifiable, Decodable {
  /// Its key: a URL's origin, or the name that calls use.
  public var key: String
  /// Its circuit breaker.
  public var breaker: Breaker
  /// Attempts in flight.
  public var inFlight: Int
  /// Due calls that wait for it.
  public var waiting: Int
  /// The same as ``key``.
  public var id: String { key }

  /// A target's circuit breaker.
  public struct Breaker: Sendable, Hashable {
    /// Its state.
    public var state: State
    /// When it becomes half-open; nil unless it is open.
    public var openUntil: Date?
    /// Openings since it last closed.
    public var trips: Int
    /// Failures in a row.
    public var consecutiveFailures: Int

    /// The state of a breaker.
    public struct State: RedialWord {
      /// The word.
      public let rawValue: String
      /// A state with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// Calls pass.
      public static let closed = State(rawValue: "closed")
      /// No call passes.
      public static let open = State(rawValue: "open")
      /// Probes pass.
      public static let halfOpen = State(rawValue: "halfOpen")
    }
  }
}

extension RedialTarget.Breaker: Decodable {
  private enum Key: String, CodingKey {
    case state, openUntil, trips, consecutiveFailures
  }

  /// Reads a breaker from the service's JSON.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    state = try members.decode(State.self, forKey: .state)
    openUntil = try members.timeIfPresent(forKey: .openUntil)
    trips = try members.decode(Int.self, forKey: .trips)
    consecutiveFailures = try members.decode(Int.self, forKey: .consecutiveFailures)
  }
}
