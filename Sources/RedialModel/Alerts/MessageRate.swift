public import RedialCore

/// How many messages the destinations of alerts get: a chat that is flooded is read by nobody, and refuses more.
public struct MessageRate: Sendable {
  /// The most messages of a destination within ``time``.
  public static let most = 30
  public static let time = Duration.seconds(60)

  private var sent: [String: [Timestamp]] = [:]

  /// Nothing was sent.
  public init() {}

  /// Whether a message may be sent to a destination, which then counts as sent.
  public mutating func take(_ destination: String, at now: Timestamp) -> Bool {
    var recent = sent[destination, default: []].filter { Self.isRecent($0, at: now) }
    let isFree = recent.count < Self.most
    if isFree { recent.append(now) }
    sent[destination] = recent
    return isFree
  }

  /// Forgets destinations that were given none lately.
  public mutating func forgetOld(at now: Timestamp) {
    sent = sent.filter { $0.value.contains { Self.isRecent($0, at: now) } }
  }

  /// Not if the clock was ahead then.
  private static func isRecent(_ time: Timestamp, at now: Timestamp) -> Bool { time <= now && now - time < Self.time }
}
