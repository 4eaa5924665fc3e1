internal import RedialStore
internal import RedialModel

/// Which changes of one commit may be made grouped by kind, which costs less than one after the other.
struct WriteBatching {
  /// For how many of a call's attempts the response body is kept.
  let keptResponses: Int
  /// The maximum size of a response's body that may wait for the end of the transaction, in bytes.
  static let mostWaiting = 16 * 1024

  /// Whether all of the changes may be made with the new calls first and the new attempts last.
  func allows(_ writes: [StoreWrite]) -> Bool { writes.allSatisfy(allows) }

  /// Whether this change commutes with inserts of calls that come after it, and with attempts that were stored before
  /// it.
  private func allows(_ write: StoreWrite) -> Bool {
    switch write {
    case .update(_, _, let attempt?): !forgets(attempt)
    case .discard, .erase: false
    default: true
    }
  }

  /// Whether storing an attempt removes the response body of an earlier one.
  func forgets(_ attempt: AttemptRecord) -> Bool { attempt.number > keptResponses }

  /// Whether storing an attempt changes no other, and needs little memory, so that it may be stored with others at the
  /// end of a transaction.
  func canWait(_ attempt: AttemptRecord) -> Bool {
    !forgets(attempt) && (attempt.response?.body.count ?? 0) <= Self.mostWaiting
  }
}
