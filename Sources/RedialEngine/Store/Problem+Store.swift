internal import RedialModel

/// Why nothing is accepted when the store is not well.
extension Problem {
  /// The store's files are not in their place.
  static let misplaced = Problem(
    status: 503, code: "storageUnavailable", title: "The store's files are not in their place",
    detail:
      "The call was not accepted: its files were removed or replaced, so that it would be lost. The log says more.",
    retryAfter: 10)

  /// The store was lost, and has to be found again.
  static let unreachable = Problem(
    status: 503, code: "storageUnavailable", title: "The store cannot be reached",
    detail: "The request was not executed: the connection to the store was lost. Accepted calls are kept. Try again.",
    retryAfter: 2)

  /// The disk has only the reserve left.
  static let noRoom = Problem(
    status: 507, code: "storageFull", title: "The store has no room",
    detail:
      "The call was not accepted: the disk is full. The rest is reserved for accepted calls and for removing old ones. "
      + "Try again later.", retryAfter: 10)

  /// The store has failed.
  static func of(_ failure: StoreError) -> Problem {
    failure.kind == .full
      ? Problem(
        status: 507, code: "storageFull", title: "The store has no room",
        detail: "The call was not accepted: the disk is full. Accepted calls are kept. Free space, then try again.",
        retryAfter: 10)
      : Problem(
        status: 503, code: "storageUnavailable", title: "The store cannot be written",
        detail: "The call was not accepted: it could not be written to disk. Accepted calls are kept. Try again.",
        retryAfter: 2)
  }

  /// This instance has no lease.
  static let leaseLost = Problem(
    status: 503, code: "leaseLost", title: "This instance may not write",
    detail:
      "Another process has taken over this instance's lease on the store. The requested change may "
      + "or may not have been made; check, then try again.", retryAfter: 2)
}
