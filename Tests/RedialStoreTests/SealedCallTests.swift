import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Calls whose payloads are sealed")
struct SealedCallTests {
  let folder = TemporaryFolder()
  private var path: String { folder.file("calls.db") }

  /// Five calls with an answered and a failed attempt; the first attempts are rows, or packed with their call.
  private func store(packed: Bool, body: [UInt8] = Array("a body".utf8)) throws -> SQLiteStore {
    var rule = PayloadRule()
    rule.streamBodiesAbove = 1000
    let store = try SQLiteStore(path: path, payloads: rule, vault: TestKey.vault())
    for number in 1...5 {
      let call = Sample.call(number, .held, due: Sample.time(number), body: body)
      var progress = call.progress
      progress.attempts = 1
      progress.state = .held
      let first = StoreWrite.update(call.id, progress, Sample.attempt(1, body: Array("an answer".utf8)))
      progress.attempts = 2
      var failed = Sample.attempt(2)
      failed.response = nil
      failed.failure = AttemptFailure(code: "connectFailed", message: "no way to https://example.com/secret")
      let second = StoreWrite.update(call.id, progress, failed)
      if packed {
        try store.commit([.insert(call), first, second])
        try store.fold()
      } else {
        try store.commit([.insert(call)])
        try store.fold()
        try store.commit([first, second])
        try store.fold()
      }
    }
    return store
  }

  private func bytes(_ column: String, _ number: Int, in store: SQLiteStore) throws -> [UInt8] {
    let value: [UInt8]?? = try store.file.connection.value(
      "look", "SELECT \(column.replacing("ID", with: "\(Sample.id(number).rawValue)"))"
    ) { $0.isNull(0) ? nil : $0.bytes(0) }
    return try #require(value ?? nil)
  }

  private static let columns = [
    ("requests", "spec", "id"), ("requests", "body", "id"), ("requests", "past", "id"),
    ("attempts", "response_head", "number = 1 AND call_id"), ("attempts", "response_body", "number = 1 AND call_id"),
    ("attempts", "failure_message", "number = 2 AND call_id"),
  ]

  private func set(_ place: (String, String, String), _ number: Int, _ bytes: [UInt8], in store: SQLiteStore) throws {
    let hex = bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    let value = place.1 == "failure_message" ? "CAST(x'\(hex)' AS TEXT)" : "x'\(hex)'"
    try store.file.connection.execute(
      "change", "UPDATE \(place.0) SET \(place.1) = \(value) WHERE \(place.2) = \(Sample.id(number).rawValue)")
  }

