/// The result of one attempt, as far as its sender can know.
///
/// The class says how far the request got, because only that decides whether it
/// may safely be sent again: a request that certainly was not sent may always be
/// repeated, one that may have been executed only if it is idempotent.
public enum OutcomeClass: UInt8, Sendable, Hashable, CaseIterable {
  /// A complete response was received; its status says the rest.
  case answered = 0
  /// The request provably never left: no address, no connection, no TLS session.
  case notSent = 1
  /// The request left in part or whole and no usable response came back.
  case maybeSent = 2
  /// The request can never succeed as it stands: a bad certificate, an unusable URL.
  case unusable = 3
  /// This side failed: no file descriptors, no memory. Not held against the target.
  case localFault = 4
  /// The process that ran the attempt died or was stopped before it ended. Not held against the target.
  case interrupted = 5
  /// The attempt was aborted because its call was cancelled.
  case cancelled = 6
  /// The egress policy refused the address; nothing was dialled. Not held against the target, and never retried.
  case blocked = 7
}
