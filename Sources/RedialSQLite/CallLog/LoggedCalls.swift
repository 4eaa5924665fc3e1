internal import RedialModel
internal import RedialStore

/// The calls whose latest changes are in the log and not yet in the tables, and which rows of the log are needed for that.
///
/// It follows from the rows of the log alone, so that a process finds the same after a crash.
struct LoggedCalls: Sendable {
  /// What the log has of a call. A change of it is another value.
  final class Call: Sendable {
    /// The call, if the tables lack it.
    let new: NewCall?
    /// Its kind, if the tables have it as it was before.
    let stored: CallKind?
    /// Its latest progress.
    let progress: CallProgress
    /// The attempts that the tables lack, the newest last.
    let attempts: [LoggedAttempt]
    /// The key under which it was accepted, if the tables lack it.
    let key: KeyRecord?
    /// The first row that has something of it.
    let row: Int64

    init(
      new: NewCall? = nil, stored: CallKind? = nil, progress: CallProgress, attempts: [LoggedAttempt] = [],
      key: KeyRecord? = nil, row: Int64
    ) {
      self.new = new
      self.stored = stored
      self.progress = progress
      self.attempts = attempts
      self.key = key
      self.row = row
    }
  }

  /// A row of the log that is still needed, or stands behind one that is.
  private struct Row: Sendable {
    var place: LogPlaces.Place
    /// The calls whose first row it is.
    var calls: [CallID]
    /// How many of them are still logged.
    var remaining: Int
  }

  private(set) var calls: [CallID: Call] = [:]
  /// Calls by the keys that the tables lack.
  private var keys: [IdempotencyName: CallID] = [:]
  /// The rows from ``tail`` on.
  private var rows: [Row] = []
  private var dropped = 0
  private var places = LogPlaces()
  /// Calls that have ended, in the order of their ends. Some may have been folded since, or gone on.
  private var endedCalls: [CallID] = []
  /// The size of all rows that are needed, in bytes.
  private(set) var bytes = 0
  /// The number of the last row; 0 before the first.
  private(set) var last: Int64 = 0
  /// How often calls have left.
  private(set) var folds: UInt64 = 0

  /// Nothing is logged.
  init() {}

  /// Nothing is logged any more: the log was emptied.
  init(after last: Int64, folds: UInt64) {
    self.last = last
    self.folds = folds
  }

  // MARK: Looking

  /// The number of the first row that is needed: the next one, if none is.
  var tail: Int64 { last - Int64(rows.count - dropped) + 1 }

  /// How many rows are needed.
  var rowCount: Int { rows.count - dropped }

  /// Where the next row goes, by its size in bytes without padding.
  func nextPlace(for bytes: Int) -> LogPlaces.Place { places.next(for: bytes) }

  /// The last key with this name that the tables lack.
  func key(_ name: IdempotencyName) -> KeyRecord? { keys[name].flatMap { calls[$0]?.key } }

  /// Whether nothing is logged.
  var isEmpty: Bool { calls.isEmpty }

  /// Whether the table has rows, needed or not.
  var hasRows: Bool { places.count > 0 }

  /// How many calls have ended, or a few more.
  var endedCount: Int { endedCalls.count }

  func ended() -> [CallID] { endedCalls.filter { calls[$0]?.progress.state.isFinal == true } }

  /// The calls that the first rows are needed for.
  func calls(ofRows count: Int) -> [CallID] {
    rows[dropped...].prefix(count).flatMap { row in
      row.calls.filter { calls[$0] != nil }
    }
  }

  // MARK: Changing

  /// A row is in the log, with the changes that are in it.
  mutating func apply(_ batch: LogBatch, at place: LogPlaces.Place) {
    places.take(place.number)
    append(batch, at: place)
    trim()
  }

  /// Takes rows that were found in the log, the oldest first.
  mutating func load(_ batch: LogBatch, at place: LogPlaces.Place) {
    if rows.isEmpty, last == 0 { last = batch.number - 1 }
    append(batch, at: place)
  }

  /// All rows were loaded.
  ///
  /// - Parameter found: The places and sizes of all rows of the table, needed or not.
  mutating func didLoad(_ found: [LogPlaces.Place]) {
    let used = Set(rows.map(\.place.number))
    places = LogPlaces(found.map { ($0.number, $0.bytes, used.contains($0.number)) })
    trim()
  }

  private mutating func append(_ batch: LogBatch, at place: LogPlaces.Place) {
    var begun: [CallID] = []
    for (id, call) in batch.calls {
      guard let call else {
        remove(id)
        continue
      }
      let before = calls.updateValue(call, forKey: id)
      if let before, before.row != call.row { releaseRow(before.row) }
      if before?.row != call.row { begun.append(id) }
    }
    for (name, id) in batch.keys where calls[id] != nil { keys[name] = id }
    endedCalls += batch.ended
    rows.append(Row(place: place, calls: begun, remaining: begun.count))
    last = batch.number
    bytes += place.bytes
    if !batch.folded.isEmpty {
      folds += 1
      endedCalls = ended()
    }
  }

  private mutating func remove(_ id: CallID) {
    guard let call = calls.removeValue(forKey: id) else { return }
    if let key = call.key, keys[key.key.name] == id { keys[key.key.name] = nil }
    releaseRow(call.row)
  }

  /// A call does not need a row any more.
  private mutating func releaseRow(_ number: Int64) {
    let index = Int(number - tail) + dropped
    if rows.indices.contains(index) { rows[index].remaining -= 1 }
  }

  /// Frees the first rows, as far as no call needs them.
  private mutating func trim() {
    while dropped < rows.count, rows[dropped].remaining == 0 {
      places.release(rows[dropped].place.number, bytes: rows[dropped].place.bytes)
      bytes -= rows[dropped].place.bytes
      dropped += 1
    }
    if dropped > 64, dropped * 2 > rows.count {
      rows.removeFirst(dropped)
      dropped = 0
    }
  }
}

/// What one row of the log has: the changes of one commit.
struct LogBatch: Sendable {
  /// Its number: one more than that of the row before.
  let number: Int64
  /// The first row that was needed when it was written.
  let tail: Int64
  /// The calls that it changes, as they are then; nil for those that are in the tables from now on.
  var calls: [CallID: LoggedCalls.Call?] = [:]
  /// The calls that were accepted under keys.
  var keys: [IdempotencyName: CallID] = [:]
  /// The calls that have ended, in order.
  var ended: [CallID] = []
  /// The calls that are in the tables from now on.
  var folded: [CallID] = []
  /// Its records.
  var records = PackedWriter()
}
