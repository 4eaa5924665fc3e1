internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialJSON
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Writes who did what. The records are documents of the store, which nothing changes, and which age removes.
final class AuditLog: Sendable {
  private let store: StoreLane
  private let clock: Clock
  private let log: Log
  private let redaction: Redaction
  private let keptFor: Duration
  private let most: Int
  /// The time of the last record: no two of this instance have the same.
  private let last = Mutex(Timestamp.epoch)
  private let isRunning = Atomic(true)
  /// How many this instance has written since they were last counted; at first nobody knows.
  private let uncounted = Atomic(Int.max / 2)

  /// The longest time between two looks for old records.
  private static let longestPause = Duration.seconds(60)

  init(_ settings: ServiceSettings, _ store: StoreLane, _ clock: Clock, _ log: Log) {
    (self.store, self.clock, self.log) = (store, clock, log)
    redaction = settings.engine.redaction
    (keptFor, most) = (settings.auditRetentionTime, settings.maxAuditRecords)
  }

  /// A record gets its time and its id, unless it has them.
  func completed(_ record: AuditRecord) -> AuditRecord {
    guard record.id.isEmpty else { return record }
    var record = record
    let now = clock.now
    record.at = last.withLock { last in
      last = max(now, Timestamp(microseconds: last.microseconds + 1))
      return last
    }
    record.id = AuditRecord.id(at: record.at, .random(in: 0...(.max)))
    uncounted.wrappingAdd(1, ordering: .relaxed)
    return record
  }

  /// The record of a request as far as it is known before the change, for the commit of that: a crash leaves both or neither.
  func begin(_ note: AuditNote?) -> StoredDocument? { note?.begin { completed($0) }?.document }

  /// A responder that sends an answer once the record of the request is on disk, or is removed because nothing has changed. Of
  /// what is refused there is none; if nobody knows, it is where the change is.
  func recording(_ note: AuditNote, _ responder: HTTPResponder) -> HTTPResponder {
    responder.passing { [self] response, responder in
      // A submission that is repeated changes nothing, unless it runs its call again.
      let repetition = response.headers.first { $0.name == "idempotency-status" }?.value
      let hasChanged = 200...299 ~= response.status && (repetition ?? "rerun") == "rerun"
      let record = hasChanged ? note.take(after: response.body).map(completed) : nil
      guard record != nil || hasChanged && note.begun != nil else { return responder.respond(response) }
      store.afterwards { [self] store in
        end(note, record, in: store)
        responder.respond(response)
      }
    }
  }

  /// Writes the record of a change that is made, of which the client must learn, or removes it if nothing has changed. The log
  /// keeps what the store cannot.
  func end(_ note: AuditNote, _ record: AuditRecord?, in store: any DocumentStore) {
    if let record { return keep(record, in: store) }
    guard let begun = note.begun else { return }
    // If it cannot be removed, it says that nobody knows.
    try? store.commit([.remove(.audit, id: begun.id)])
  }

  private func keep(_ record: AuditRecord, in store: any DocumentStore) {
    do throws(StoreError) {
      try store.commit([.put(record.document)])
    } catch {
      log.write(
        .error, "auditRecordNotKept",
        [("error", error.message), ("record", String(decoding: record.bytes, as: UTF8.self))])
    }
  }

  /// Records a loss of the database, which nobody asked for.
  func record(_ loss: LostCommits) {
    var record = AuditRecord()
    (record.actorKind, record.action, record.object) = (.instance, AuditAction.commitsLost.rawValue, "store")
    (record.before, record.after) = (Self.count(loss.made), Self.count(loss.found))
    record = completed(record)
    store.afterwards { [self, record] in keep(record, in: $0) }
  }

  private static func count(_ commits: Int64) -> RawJSON { RawJSON(Array(#"{"commits":\#(commits)}"#.utf8)) }

  /// Documents whose next change is recorded in its own transaction.
  func recording(_ note: AuditNote?, in documents: any DocumentStore) -> any DocumentStore {
    note.map { AuditedDocuments(documents, $0, self, redaction) } ?? documents
  }

  // MARK: Old records

  /// Removes old records now and then.
  func start() {
    store.afterwards { [weak self] store in
      guard let self, isRunning.load(ordering: .relaxed) else { return }
      do throws(StoreError) {
        try removeOld(from: store)
      } catch {
        log.write(.error, "auditNotTidied", [("error", error.message)])
      }
      let pause = max(.seconds(1), min(Self.longestPause, keptFor / 4))
      DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(Int(pause.wholeMicroseconds))) { [weak self] in
        self?.start()
      }
    }
  }

  func stop() { isRunning.store(false, ordering: .relaxed) }

  private func removeOld(from store: any DocumentStore) throws(StoreError) {
    let end = Timestamp(microseconds: clock.now.microseconds &- keptFor.wholeMicroseconds)
    // Counting reads them all, so it waits until there may be a few per cent too many.
    let mustCount = uncounted.load(ordering: .relaxed) > most / 16
    if mustCount { uncounted.store(0, ordering: .relaxed) }
    let removed = try store.removeDocuments(
      .audit, below: AuditRecord.firstID(at: end), keeping: mustCount ? most : .max)
    if removed > 0 { log.write(.info, "auditRecordsRemoved", [("count", "\(removed)")]) }
  }
}
