public import Foundation

/// Something that has happened at the service, as in the event stream and in webhooks.
public struct RedialEvent: Sendable, Hashable {
  /// Its id: that of the event in the stream, or that of the webhook. A webhook that comes twice has one id.
  public var id: String
  /// What has happened.
  public var type: Kind
  /// When; for a ``Kind/reset`` when it was said.
  public var timestamp: Date
  /// To what.
  public var subject: Subject
  /// The attempt that has ended; only of ``Kind/callAttempted``.
  public var attempt: RedialCallAttempt?

  /// What has happened.
  public struct Kind: RedialWord {
    /// The word.
    public let rawValue: String
    /// A kind of that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A call was accepted.
    public static let callAccepted = Kind(rawValue: "call.accepted")
    /// An attempt has ended.
    public static let callAttempted = Kind(rawValue: "call.attempted")
    /// A call has succeeded.
    public static let callSucceeded = Kind(rawValue: "call.succeeded")
    /// A call has failed.
    public static let callFailed = Kind(rawValue: "call.failed")
    /// A call has failed because its target's breaker was open.
    public static let callTripped = Kind(rawValue: "call.tripped")
    /// Somebody has cancelled a call.
    public static let callCancelled = Kind(rawValue: "call.cancelled")
    /// A target's breaker has opened.
    public static let targetOpened = Kind(rawValue: "target.opened")
    /// A target's breaker lets probes through.
    public static let targetHalfOpened = Kind(rawValue: "target.halfOpened")
    /// A target's breaker has closed.
    public static let targetClosed = Kind(rawValue: "target.closed")
    /// Events were missed: read anew what you keep.
    public static let reset = Kind(rawValue: "reset")
  }

  /// What an event is about.
  public enum Subject: Sendable, Hashable {
    /// A call, as lists show it; a webhook has its attempts, too.
    case call(RedialCall)
    /// A target by its key, with the state of its breaker and when that lets probes through.
    case target(key: String, state: RedialTarget.Breaker.State, openUntil: Date?)
    /// Why events were missed: `restarted`, `tooOld`, `tooSlow` or `overflow`.
    case reset(reason: String)
    /// Something that this version does not know.
    case other
  }

  /// The call that it is about; nil when it is about something else.
  public var call: RedialCall? { if case .call(let call) = subject { call } else { nil } }
}

extension RedialEvent {
  /// Reads an event of the service's JSON.
  init(id: String, json: Data) throws {
    let document = try JSONDecoder().decode(Document.self, from: json)
    self.init(
      id: id, type: document.type, timestamp: document.timestamp, subject: document.subject, attempt: document.attempt)
  }

  private struct Document: Decodable {
    var type: Kind
    var timestamp: Date
    var subject: Subject
    var attempt: RedialCallAttempt?

    private enum Key: String, CodingKey { case type, timestamp, data, attempt }
    private enum TargetKey: String, CodingKey { case key, breaker, state, openUntil, reason }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Key.self)
      type = try members.decode(Kind.self, forKey: .type)
      timestamp = try members.time(forKey: .timestamp)
      attempt = try members.decodeIfPresent(RedialCallAttempt.self, forKey: .attempt)
      if type.rawValue.hasPrefix("call.") {
        subject = .call(try members.decode(RedialCall.self, forKey: .data))
      } else if type.rawValue.hasPrefix("target.") {
        let target = try members.nestedContainer(keyedBy: TargetKey.self, forKey: .data)
        let breaker = try target.nestedContainer(keyedBy: TargetKey.self, forKey: .breaker)
        subject = .target(
          key: try target.decode(String.self, forKey: .key),
          state: try breaker.decode(RedialTarget.Breaker.State.self, forKey: .state),
          openUntil: try breaker.timeIfPresent(forKey: .openUntil))
      } else if type == .reset {
        let reset = try members.nestedContainer(keyedBy: TargetKey.self, forKey: .data)
        subject = .reset(reason: try reset.decode(String.self, forKey: .reason))
      } else {
        subject = .other
      }
    }
  }
}
