import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("Namespaces in the store")
struct NamespaceStoreTests {
  private let folder = TemporaryFolder()
  private let acme = Namespace("acme") ?? .default
  private let unheard = Namespace("unheard-of") ?? .default

  /// Calls 1 to 8, the even ones in a namespace, all with one label and one target's name, in several states.
  private func filled() throws -> (SQLiteStore, SQLiteReader) {
    let store = try SQLiteStore(path: folder.file("calls.db"))
    let states: [StoredState] = [.scheduled, .running, .failed, .succeeded]
    try store.commit(
      (1...8).map { number in
        .insert(
          Sample.call(
            number, states[(number - 1) / 2], target: TargetKey("t", in: number % 2 == 0 ? acme : .default),
            labels: [.init(name: "team", value: "a")]))
      })
    return (store, try SQLiteReader(path: folder.file("calls.db"), connections: 1, beside: store))
  }

  private func numbers(_ reader: SQLiteReader, _ filter: CallFilter, limit: Int = 50) throws -> [Int64] {
    var (found, cursor): ([Int64], CallID?) = ([], nil)
    repeat {
      let page = try reader.ids(CallQuery(filter, before: cursor, limit: limit, scanLimit: 1))
      found += page.calls.map { $0.rawValue - Sample.id(0).rawValue }
      cursor = page.next
    } while cursor != nil
    return found
  }

  @Test("each list shows only its own calls, and its cursor contains no id of another's")
  func lists() throws {
    let (store, reader) = try filled()
    defer { store.close() }
    for (namespace, own) in [(Namespace.default, [7, 5, 3, 1] as [Int64]), (acme, [8, 6, 4, 2]), (unheard, [])] {
      var filters = [CallFilter(), CallFilter(target: "t"), CallFilter(labels: [.init(name: "team", value: "a")])]
      filters.append(CallFilter(target: "t", labels: [.init(name: "team", value: "a")]))
      for index in filters.indices { filters[index].namespace = namespace }
      for filter in filters {
        #expect(try numbers(reader, filter) == own, "\(filter)")
        #expect(try numbers(reader, filter, limit: 1) == own, "\(filter)")
        let page = try reader.ids(CallQuery(filter, limit: 1, scanLimit: 1))
        #expect(page.next == (own.isEmpty ? nil : page.calls.last), "\(filter)")
      }
      var failed = CallFilter(state: .failed, failure: .notRetryable)
      failed.namespace = namespace
      #expect(try numbers(reader, failed) == own.filter { $0 == 5 || $0 == 6 })
      var qualified = CallFilter(target: TargetKey("t", in: acme).text)
      qualified.namespace = namespace
      #expect(try numbers(reader, qualified).isEmpty, "a name that looks like another's key is nobody's")
    }
  }

  @Test("a call of another namespace is treated as missing, and is not claimed")
  func calls() throws {
    let (store, reader) = try filled()
    defer { store.close() }
    for (id, owner, stranger) in [(Sample.id(1), Namespace.default, acme), (Sample.id(2), acme, .default)] {
      #expect(try reader.call(id, in: owner, allResponses: true)?.record.id == id)
      #expect(try reader.call(id, in: stranger, allResponses: true) == nil)
      #expect(try reader.call(id, in: unheard, allResponses: true) == nil)
      #expect(try reader.attempts(of: id, in: owner, withBodies: true) != nil)
      #expect(try reader.attempts(of: id, in: stranger, withBodies: true) == nil)
      #expect(try store.claim(id, in: stranger) == nil)
      #expect(try store.claim(id, in: unheard) == nil)
      #expect(try reader.call(id, allResponses: false)?.record.progress.state == .scheduled)
      #expect(try store.claim(id, in: owner)?.progress.state == .held)
    }
  }

  @Test("the next process gets the number of unfinished calls of every namespace")
  func recovery() throws {
    let (store, _) = try filled()
    store.close()
    let again = try SQLiteStore(path: folder.file("calls.db"))
    defer { again.close() }
    let state = try again.recover(at: Sample.start)
    #expect(state.unfinished == 4)
    #expect(state.namespaces.map { "\($0.namespace) \($0.unfinished)" } == ["default 2", "acme 2"])
    #expect(state.running.map { $0.spec.namespace } == [.default, acme])
    #expect(state.running.map { $0.spec.targetName } == ["t", "t"])
  }

  @Test("a namespace whose transaction is rolled back is given a number again")
  func rollback() throws {
    let (store, reader) = try filled()
    defer { store.close() }
    let other = Namespace("other") ?? .default
    let call = Sample.call(20, target: TargetKey("t", in: other))
    #expect(throws: StoreError.self) {
      try store.commit([.insert(call), .update(Sample.id(99), call.progress, nil)])
    }
    try store.commit([.insert(call)])
    var filter = CallFilter()
    filter.namespace = other
    #expect(try numbers(reader, filter) == [20])
  }

  @Test("keys stand in the file as their namespace, a separator and the key, and those of the default one bare")
  func storedText() throws {
    let (store, _) = try filled()
    defer { store.close() }
    let keys = [Namespace.default, acme].map { IdempotencyKey(IdempotencyName("k", in: $0), fingerprint: [1]) }
    try store.commit(
      keys.enumerated().map { number, key in
        .key(KeyRecord(key: key, call: Sample.id(1 + number), createdAt: Sample.start, expiresAt: Sample.time(60)))
      } + [
        .add(StoredPolicy(name: "p", version: 1, createdAt: Sample.start, json: [0x7B, 0x7D], in: acme).document)
      ])
    let file = try SQLiteConnection(path: folder.file("calls.db"), role: .reader)
    defer { file.close() }
    func texts(_ query: String) throws -> Set<String> {
      Set(try file.prepare("look at the file", query).rows { row throws(StoreError) in row.text(0) })
    }
    #expect(try texts("SELECT key FROM targets") == ["t", "acme\u{1F}t"])
    #expect(try texts("SELECT key FROM idempotency_keys") == ["k", "acme\u{1F}k"])
    #expect(try texts("SELECT name FROM labels") == ["team", "acme\u{1F}team"])
    #expect(try texts("SELECT id FROM documents") == ["acme\u{1F}p@1"])
  }

  @Test("policies and operations keep their namespaces")
  func documents() throws {
    let (store, reader) = try filled()
    defer { store.close() }
    let policies = [Namespace.default, acme].map {
      StoredPolicy(name: "fast", version: 1, createdAt: Sample.start, json: Array("{}".utf8), in: $0)
    }
    var request = try Array(#"{"action": "cancel", "all": true}"#.utf8).withUnsafeBufferPointer {
      try BulkRequest.read($0, rate: 5, at: Sample.start)
    }
    request.filter.namespace = acme
    let operation = BulkOperation(id: BulkOperationID(rawValue: 7), request: request, createdAt: Sample.start)
    try store.commit(policies.map { .add($0.document) } + [.put(operation.document)])
    #expect(Set(try reader.policies()) == Set(policies))
    #expect(try reader.operations() == [operation])
  }
}
