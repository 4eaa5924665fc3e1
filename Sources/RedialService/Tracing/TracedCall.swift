internal import RedialCore
internal import RedialModel
internal import RedialStore

/// A result of a call.
struct TracedEvent: Sendable {
  var call: CallID
  var progress: CallProgress
  /// The attempt that has ended, without its response; nil if the call ended without one.
  var attempt: AttemptRecord?
  /// The call's outline; nil if it must be read from the store.
  var subject: TracedCall?
}

/// The outline of a call.
struct TracedCall: Sendable {
  var kind: CallKind
  var outline: CallOutline
  var createdAt: Timestamp
  var context: TraceContext

  init(_ call: CallRecord, sampling: TraceSampling) {
    (kind, outline, createdAt) = (call.kind, CallOutline(call.spec), call.createdAt)
    context = TraceContext(of: call.id, call.spec, sampling: sampling)
  }

  /// - Returns: Nil if the store does not have the call: retention may have removed it already. A store that cannot
  ///   be read is reported by all other readers.
  init?(reading id: CallID, from reader: any CallReader, sampling: TraceSampling) {
    guard let call = try? reader.call(id, in: nil, allResponses: false)?.record else { return nil }
    self.init(call, sampling: sampling)
  }
}
