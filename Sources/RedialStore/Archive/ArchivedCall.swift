internal import RedialCore
public import RedialModel

/// Everything that a store knows of one call: what ``StoreExport`` writes as a line of JSON, and ``StoreImport`` reads.
public struct ArchivedCall: Sendable {
  /// The call.
  public var record: CallRecord
  /// Its attempts, the newest last, with all responses.
  public var attempts: [AttemptRecord]
  /// The key that it was accepted under, if it is still remembered.
  public var key: KeyRecord?

  /// Creates an archived call.
  public init(record: CallRecord, attempts: [AttemptRecord], key: KeyRecord? = nil) {
    self.record = record
    self.attempts = attempts
    self.key = key
  }

  /// The changes that put it into a store.
  var writes: [StoreWrite] {
    [.insert(record)] + attempts.map { .update(record.id, record.progress, $0) } + (key.map { [.key($0)] } ?? [])
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
