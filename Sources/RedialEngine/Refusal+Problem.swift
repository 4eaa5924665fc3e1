package import RedialModel

extension Refusal {
  /// What the client gets.
  package var problem: Problem {
    switch self {
    case .noRoom:
      .storageFull(
        "The call was not accepted: the disk is full. The rest is reserved for accepted calls and for removing old ones. "
          + "Try again later.")
    case .storeFull:
      .storageFull(
        "The call was not accepted: the disk is full. Accepted calls are kept. Free space, then try again.")
    case .storeFailed:
      Problem(
        status: 503, code: "storageUnavailable", title: "The store cannot be written",
        detail: "The call was not accepted: it could not be written to disk. Accepted calls are kept. Try again.",
        retryAfter: 2)
    case .storeMisplaced:
      Problem(
        status: 503, code: "storageUnavailable", title: "The store's files are not in their place",
        detail: "The call was not accepted: its files were removed or replaced, so that it would be lost. "
          + "The log says more.", retryAfter: 10)
    case .storeUnreachable:
      Problem(
        status: 503, code: "storageUnavailable", title: "The store cannot be reached",
        detail:
          "The request was not executed: the connection to the store was lost. Accepted calls are kept. Try again.",
        retryAfter: 2)
    case .outcomeUnknown:
      .outcomeUnknown(
        "The store stopped to answer while this was being stored, or the connection to it broke. Send it again "
          + "with the same Idempotency-Key. A submission without a key may have been accepted: look for its call first."
      )
    case .draining:
      Problem(
        status: 503, code: "draining", title: "Redial is stopping",
        detail: "While the service stops it accepts no new calls and changes nothing. Try again.", retryAfter: 5)
    case .leaseLost:
      Problem(
        status: 503, code: "leaseLost", title: "This instance may not write",
        detail: "Another process has taken over this instance's lease on the store. The requested change may "
          + "or may not have been made; check, then try again.", retryAfter: 2)
    case .ownedElsewhere(let target):
      Problem(
        status: 503, code: "ownedElsewhere", title: "Another instance has this target",
        detail: "The calls to \(target.bare) are run by another instance of the service, or by none for "
          + "the moment. Send the request to that instance, or try again.", retryAfter: 1)
    case .forwardedTooLate:
      Problem(
        status: 503, code: "forwardedTooLate", title: "The call came too late, or twice",
        detail: "The instance that has sent it waits no longer for this answer, and stores it itself.", retryAfter: 1)
    case .backlogFull(let maximum):
      Problem(
        status: 503, code: "backlogFull", title: "The backlog is full",
        detail: "\(maximum) calls have not ended yet, which is the maximum (maxUnfinished). Try again later.",
        retryAfter: 30)
    case .namespaceBacklogFull(let maximum):
      Problem(
        status: 503, code: "namespaceBacklogFull", title: "The backlog of the namespace is full",
        detail: "\(maximum) calls of this namespace have not ended yet, which is the maximum for one "
          + "(namespaceShare of maxUnfinished). Try again later.", retryAfter: 30)
    case .tooManyTargets(let count, let target):
      .tooManyTargets(
        503,
        "\(count) targets have calls or a breaker that is not closed, and \(target.bare) would be one more. "
          + "Try again later.", retryAfter: 30)
    case .tooManyTargetsInUse(let count):
      .tooManyTargets(409, "\(count) targets are remembered, and all of them are in use or have settings.")
    case .keyReused(let key):
      Problem(
        status: 422, code: "idempotencyKeyReused", title: "The Idempotency-Key was used for another call",
        detail: "Another descriptor was submitted under the key \"\(key.bare)\". A new call needs a new key.")
    case .callNotFound(let id):
      Problem(
        status: 404, code: "callNotFound", title: "There is no such call",
        detail: "No call has the id \(id); it may have been removed.")
    case .callEnded(let id, let state):
      .conflict(
        "callEnded", "The call has ended", "\(id) has \(state.visible.rawValue) and cannot be cancelled any more.")
    case .callNotUnfinished(let id):
      .conflict("callEnded", "The call has ended", "\(id) has ended, and this is only for calls that have not.")
    case .callEndedAgain(let id):
      .conflict(
        "callEnded", "The call has ended again",
        "\(id) was run again, or has ended later than the operation was accepted.")
    case .callNotEnded(let id):
      .conflict("callNotEnded", "The call has not ended", "\(id) has not ended; wait for its end, or cancel it.")
    case .callRunning(let id):
      .conflict(
        "callRunning", "The call is running", "An attempt of \(id) is in flight; wait for its end, or cancel it.")
    case .contentErased(let id):
      .conflict(
        "contentErased", "The call's content was erased", "\(id) cannot be run again, because its request was erased.")
    case .callInMemory(let id):
      .conflict("callInMemory", "The call is in memory", "The engine has \(id) in its memory.")
    case .found(let problem): problem
    }
  }
}

extension Problem {
  /// Nobody knows whether a request was done.
  package static func outcomeUnknown(_ detail: String, retryAfter: Int = 5) -> Problem {
    Problem(
      status: 503, code: "outcomeUnknown", title: "It is not known whether this was done", detail: detail,
      retryAfter: retryAfter)
  }

  fileprivate static func storageFull(_ detail: String) -> Problem {
    Problem(status: 507, code: "storageFull", title: "The store has no room", detail: detail, retryAfter: 10)
  }

  fileprivate static func tooManyTargets(_ status: Int, _ detail: String, retryAfter: Int? = nil) -> Problem {
    Problem(
      status: status, code: "tooManyTargets", title: "There are too many targets", detail: detail,
      retryAfter: retryAfter)
  }

  fileprivate static func conflict(_ code: String, _ title: String, _ detail: String) -> Problem {
    Problem(status: 409, code: code, title: title, detail: detail)
  }
}
