internal import RedialCore
package import RedialModel

/// All data of one call in a store: an ``ArchiveSource`` reads it, an archive has it as a line of JSON, and ``StoreImport`` puts it
/// into another store.
package struct ArchivedCall: Sendable {
  /// The call, with its manual retries.
  package var record: CallRecord
  /// Its attempts, the newest last, with all responses.
  package var attempts: [AttemptRecord]
  /// The key under which it was accepted, if that is still remembered.
  package var key: KeyRecord?
  /// Whether the call had the turn of its ordering key; nil for one that has ended or has no such key, and in archives
  /// without this member.
  package var hasTurn: Bool?

  /// Creates an archived call.
  package init(record: CallRecord, attempts: [AttemptRecord], key: KeyRecord? = nil, hasTurn: Bool? = nil) {
    self.record = record
    self.attempts = attempts
    self.key = key
    self.hasTurn = hasTurn
  }

  /// What its bodies take, in bytes.
  package var payloadBytes: Int { record.body.count + attempts.reduce(0) { $0 + ($1.response?.body.count ?? 0) } }

  /// The ordering key whose turn it has or waits for.
  package var orderingKey: String? { record.progress.state.isFinal ? nil : record.spec.orderingKey }

  /// Whether it had the turn. A call that waits for its turn has that as its wait reason, so an archive without the
  /// member has the same information.
  package var goesOn: Bool { hasTurn != false && record.progress.waiting != .ordering }

  /// Puts it behind the other calls of its ordering key. An attempt in flight is recorded as interrupted, as a service
  /// does that takes over a store with such a call: otherwise nobody would count it.
  package mutating func awaitTurn() {
    let progress = record.progress
    guard progress.state == .running || progress.waiting != .ordering else { return }
    if progress.state == .running, attempts.last?.number ?? 0 < progress.attempts {
      attempts.append(
        AttemptRecord(
          number: progress.attempts, startedAt: progress.due, duration: .zero, outcome: .interrupted,
          failure: AttemptFailure(
            code: "interrupted",
            message: "The call was moved while the attempt was in flight; its result is unknown.")))
      record.progress.cutOffAttempts += 1
      record.progress.mayBeProcessing = true
    }
    record.progress.state = .queued
    record.progress.waiting = .ordering
    record.progress.due = record.lastStart
  }

  /// The changes that put it into a store, without its turn.
  package var writes: [StoreWrite] {
    [.insert(record)]
      + attempts.map { attempt in
        var attempt = attempt
        attempt.namespace = record.spec.namespace
        return .update(record.id, record.progress, attempt)
      }
      + record.retries.map { .retried(record.id, $0) } + (key.map { [.key($0)] } ?? [])
  }
}

/// The archive's words for the store's numbers: the names of the cases.
enum ArchiveWords {
  static let states = words(StoredState.allCases)
  static let waits = words(WaitReason.allCases)
  static let kinds = words(CallKind.allCases)
  static let failures = words(StopReason.allCases)
  static let outcomes = words(OutcomeClass.allCases)
  static let steps = words(StatisticsStep.allCases)
  static let documents = Dictionary(
    uniqueKeysWithValues: StoredDocument.Kind.allCases.filter(\.travels).map { ($0.rawValue, $0) })

  private static func words<Word>(_ all: [Word]) -> [String: Word] {
    Dictionary(uniqueKeysWithValues: all.map { ("\($0)", $0) })
  }
}
