internal import RedialCore

/// What happens to calls, targets and webhook endpoints, by its name in the event stream, in webhooks and in callbacks.
public enum EventType: String, Sendable, Hashable, CaseIterable {
  /// A call was accepted.
  case callAccepted = "call.accepted"
  /// An attempt of a call has ended.
  case callAttempted = "call.attempted"
  case callSucceeded = "call.succeeded"
  /// A call failed, for any reason except an open breaker.
  case callFailed = "call.failed"
  /// A call failed because its target's breaker was open and its policy says not to wait.
  case callTripped = "call.tripped"
  /// A client cancelled a call.
  case callCancelled = "call.cancelled"
  /// A target's breaker opened.
  case targetOpened = "target.opened"
  /// A target's breaker became half-open.
  case targetHalfOpened = "target.halfOpened"
  /// A target's breaker closed.
  case targetClosed = "target.closed"
  /// A target is down: its breaker has opened, and that is not part of an outage that is known.
  case targetDown = "target.down"
  /// A target's outage is over.
  case targetRecovered = "target.recovered"
  /// An operator has paused, resumed, set, tripped, reset or released a target.
  case targetControlled = "target.controlled"
  /// A webhook endpoint was disabled because it failed for too long.
  case endpointDisabled = "endpoint.disabled"
  /// A client tests its webhook endpoint, which is the only one that gets this.
  case webhookTest = "webhook.test"
  /// An alert reports an issue. Only where the alert leads gets this.
  case alertOpened = "alert.opened"
  /// What an alert has reported is over.
  case alertEnded = "alert.ended"
  /// The content of a call was erased: instances send it to each other, so that none keeps the content in its events.
  case callErased = "call.erased"

  /// What the event stream shows to clients.
  public static let streamed = allCases.filter {
    ![.webhookTest, .alertOpened, .alertEnded, .callErased].contains($0)
  }
  /// What webhook endpoints can subscribe to.
  public static let subscribable = streamed.filter { $0 != .callAccepted && $0 != .callAttempted }
  /// What the callback of a call can report.
  public static let ofCallbacks: [EventType] = [.callSucceeded, .callFailed, .callTripped]

  /// How a call has ended; nil if it has not.
  public init?(endOf progress: CallProgress) {
    switch progress.state {
    case .succeeded: self = .callSucceeded
    case .cancelled: self = .callCancelled
    case .failed: self = progress.failure == .tripped ? .callTripped : .callFailed
    case .scheduled, .queued, .held, .running: return nil
    }
  }
}