  @Test("nothing of them is in the tables as it was sent", arguments: [true, false])
  func nothingReadable(packed: Bool) throws {
    let store = try store(packed: packed)
    defer { store.close() }
    let reader = try SQLiteReader(path: path, beside: store)
    let found = try #require(try reader.call(Sample.id(3), in: nil, allResponses: true))
    #expect(found.record.body == Array("a body".utf8))
    #expect(found.attempts[0].response?.body == Array("an answer".utf8))
    #expect(found.attempts[1].failure?.message == "no way to https://example.com/secret")
    var all = try bytes("spec FROM requests WHERE id = ID", 3, in: store)
    #expect(all.first == SealedForm.marker)
    all += try bytes("body FROM requests WHERE id = ID", 3, in: store)
    if packed {
      all += try bytes("past FROM requests WHERE id = ID", 3, in: store)
    } else {
      for column in ["response_head", "response_body"] {
        all += try bytes("\(column) FROM attempts WHERE number = 1 AND call_id = ID", 3, in: store)
      }
      all += try bytes("CAST(failure_message AS BLOB) FROM attempts WHERE number = 2 AND call_id = ID", 3, in: store)
    }
    let text = String(decoding: all, as: Unicode.ASCII.self)
    for secret in ["example.com", "a body", "an answer", "content-type", "secret"] { #expect(!text.contains(secret)) }
  }

  @Test("any change of any byte is found, and is the damage of that call alone", arguments: [true, false])
  func changedBytes(packed: Bool) throws {
    let store = try store(packed: packed)
    defer { store.close() }
    let reader = try SQLiteReader(path: path, beside: store)
    for place in Self.columns where (place.0 == "attempts") != packed || place.1 == "spec" {
      let select = "CAST(\(place.1) AS BLOB) FROM \(place.0) WHERE \(place.2) = ID"
      if packed, place.0 == "attempts" { continue }
      if !packed, place.1 == "past" { continue }
      let (right, other) = (try bytes(select, 3, in: store), try bytes(select, 4, in: store))
      var changes: [[UInt8]] = [other]
      for index in stride(from: 0, to: right.count, by: max(1, right.count / 40)) {
        // Another format would be that of another version; and base 64 must stay text.
        var changed = right
        changed[index] = place.1 == "failure_message" ? (right[index] == 65 ? 66 : 65) : right[index] ^ 1
        changes.append(changed)
      }
      for changed in changes where changed != right {
        try set(place, 3, changed, in: store)
        let error = #expect(throws: StoreError.self) { try reader.call(Sample.id(3), in: nil, allResponses: true) }
        #expect(error?.kind == .corrupt && error?.call == Sample.id(3), "\(place.1)")
        #expect(try reader.call(Sample.id(4), in: nil, allResponses: true) != nil)
      }
      try set(place, 3, right, in: store)
      #expect(try reader.call(Sample.id(3), in: nil, allResponses: true) != nil)
    }
  }

  @Test("a changed chunk of a body that is read in pieces is found when it is read")
  func changedChunks() throws {
    let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 7) }
    let store = try store(packed: false, body: body)
    defer { store.close() }
    let bodies = try StoredBodies(path: path, connections: 1, vault: store.vault)
    func read(_ number: Int) throws -> [UInt8] {
      let source = bodies.body(of: Sample.id(number), size: body.count)
      var all: [UInt8] = []
      while true {
        let piece = try source.next(atMost: 50_000)
        if piece.isEmpty { return all }
        all += piece
      }
    }
    #expect(try read(3) == body)
    let right = try bytes("body FROM requests WHERE id = ID", 3, in: store)
    for index in [1, 5, 20, right.count / 2, right.count - 1] {
      var changed = right
      changed[index] ^= 1
      try set(Self.columns[1], 3, changed, in: store)
      let error = #expect(throws: StoredBodyError.self) { try read(3) }
      if case .damaged = error {} else { Issue.record("\(String(describing: error))") }
    }
    #expect(try read(4) == body)
  }

  @Test("a logged call whose descriptor does not open ends, and the others go on")
  func loggedDamage() throws {
    let store = try SQLiteStore(path: path, vault: TestKey.vault())
    for number in 1...3 { try store.commit([.insert(Sample.call(number, .held, due: Sample.time(number)))]) }
    // What another data key has sealed.
    try store.file.connection.execute("change", "DELETE FROM documents WHERE id = 'default@1'")
    try store.commit([])
    store.file.close()
    let log = NoticeLog()
    let next = try SQLiteStore(path: path, vault: TestKey.vault(), notices: log.notices)
    defer { next.close() }
    _ = try next.recover(at: Sample.start)
    let fresh = Sample.call(4, .scheduled, due: Sample.time(1))
    try next.commit([.insert(fresh)])
    #expect(try next.claimDue(before: Sample.time(9), limit: 9).calls.map(\.id) == [Sample.id(4)])
    #expect(log.damaged.count == 3)
    #expect(log.damaged.first?.message.contains("is missing in the store") == true)
  }

  @Test("all is sealed by new keys, also when it is interrupted after any step", arguments: [true, false])
  func rekey(packed: Bool) throws {
    // Some from before there was a key.
    let plain = try SQLiteStore(path: path)
    try plain.commit([.insert(Sample.call(9, .scheduled, due: Sample.time(9), body: Array("plain".utf8)))])
    try plain.commit([.put(StoredDocument(.policy, id: "a", Array("{}".utf8)))])
    plain.close()
    try store(packed: packed).close()
    func keys(_ store: SQLiteStore) throws -> [String] { try store.documents(.dataKey).map(\.id).sorted() }
    func shown(_ store: SQLiteStore) throws -> [[UInt8]] {
      let reader = try SQLiteReader(path: path, beside: store)
      return try ([1, 2, 3, 4, 5, 9] as [Int]).map { number in
        let call = try #require(try reader.call(Sample.id(number), in: nil, allResponses: true))
        return call.record.spec.canonicalJSON + call.record.body
          + call.attempts.flatMap { ($0.response?.body ?? []) + Array(($0.failure?.message ?? "").utf8) }
      }
    }
    var before: [[UInt8]] = []
    var steps = 0
    while true {
      let store = try SQLiteStore(path: path, vault: TestKey.vault())
      if before.isEmpty {
        before = try shown(store)
        #expect(try keys(store) == ["default@1"])
        try store.beginRekey()
      }
      let step = try store.rekeyStep()
      #expect(try shown(store) == before)
      let isDone = try step == nil && store.setting(SQLiteStore.rekeySetting) == nil
      if isDone { #expect(try keys(store) == ["*@1", "default@2"]) }
      // As a killed process does.
      store.file.close()
      steps += 1
      if isDone { break }
    }
    #expect(steps == 2)
    let store = try SQLiteStore(path: path, vault: TestKey.vault())
    defer { store.close() }
    #expect(try shown(store) == before)
    #expect(try bytes("spec FROM requests WHERE id = ID", 9, in: store).first == SealedForm.marker)
    #expect(try store.documents(.policy).map(\.content) == [Array("{}".utf8)])
  }

  @Test("with the key of a namespace its payloads are erased, and never served as something else")
  func erasedNamespace() throws {
    let store = try store(packed: true)
    defer { store.close() }
    #expect(try store.eraseKeys(of: .default) == 1)
    let reader = try SQLiteReader(path: path, beside: store)
    let error = #expect(throws: StoreError.self) { try reader.call(Sample.id(3), in: nil, allResponses: true) }
    #expect(error?.message.contains("was erased with the key of the namespace default") == true)
    let fresh = Sample.call(7, .held, due: Sample.time(7), body: Array("new".utf8))
    try store.commit([.insert(fresh)])
    #expect(try reader.call(fresh.id, in: nil, allResponses: true)?.record.body == Array("new".utf8))
    #expect(try store.eraseKeys(of: .default) == 1)
  }

  @Test("an archive's lines are sealed, and open with the archive's key alone")
  func archiveLines() throws {
    let vault = TestKey.vault()
    var seal = try vault.archiveSeal()
    let line = ArchiveLine.item(.setting(name: "webhookSecret", value: "whsec_known"))
    let sealed = seal.line(line)
    #expect(!String(decoding: sealed, as: UTF8.self).contains("whsec"))
    func read(_ line: [UInt8], _ opener: ArchiveOpener?) throws -> ArchiveLine {
      try line.withUnsafeBufferPointer { try ArchiveLine.read($0, at: Sample.start, opener) }
    }
    guard case .key(let key) = try read(ArchiveLine.key(seal.key).json, nil) else { throw SealDamage.changed }
    let opener = try TestKey.vault().opener(of: key)
    #expect(try read(sealed, opener).json == line.json)
    #expect(throws: (any Error).self) { try read(sealed, nil) }
    let other = try vault.opener(of: vault.archiveSeal().key)
    #expect(throws: (any Error).self) { try read(sealed, other) }
  }
}
