package import RedialModel

extension Refusal {
  /// What is wrong with the store or this instance, for refusals and for `/readyz` alike.
  package var trouble: String {
    switch self {
    case .noRoom, .storeFull: "The disk is full."
    case .storeMisplaced: "The store's files are not in their place: they were moved, removed or replaced."
    case .storeUnreachable: "The connection to the store was lost."
    case .keyMissing: "Other instances encrypt by a key that this one does not have."
    case .leaseLost: "Another process has taken over this instance's lease on the store."
    default: "The store cannot be written."
    }
  }

  /// The trouble, what follows from it, and what to do: in `/readyz`, in `redial status` and in the log. Who is woken by this
  /// has to know what to repair.
  package var notice: String {
    let effect =
      switch self {
      case .noRoom, .storeFull:
        "Accepted calls are kept, and new ones are refused until there is room: remove other files, or enlarge the disk."
      case .storeMisplaced: "New calls are refused until they are back. The log says more."
      case .storeUnreachable: "Accepted calls are kept, and new ones are refused until it is back."
      case .keyMissing: "They run its calls meanwhile. Give it their key file, and start it again."
      case .leaseLost: "Or this one was cut off from it for too long. The log says more."
      default: "New calls are refused until it can. The log says why."
      }
    return "\(trouble) \(effect)"
  }

  /// What the client gets.
  package var problem: Problem {
    switch self {
    case .noRoom:
      Problem(
        .storageFull,
        detail:
          "\(trouble) The call was not accepted: the rest is reserved for accepted calls and for removing old ones. "
          + "Free space, or try again later.", retryAfter: 10)
    case .storeFull:
      Problem(
        .storageFull,
        detail: "\(trouble) The call was not accepted. Accepted calls are kept. Free space, then try again.",
        retryAfter: 10)
    case .storeFailed:
      Problem(
        .storageUnavailable,
        detail: "\(trouble) The call was not accepted. Accepted calls are kept. Try again; the log says why it failed.",
        retryAfter: 2)
    case .storeMisplaced:
      Problem(
        .storageUnavailable,
        detail: "\(trouble) The call was not accepted, since it would be lost. Put the files back; the log says more.",
        retryAfter: 10)
    case .storeUnreachable:
      Problem(
        .storageUnavailable,
        detail: "\(trouble) The request was not executed. Accepted calls are kept. Try again.",
        retryAfter: 2)
    case .keyMissing:
      Problem(
        .storageUnavailable, detail: "\(trouble) Nothing was done. Try again at another instance.", retryAfter: 2)
    case .keyNotMade(let namespace):
      Problem(
        .storageUnavailable,
        detail:
          "The key that encrypts what is stored of the namespace \(namespace) could not be made; the log says why. "
          + "Nothing was done. Try again.", retryAfter: 5)
    case .outcomeUnknown:
      .outcomeUnknown(
        "The store stopped to answer while this was being stored, or the connection to it broke. Send it again "
          + "with the same Idempotency-Key. A submission without a key may have been accepted: look for its call first."
      )
    case .draining:
      Problem(
        .draining, detail: "While the service stops it accepts no new calls and changes nothing. Try again.",
        retryAfter: 5)
    case .leaseLost:
      Problem(
        .leaseLost,
        detail: "\(trouble) The requested change may or may not have been made; check, then try again.", retryAfter: 2)
    case .ownedElsewhere(let target):
      Problem(
        .ownedElsewhere,
        detail: "The calls to \(target.bare) are run by another instance of the service, or by none for "
          + "the moment. Send the request to that instance, or try again.", retryAfter: 1)
    case .forwardedTooLate:
      Problem(
        .forwardedTooLate,
        detail: "The call came too late, or twice: the instance that has sent it waits no longer for this answer, and "
          + "stores it itself.", retryAfter: 1)
    case .backlogFull(let maximum):
      Problem(
        .backlogFull,
        detail: "\(maximum) calls have not ended yet, which is the maximum (maxUnfinished). Try again later.",
        retryAfter: 30)
    case .namespaceBacklogFull(let maximum):
      Problem(
        .namespaceBacklogFull,
        detail: "\(maximum) calls of this namespace have not ended yet, which is the maximum for one "
          + "(namespaceShare of maxUnfinished). Try again later.", retryAfter: 30)
    case .tooManyTargets(let count, let target):
      Problem(
        .tooManyTargets,
        detail: "\(count) targets have calls or a breaker that is not closed, and \(target.bare) would be one more. "
          + "Try again later.", retryAfter: 30)
    case .tooManyTargetsInUse(let count):
      Problem(
        .tooManyTargets, status: 409,
        detail: "\(count) targets are remembered, which is the maximum, and all of them are in use or have settings. "
          + "Remove settings that are not needed, or try again later.")
    case .keyReused(let key):
      Problem(
        .idempotencyKeyReused,
        detail: "Another descriptor was submitted under the key \"\(key.bare)\". A new call needs a new key; a "
          + "repetition has the same bytes.")
    case .callNotFound(let id):
      Problem(
        .callNotFound,
        detail: "No call has the id \(id); it may have been removed. GET /v1/calls lists those that are kept."
      )
    case .callEnded(let id, let state):
      Problem(.callEnded, detail: "\(id) has \(state.visible.rawValue) and cannot be cancelled any more.")
    case .callNotUnfinished(let id):
      Problem(.callEnded, detail: "\(id) has ended, and this is only for calls that have not.")
    case .callEndedAgain(let id):
      Problem(
        .callEnded,
        detail: "\(id) was run again, or has ended later than the operation was accepted. A new operation takes it.")
    case .callNotEnded(let id):
      Problem(.callNotEnded, detail: "\(id) has not ended; wait for its end, or cancel it.")
    case .callRunning(let id):
      Problem(.callRunning, detail: "An attempt of \(id) is in flight; wait for its end, or cancel it.")
    case .contentErased(let id): .contentErased(id)
    case .callInMemory(let id):
      Problem(.callInMemory, detail: "The engine has \(id) in its memory; nothing has to be done.")
    case .found(let problem): problem
    }
  }
}

extension Problem {
  /// Nobody knows whether a request was done.
  package static func outcomeUnknown(_ detail: String, retryAfter: Int = 5) -> Problem {
    Problem(.outcomeUnknown, detail: detail, retryAfter: retryAfter)
  }

  /// The request of a call is no longer known, so that it can be neither retried nor replayed.
  package static func contentErased(_ id: CallID) -> Problem {
    Problem(
      .contentErased,
      detail: "\(id) cannot be sent again, because its request was erased. Submit a new call with the whole request.")
  }
}
