import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("The rows of a copied store")
struct ArchiveRowTests {
  let folder = TemporaryFolder()

  /// A store whose calls have all possible data.
  private func fill(_ path: String) throws {
    let store = try SQLiteStore(path: path, payloads: PayloadRule(compressMinBytes: 100, keptResponses: 2))
    defer { store.close() }
    let fails = [nil] + StopReason.allCases.map { Optional($0) }
    let waits = [nil] + WaitReason.allCases.filter { $0 != .ordering }.map { Optional($0) }
    for number in 0..<60 {
      let state = StoredState.allCases[number % StoredState.allCases.count]
      var call = Sample.call(
        number, state, due: Sample.time(number), target: "t\(number % 4)", kind: number % 5 == 0 ? .webhook : .call,
        callback: number % 3 == 0 ? Callback(url: "https://me.example.com/hooks", events: [.callFailed]) : nil,
        body: [UInt8](repeating: UInt8(number), count: number * 20), priority: number % 10,
        labels: [.init(name: "team", value: "t\(number % 3)")])
      call.progress.waiting = state.isFinal ? nil : waits[number % waits.count]
      call.progress.failure = state == .failed ? fails[number % (fails.count - 1) + 1] : nil
      (call.progress.interruptions, call.progress.attemptsBefore) = (number % 2, number % 3)
      call.progress.attempts = 4
      try store.commit([.insert(call)])
      for attempt in 1...4 {
        var record = Sample.attempt(attempt, body: [UInt8](repeating: UInt8(attempt), count: number * 10))
        record.outcome = OutcomeClass.allCases[(number + attempt) % OutcomeClass.allCases.count]
        record.figures?.connected = number
        if number % 4 == 1 { record.figures = nil }
        if attempt == 3 {
          (record.response, record.status) = (nil, nil)
          record.failure = AttemptFailure(code: "timeout", message: "é \"quoted\"")
        }
        try store.commit([.update(call.id, call.progress, record)])
      }
      if number % 7 == 0 {
        for retry in 0...number % 3 {
          let attribution = Attribution(
            by: retry == 1 ? nil : "ada \(number)", reason: retry == 0 ? nil : "é \"quoted\"")
          try store.commit([
            .retried(
              call.id, ManualRetry(at: Sample.time(number + retry), afterAttempt: retry, attribution: attribution))
          ])
        }
      }
      if number % 6 == 0 {
        let key = IdempotencyKey("key \(number)", fingerprint: [UInt8(number), 255])
        try store.commit([
          .key(
            KeyRecord(
              key: key, call: call.id, createdAt: Sample.time(number), expiresAt: Sample.time(9000 + number)))
        ])
      }
    }
    for number in 100..<130 {
      let key = "k\(number % 3)"
      var call = Sample.call(number, .queued, due: Sample.time(900), target: "t\(number % 2)", orderingKey: key)
      call.progress.waiting = .ordering
      try store.commit([.insert(call), .awaitTurn(call.id, target: call.spec.target, orderingKey: key)])
    }
    for call in try store.claimDue(before: Sample.time(1), limit: 3).calls {
      var progress = call.progress
      (progress.state, progress.waiting) = (.scheduled, .backoff)
      try store.commit([.update(call.id, progress, nil)])
    }
  }

  /// The rows of a table; of attempts whether they are packed or not. NULL and an empty value are the same to
  /// every reader.
  private func rows(_ path: String, _ table: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path, role: .reader)
    defer { connection.close() }
    if table == "attempts" { return try StoreRows.attempts(on: connection) }
    let names = try connection.prepare("prepare the test", "SELECT name, type FROM pragma_table_info('\(table)')")
      .rows { row throws(StoreError) in (name: row.text(0), isBlob: row.text(1) == "BLOB") }
    #expect(!names.isEmpty)
    let columns = names.filter { !(table == "requests" && $0.name == "past") }.map { column in
      switch column.name {
      case "target_id": "(SELECT key FROM targets g WHERE g.id = target_id)"
      case _ where column.isBlob: "hex(\(column.name))"
      default: "quote(\(column.name))"
      }
    }
    return try connection.prepare(
      "prepare the test", "SELECT \(columns.joined(separator: " || ' ' || ")) AS line FROM \(table) ORDER BY line"
    ).rows { row throws(StoreError) in
      #expect(!row.isNull(0))
      return row.text(0)
    }
  }

  private func tables(_ path: String) throws -> [String] {
    let connection = try SQLiteConnection(path: path, role: .reader)
    defer { connection.close() }
    return try connection.prepare(
      "prepare the test", "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).rows { row throws(StoreError) in row.text(0) }
  }

  @Test("every row of every table survives an archive, except rows that belong to no call")
  func everyRow() throws {
    let (path, copy) = (folder.file("calls.db"), folder.file("copy.db"))
    try fill(path)
    let export = try StoreExport(path: path, state: nil)
    defer { export.close() }
    let store = try StoreImport(
      path: copy, payloads: PayloadRule(compressMinBytes: 100, keptResponses: 2), at: Sample.start)
    var lines: [[UInt8]] = []
    try export.forEach {
      lines.append($0.json)
    } damage: {
      Issue.record("\($0)")
    }
    for line in lines {
      try store.add(try line.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) })
    }
    try store.finish()
    // An archive has no operators' settings of targets, documents, settings and counts.
    let left = ["targets", "settings", "documents", "statistics", "call_log"]
    let compared = try tables(path).filter { !left.contains($0) }
    #expect(
      Set(compared).isSuperset(of: ["calls", "requests", "attempts", "idempotency_keys", "turns", "labels", "retries"]))
    for table in compared {
      let before = try rows(path, table)
      #expect(!before.isEmpty, "\(table)")
      #expect(try rows(copy, table) == before, "\(table)")
    }
  }
}
