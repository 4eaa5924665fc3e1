internal import RedialModel
internal import Synchronization

/// Which documents could not be read when they had changed, and have to be read again; and until when all changes are
/// known.
final class UnreadDocuments: Sendable {
  private let state = Mutex((kinds: Set<StoredDocument.Kind>(), isWaiting: false, heard: ContinuousClock.now))

  /// How long the database may be silent until what is in memory is not shown any more.
  private static let patience = Duration.seconds(2)

  /// The database has said which documents had changed, when it was asked at that moment.
  func recordAnswer(askedAt asked: ContinuousClock.Instant) {
    state.withLock { $0.heard = asked }
  }

  /// Whether what is in memory is what the database has, or had a moment ago.
  var isCurrent: Bool { state.withLock { $0.kinds.isEmpty && ContinuousClock.now - $0.heard <= Self.patience } }

  /// These could not be read.
  ///
  /// - Returns: Whether this is news, and whether the caller has to ``take()`` them later.
  func recordUnread(_ kinds: Set<StoredDocument.Kind>) -> (isNew: Bool, mustTake: Bool) {
    state.withLock { state in
      let result = (!kinds.isSubset(of: state.kinds), !state.isWaiting)
      state.kinds.formUnion(kinds)
      state.isWaiting = true
      return result
    }
  }

  /// These were read.
  func recordRead(_ kinds: Set<StoredDocument.Kind>) {
    state.withLock { $0.kinds.subtract(kinds) }
  }

  /// Those that have to be read now.
  func take() -> Set<StoredDocument.Kind> {
    state.withLock { state in
      state.isWaiting = false
      return state.kinds
    }
  }
}
