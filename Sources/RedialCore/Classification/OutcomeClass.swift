/// The result of one attempt, as far as its sender can know.
///
/// The class says how far the request got, because that decides whether it may safely be sent again: a request that
/// certainly was not sent may always be repeated, one that may have been executed only if it is idempotent.
public enum OutcomeClass: UInt8, Sendable, Hashable, CaseIterable {
  /// A complete response was received; its status says the rest.
  case answered = 0
  /// The request was certainly not sent: no address, no connection, no TLS session.
  case notSent = 1
  /// The request was sent, partly or whole, and no usable response was received.
  case maybeSent = 2
  /// The request can never succeed: a bad certificate, an unusable URL.
  case unusable = 3
  /// This side failed: no file descriptors, no memory. It does not count against the target.
  case localFault = 4
  /// The process that ran the attempt died or was stopped before it ended. It does not count against the target.
  case interrupted = 5
  /// The attempt was aborted because its call was cancelled.
  case cancelled = 6
  /// The egress policy refused the address; nothing was dialled. It does not count against the target, and is never
  /// retried.
  case blocked = 7
}
