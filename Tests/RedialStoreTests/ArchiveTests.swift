import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore
import RedialJSON

@Suite("Copies of a store")
struct ArchiveTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("calls.db") }

  private func filledStore(_ count: Int = 50) throws -> SQLiteStore {
    let store = try SQLiteStore(path: path)
    for number in 0..<count {
      let state = StoredState.allCases[number % StoredState.allCases.count]
      var call = Sample.call(
        number, state, target: "t\(number % 3)", kind: number % 5 == 0 ? .webhook : .call,
        callback: number % 4 == 0 ? Callback(url: "https://me.example.com/hooks") : nil,
        body: [UInt8](repeating: UInt8(number), count: number * 300))
      call.progress.waiting = state == .scheduled ? .backoff : nil
      call.progress.attempts = 2
      var failed = Sample.attempt(2)
      failed.response = nil
      failed.failure = AttemptFailure(code: "timeout", message: "é \"quoted\"")
      try store.commit([
        .insert(call), .update(call.id, call.progress, Sample.attempt(1)),
        .update(call.id, call.progress, failed),
      ])
    }
    try store.commit([
      .key(
        KeyRecord(
          key: IdempotencyKey("a \"key\"", fingerprint: [1, 255]), call: Sample.id(3), createdAt: Sample.start,
          expiresAt: Sample.time(60)))
    ])
    return store
  }

  private func exported(_ path: String, state: CallState? = nil) throws -> [[UInt8]] {
    let export = try StoreExport(path: path, state: state)
    defer { export.close() }
    var lines: [[UInt8]] = []
    try export.forEach {
      lines.append($0.json)
    } damage: {
      Issue.record("\($0)")
    }
    return lines
  }

  @Test("an exported call of which a bit has changed is refused", arguments: 0..<4)
  func changedBits(seed: Int) throws {
    try filledStore(8).close()
    var random = RandomSource(seed: UInt64(seed))
    for line in try exported(path) {
      for _ in 0..<60 {
        var damaged = line
        let place = Int.random(in: 0..<line.count, using: &random)
        damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        #expect(throws: JSONError.self, "byte \(place), seed \(seed)") {
          try damaged.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) }
        }
      }
      // One that somebody has changed on purpose, and one of an earlier version.
      let bare = Array(line.dropLast(23)) + [UInt8(ascii: "}")]
      #expect(try bare.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) }.record.body.count >= 0)
    }
  }

  private func importing(_ lines: [[UInt8]], into path: String) throws -> StoreImport.Tally {
    let store = try StoreImport(path: path, at: Sample.start)
    for line in lines {
      try store.add(try line.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) })
    }
    try store.finish()
    return store.tally
  }

  @Test("what is exported and imported is the same, to the last byte, and once however often it is imported")
  func roundTrip() throws {
    try filledStore().close()
    let lines = try exported(path)
    #expect(lines.count == 50)
    let copy = folder.file("copy.db")
    var tally = try importing(Array(lines[..<20]), into: copy)
    #expect((tally.imported, tally.known) == (20, 0))
    tally = try importing(lines + lines[..<5], into: copy)
    #expect((tally.imported, tally.known) == (30, 25))
    #expect(try exported(copy) == lines)
    let inspection = try SQLiteInspection(path: copy)
    #expect(try inspection.report(at: Sample.start).findings.allSatisfy { $0.count == 0 || $0.check == .miscounted })
    // A key also finds its call in the copy.
    let store = try SQLiteStore(path: copy)
    defer { store.close() }
    #expect(try store.find(key: "a \"key\"", at: Sample.start)?.call == Sample.id(3))
  }

  @Test("calls that only the log of the store has are known to an import, with their keys")
  func importBesideTheLog() throws {
    let store = try filledStore()
    defer { store.close() }
    var call = Sample.call(90, .running)
    let key = KeyRecord(
      key: IdempotencyKey("logged", fingerprint: [1]), call: call.id, createdAt: Sample.start,
      expiresAt: Sample.time(60))
    try store.commit([.insert(call), .key(key)])
    call.progress.state = .succeeded
    call.progress.attempts = 1
    call.progress.finishedAt = Sample.time(1)
    try store.commit([.update(call.id, call.progress, Sample.attempt(1))])
    #expect(store.log.call(call.id) != nil)
    let copy = folder.file("copy.db")
    _ = try StoreBackup.copy(from: path, to: copy)
    let lines = try exported(path)
    let tally = try importing(lines, into: copy)
    #expect((tally.imported, tally.known) == (0, lines.count))
    #expect(try exported(copy) == lines)
    let restored = try SQLiteStore(path: copy)
    defer { restored.close() }
    #expect(try restored.find(key: "logged", at: Sample.start)?.call == call.id)
  }

  @Test("an export has the calls of the requested state, and continues after a damaged one")
  func filter() throws {
    let store = try filledStore()
    defer { store.close() }
    for state in CallState.allCases {
      let lines = try exported(path, state: state)
      #expect(lines.count == (0..<50).count { StoredState.allCases[$0 % 7].visible == state })
    }
    try store.fold()
    try store.file.connection.execute(
      "prepare the test", "UPDATE requests SET spec = x'00' WHERE id = \(Sample.id(3).rawValue)")
    let export = try StoreExport(path: path, state: nil)
    var (calls, damaged) = (0, [String]())
    try export.forEach { _ in
      calls += 1
    } damage: {
      damaged.append($0.message)
    }
    #expect(calls == 49)
    #expect(damaged.count == 1 && damaged[0].contains(Sample.id(3).description))
  }

  @Test("a key that this store still has, or that has expired, is not imported")
  func keys() throws {
    func keyed(_ number: Int, _ text: String, until second: Int) -> ArchivedCall {
      let key = IdempotencyKey(IdempotencyName(text, in: .default), fingerprint: [UInt8(number)])
      return ArchivedCall(
        record: Sample.call(number), attempts: [],
        key: KeyRecord(key: key, call: Sample.id(number), createdAt: Sample.start, expiresAt: Sample.time(second)))
    }
    let theirs = [(1, "later", 200), (2, "sooner", 50), (3, "expired", 5), (4, "new", 300)]
    let ours = [(11, "later", 100), (12, "sooner", 100)]
    for calls in [ours, theirs] {
      let store = try StoreImport(path: path, at: Sample.time(calls[0].0 == 11 ? 0 : 10))
      for (number, text, second) in calls { try store.add(keyed(number, text, until: second)) }
      try store.finish()
    }
    let store = try SQLiteStore(path: path)
    defer { store.close() }
    let found = try ["later", "sooner", "expired", "new"].map { try store.find(key: $0, at: Sample.start)?.call }
    #expect(found == [Sample.id(1), Sample.id(12), nil, Sample.id(4)])
  }

  @Test("an id of a future day is refused, because no id could follow it")
  func future() throws {
    var call = ArchivedCall(record: Sample.call(1), attempts: [])
    let ahead = { (seconds: Int) in CallID(rawValue: (Sample.time(seconds).microseconds / 1000) << 20) }
    for (id, isFine) in [(ahead(86_000), true), (ahead(87_000), false), (CallID(rawValue: .max), false)] {
      let record = call.record
      call.record = CallRecord(
        id: id, kind: .call, spec: record.spec, body: [], createdAt: record.createdAt, progress: record.progress)
      let read = { try call.json.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) } }
      if isFine {
        #expect(try read().record.id == id)
      } else {
        let error = #expect(throws: JSONError.self) { try read() }
        #expect(error?.reason.contains("more than a day") == true)
      }
    }
  }

  @Test("a page of large calls ends early, and the next one goes on there")
  func pages() throws {
    let store = try SQLiteStore(path: path)
    for number in 1...7 {
      try store.commit([.insert(Sample.call(number, body: [UInt8](repeating: 7, count: 9_000_000)))])
    }
    store.close()
    let export = try StoreExport(path: path, state: nil)
    defer { export.close() }
    var (sizes, last): ([Int], CallID?) = ([], nil)
    repeat {
      let page = try export.page(after: last)
      sizes.append(page.calls.count)
      last = page.end
    } while last != nil
    #expect(sizes == [2, 2, 2, 1])
  }

  @Test("nothing is imported into the store of a running service")
  func inUse() throws {
    let store = try filledStore()
    defer { store.close() }
    let error = #expect(throws: StoreError.self) { try StoreImport(path: path, at: Sample.start) }
    #expect(error?.kind == .inUse)
  }

  @Test(
    "a line that is not an archived call is refused with the reason",
    arguments: [
      ("", "{", "ends"), ("\"state\":\"held\"", "\"state\":\"hold\"", "state"), ("\"body\"", "\"bodi\"", "bodi"),
      ("\"due\":", "\"dua\":", "dua"), ("\"id\":\"call_", "\"id\":\"cell_", "id of a call"),
      ("\"url\":\"https:", "\"url\":\"ftp:", "url"), ("\"finishedAt\":null", "\"finishedAt\":5", "finishedAt"),
      ("\"attemptCount\":2", "\"attemptCount\":-2", "attemptCount"),
    ])
  func faulty(good: String, bad: String, reason: String) throws {
    try filledStore(3).close()
    let line = String(decoding: try exported(path)[2], as: UTF8.self)
    #expect(good.isEmpty || line.contains(good), "\(line)")
    let changed = Array((good.isEmpty ? bad : line.replacing(good, with: bad)).utf8)
    let error = #expect(throws: JSONError.self) {
      try changed.withUnsafeBufferPointer { try ArchivedCall.read($0, at: Sample.start) }
    }
    #expect(error?.reason.contains(reason) == true, "\(String(describing: error))")
  }

  @Test(
    "a backup of a store in use is complete, as of one moment, and only for this user",
    arguments: [false, true])
  func backup(compact: Bool) throws {
    let store = try filledStore()
    defer { store.close() }
    let copy = folder.file("it's a copy.db")
    let bytes = try StoreBackup.copy(from: path, to: copy, compact: compact)
    try store.commit([.insert(Sample.call(1000))])
    #expect(contents(of: copy)?.count == bytes)
    #expect(permissions(of: copy) == 0o600)
    #expect(contents(of: copy + ".partial") == nil)
    #expect(try exported(copy).count == 50)
    #expect(try exported(copy) == Array(try exported(path).dropLast()))
    let restored = try SQLiteStore(path: copy)
    #expect(restored.pages.isPossible)
    #expect(try restored.recover(at: Sample.start).unfinished > 0)
    restored.close()
  }

  @Test("what is committed between two parts of a backup is not in it, and does not begin it anew")
  func backupInParts() throws {
    let store = try filledStore()
    defer { store.close() }
    try store.fold()
    let (source, copy) = (try SQLiteConnection(path: path, role: .reader), folder.file("copy.db"))
    defer { source.close() }
    let target = try SQLiteConnection(path: copy, role: .writer)
    var parts = 1
    try target.takeAll(of: source, pagesAtOnce: 8) { () throws(StoreError) in
      try store.commit([.insert(Sample.call(1000 + parts))])
      parts += 1
    }
    let pages = try #require(try target.value("count pages", "PRAGMA page_count") { $0.integer(0) })
    target.close()
    #expect(pages > 24 && parts == (pages + 7) / 8)
    #expect(try exported(copy).count == 50)
    #expect(try exported(path).count == 50 + parts - 1)
  }

  @Test("a pause that fails ends a backup of either kind")
  func failedPause() throws {
    try filledStore().close()
    let failure = StoreError(kind: .full, message: "full")
    let source = try SQLiteConnection(path: path, role: .reader)
    defer { source.close() }
    let target = try SQLiteConnection(path: folder.file("copy.db"), role: .writer)
    defer { target.close() }
    let inParts = #expect(throws: StoreError.self) {
      try target.takeAll(of: source, pagesAtOnce: 8) { () throws(StoreError) in throw failure }
    }
    let compact = #expect(throws: StoreError.self) {
      try source.execute("copy the store", "VACUUM INTO '\(folder.file("other.db"))'", stepsAtOnce: 10) {
        () throws(StoreError) in throw failure
      }
    }
    #expect(inParts?.message == "full" && compact?.message == "full")
  }

  @Test("a backup overwrites nothing, and leaves nothing behind if it fails")
  func backupRefusals() throws {
    try filledStore(3).close()
    let copy = folder.file("copy.db")
    writeFile(copy, [1])
    #expect(throws: StoreError.self) { try StoreBackup.copy(from: path, to: copy) }
    #expect(contents(of: copy) == [1])
    let other = folder.file("other.db")
    #expect(throws: StoreError.self) { try StoreBackup.copy(from: copy, to: other) }
    #expect(throws: StoreError.self) { try StoreBackup.copy(from: folder.file("none.db"), to: other) }
    #expect(throws: StoreError.self) { try StoreBackup.copy(from: path, to: folder.file("no/such/folder.db")) }
    #expect(contents(of: other) == nil && contents(of: other + ".partial") == nil)
  }

  @Test("what a backup that was cut off has left is replaced, and stays whole under another name")
  func backupAfterCut() throws {
    try filledStore(3).close()
    let copy = folder.file("copy.db")
    for end in ["", "-journal", "-wal"] { writeFile(copy + ".partial" + end, [1, 2, 3]) }
    _ = try StoreBackup.copy(from: path, to: copy)
    #expect(try exported(copy).count == 3)
    // It was ended when its copy was complete, and had its name; then that was moved away.
    #expect(link(copy, copy + ".partial") == 0 && rename(copy, folder.file("moved.db")) == 0)
    _ = try StoreBackup.copy(from: path, to: copy, compact: true)
    #expect(try exported(copy).count == 3)
    #expect(try exported(folder.file("moved.db")).count == 3)
  }

  @Test("a file has its name only when it is complete, and two writers do not write the same")
  func partialFiles() throws {
    let name = folder.file("calls.jsonl")
    func write(_ byte: UInt8, completing: Bool) throws(StoreError) {
      let file = try PartialFile(name)
      #expect(Glibc.write(file.descriptor, [byte], 1) == 1)
      #expect(contents(of: name) == nil)
      #expect(throws: StoreError.self) { try PartialFile(name) }
      if completing { #expect(try file.complete() == 1) }
    }
    try write(1, completing: false)
    #expect(contents(of: PartialFile.path(of: name)) == nil)
    try write(2, completing: true)
    #expect(contents(of: name) == [2] && contents(of: PartialFile.path(of: name)) == nil)
    #expect(throws: StoreError.self) { try PartialFile(name) }
  }
}
