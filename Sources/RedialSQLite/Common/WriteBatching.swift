internal import RedialStore
internal import RedialModel

/// Which attempts may be stored later than the other changes of their commit.
struct WriteBatching {
  /// For how many of a call's attempts the response body is kept.
  let keptResponses: Int
  /// The maximum size of a response's body that may wait for the end of the transaction, in bytes.
  static let mostWaiting = 16 * 1024

  /// Whether storing an attempt removes the response body of an earlier one.
  func forgets(_ attempt: AttemptRecord) -> Bool { attempt.number > keptResponses }

  /// Whether storing an attempt changes no other, and needs little memory, so that it may be stored with others at the
  /// end of a transaction.
  func canWait(_ attempt: AttemptRecord) -> Bool {
    !forgets(attempt) && (attempt.response?.body.count ?? 0) <= Self.mostWaiting
  }
}
