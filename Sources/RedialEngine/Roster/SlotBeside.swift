internal import RedialCore
internal import RedialModel

/// The slot that a target gets beside those that it can have, while these are taken by attempts that hang.
///
/// What hangs keeps all slots that a target gets until its timeout, and may be of one caller (``CallSpec/callers``). So one
/// attempt of a caller that has none in flight may start beside them, and once it has been answered the next. One that hangs,
/// too, holds no other for longer than ``patience``.
struct SlotBeside: Sendable {
  /// Whether the target has wanted more slots than it gets while it answered nothing for a while, since it last had no attempt
  /// in flight.
  private(set) var isShort = false
  /// Due calls of callers that have none in flight.
  var calls = CallsAhead()
  /// The call that has the slot, and since when.
  private var taken: (call: CallID, since: Timestamp)?

  /// How long an attempt has the slot alone if it gets no answer.
  static let patience = Duration.seconds(2)
  /// The part of the pool that must be left: the last slots are for targets that have none.
  static let leastOfPool = 0.125

  /// The target wants more slots than it gets. Returns from when on it may have this one.
  ///
  /// - Parameter answeredAt: When it last answered.
  mutating func lack(answeredAt: Timestamp, at now: Timestamp) -> Timestamp {
    guard isShort || now >= answeredAt + Self.patience else { return answeredAt + Self.patience }
    isShort = true
    return taken.map { $0.since + Self.patience } ?? now
  }

  /// An attempt starts on it.
  mutating func take(_ call: CallID, at now: Timestamp) { taken = (call, now) }

  /// An attempt has ended.
  ///
  /// - Parameter isLast: Whether the target has none in flight any more.
  mutating func end(_ call: CallID, isLast: Bool) {
    if taken?.call == call { taken = nil }
    if isLast { (isShort, calls) = (false, CallsAhead()) }
  }
}
