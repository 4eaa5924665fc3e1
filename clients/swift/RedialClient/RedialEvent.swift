public import Foundation

/// An event of the service, as in the event stream and in webhooks.
public struct RedialEvent: Sendable, Hashable {
  /// Its id: that of the event in the stream, or that of the webhook. A webhook that arrives twice has one id.
  public var id: String
  /// The kind of event.
  public var type: Kind
  /// Its time; for a ``Kind/reset`` when that was sent.
  public var timestamp: Date
  /// Its subject.
  public var subject: Subject
  /// The attempt that has ended; only for ``Kind/callAttempted``.
  public var attempt: RedialCallAttempt?

  /// The kind of an event.
  public struct Kind: RedialWord {
    /// The word.
    public let rawValue: String
    /// A kind with that word.
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
    /// A client has cancelled a call.
    public static let callCancelled = Kind(rawValue: "call.cancelled")
    /// A target's breaker has opened.
    public static let targetOpened = Kind(rawValue: "target.opened")
    /// A target's breaker has become half-open.
    public static let targetHalfOpened = Kind(rawValue: "target.halfOpened")
    /// A target's breaker has closed.
    public static let targetClosed = Kind(rawValue: "target.closed")
    /// A target is down: its outage begins.
    public static let targetDown = Kind(rawValue: "target.down")
    /// A target's outage is over.
    public static let targetRecovered = Kind(rawValue: "target.recovered")
    /// An operator has paused, resumed, set, tripped, reset or released a target.
    public static let targetControlled = Kind(rawValue: "target.controlled")
    /// A webhook endpoint gets no more webhooks.
    public static let endpointDisabled = Kind(rawValue: "endpoint.disabled")
    /// Events were missed: read your data again.
    public static let reset = Kind(rawValue: "reset")
  }

  /// The subject of an event.
  public enum Subject: Sendable, Hashable {
    /// A call, as lists show it; a webhook also has its attempts.
    case call(RedialCall)
    /// A target by its key, with the state of its breaker and when that becomes half-open.
    case target(key: String, state: RedialAPI.Target.Breaker.State, openUntil: Date?)
    /// A webhook endpoint by its id, its URL, and why it is disabled: `byRequest`, `failing` or `gone`.
    case endpoint(id: String, url: String, disabledReason: String?)
    /// Why events were missed: `restarted`, `tooOld`, `tooSlow`, `overflow`, `storeUnavailable` or `instanceChanged`.
    case reset(reason: String)
    /// A subject that this version does not know.
    case other
  }

  /// The call of the event; nil if it has another subject.
  public var call: RedialCall? { if case .call(let call) = subject { call } else { nil } }
}

extension RedialEvent {
  /// Reads an event from the service's JSON.
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
    private enum EndpointKey: String, CodingKey { case id, url, disabledReason }

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
          state: try breaker.decode(RedialAPI.Target.Breaker.State.self, forKey: .state),
          openUntil: try breaker.timeIfPresent(forKey: .openUntil))
      } else if type.rawValue.hasPrefix("endpoint.") {
        let endpoint = try members.nestedContainer(keyedBy: EndpointKey.self, forKey: .data)
        subject = .endpoint(
          id: try endpoint.decode(String.self, forKey: .id), url: try endpoint.decode(String.self, forKey: .url),
          disabledReason: try endpoint.decodeIfPresent(String.self, forKey: .disabledReason))
      } else if type == .reset {
        let reset = try members.nestedContainer(keyedBy: TargetKey.self, forKey: .data)
        subject = .reset(reason: try reset.decode(String.self, forKey: .reason))
      } else {
        subject = .other
      }
    }
  }
}
