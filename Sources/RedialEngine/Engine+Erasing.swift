internal import RedialCore
internal import RedialModel

/// What is done to calls that have ended, and to no others.
extension Engine {
  /// Erases the payloads of an ended call, and its labels if that is wanted; it cannot be run again afterwards.
  mutating func erase(_ ended: CallRecord, _ operation: Operation) {
    let keepingLabels = !operation.erasesLabels
    if !ended.spec.isErased(keepingLabels: keepingLabels) {
      writes.append(.erase(ended.id, ended.spec.erased(at: now, keepingLabels: keepingLabels)))
      outdateFetches(of: ended.id)
    }
    done(operation)
  }

  /// Removes an ended call, with everything that is known of it.
  mutating func purge(_ ended: CallRecord, _ operation: Operation) {
    writes.append(.discard(ended.id))
    outdateFetches(of: ended.id)
    done(operation)
  }

  /// The call that an operation is about cannot be understood: all that can be done with it is to remove it.
  mutating func fetchedDamaged(_ operation: Operation, hasEnded: Bool, _ message: String) {
    let isOutdated = endFetch(of: operation.id)
    if isOutdated || calls[operation.id]?.record.spec.namespace == operation.namespace { return operate(operation) }
    if let trouble { return refuse(operation, trouble.problem) }
    guard operation.kind == .purge, hasEnded else {
      return refuse(
        operation, Problem(status: 409, code: "callDamaged", title: "The call is damaged", detail: message))
    }
    writes.append(.discard(operation.id))
    outdateFetches(of: operation.id)
    done(operation)
  }

  /// The answers to fetches that are under way tell of the call as it was; they are asked for again.
  private mutating func outdateFetches(of id: CallID) {
    if let fetch = fetches[id] { fetches[id]?.stale = fetch.outstanding }
  }

  static func notEnded(_ id: CallID) -> Problem {
    Problem(
      status: 409, code: "callNotEnded", title: "The call has not ended",
      detail: "\(id) has not ended; wait for its end, or cancel it.")
  }

  static func contentErased(_ id: CallID) -> Problem {
    Problem(
      status: 409, code: "contentErased", title: "The call's content was erased",
      detail: "\(id) cannot be run again, because its request was erased.")
  }
}
