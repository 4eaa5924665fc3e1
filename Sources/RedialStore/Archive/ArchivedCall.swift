internal import RedialCore
public import RedialModel

/// Everything that a store knows of one call: what ``StoreExport`` writes as a line of JSON, and ``StoreImport`` reads.
public struct ArchivedCall: Sendable {
  /// The call, with what people did to make it run.
  public var record: CallRecord
  /// Its attempts, the newest last, with all responses.
  public var attempts: [AttemptRecord]
  /// The key that it was accepted under, if it is still remembered.
  public var key: KeyRecord?
  /// Whether it was this call's turn among those of its ordering key; nil for one that has ended or has no such key, and
  /// in archives that do not say.
  public var hasTurn: Bool?

  /// Creates an archived call.
  public init(record: CallRecord, attempts: [AttemptRecord], key: KeyRecord? = nil, hasTurn: Bool? = nil) {
    self.record = record
    self.attempts = attempts
    self.key = key
    self.hasTurn = hasTurn
  }

  /// The ordering key under which it is still to have its turn, or has it.
  var orderingKey: String? { record.progress.state.isFinal ? nil : record.spec.orderingKey }

  /// Whether it was its turn. What waits for its turn says so itself, so an archive that does not tell is as good.
  var goesOn: Bool { hasTurn != false && record.progress.waiting != .ordering }

  /// Puts it behind the other calls of its ordering key. An attempt that was under way is recorded as cut off, as a
  /// service does that takes over a store with such a call: nobody else would count it.
  mutating func awaitTurn() {
    let progress = record.progress
    guard progress.state == .running || progress.waiting != .ordering else { return }
    if progress.state == .running, attempts.last?.number ?? 0 < progress.attempts {
      attempts.append(
        AttemptRecord(
          number: progress.attempts, startedAt: progress.due, duration: .zero, outcome: .interrupted,
          failure: AttemptFailure(
            code: "interrupted",
            message: "The call was moved while the attempt was in flight; its result is unknown.")))
      record.progress.interruptions += 1
    }
    record.progress.state = .queued
    record.progress.waiting = .ordering
    record.progress.due = record.lastStart
  }

  /// The changes that put it into a store, but for its turn.
  var writes: [StoreWrite] {
    [.insert(record)] + attempts.map { .update(record.id, record.progress, $0) }
      + record.retries.map { .retried(record.id, $0) } + (key.map { [.key($0)] } ?? [])
  }
}

/// The words of an archive for the numbers of the store, by the names of the cases.
enum ArchiveWords {
  static let states = words(StoredState.allCases)
  static let waits = words(WaitReason.allCases)
  static let kinds = words(CallKind.allCases)
  static let failures = words(StopReason.allCases)
  static let outcomes = words(OutcomeClass.allCases)

  private static func words<Word>(_ all: [Word]) -> [String: Word] {
    Dictionary(uniqueKeysWithValues: all.map { ("\($0)", $0) })
  }
}
