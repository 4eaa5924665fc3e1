public import Foundation

extension RedialCall {
  /// A retry that somebody asked for; see ``RedialClient/retry(_:by:reason:)``.
  public struct ManualRetry: Sendable, Hashable {
    /// When.
    public var at: Date
    /// How many attempts had begun before it.
    public var afterAttempt: Int
    /// Who wanted it; nil if that was not said.
    public var by: String?
    /// Why; nil if that was not said.
    public var reason: String?
  }
}

extension RedialCall.ManualRetry: Codable {
  private enum Key: String, CodingKey {
    case at, afterAttempt, by, reason
  }

  /// Reads a retry from the service's JSON.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    at = try members.time(forKey: .at)
    afterAttempt = try members.decode(Int.self, forKey: .afterAttempt)
    by = try members.decodeIfPresent(String.self, forKey: .by)
    reason = try members.decodeIfPresent(String.self, forKey: .reason)
  }

  /// Writes the retry as the service does.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(WireTime.text(at), forKey: .at)
    try members.encode(afterAttempt, forKey: .afterAttempt)
    try members.encode(by, forKey: .by)
    try members.encode(reason, forKey: .reason)
  }
}
