import RedialCore
import RedialModel
import RedialStore
import Testing

extension StoreConformance {
  /// A key finds its call until it expires, in the next process too, and may then be used again.
  package func keys() throws {
    let store = try openStore()
    func record(_ number: Int, _ name: IdempotencyName, at created: Timestamp) -> KeyRecord {
      KeyRecord(
        key: IdempotencyKey(name, fingerprint: [1, 2, UInt8(number)]), call: Sample.id(number),
        createdAt: created,
        expiresAt: created + .seconds(60))
    }
    let first = record(1, "a \"b\" é", at: Sample.start)
    try store.commit([
      .insert(Sample.call(1)), .key(first), .insert(Sample.call(2)), .key(record(2, "b", at: Sample.start)),
    ])
    #expect(try store.find(key: first.key.name, at: Sample.time(59)) == first)
    #expect(try store.find(key: first.key.name, at: Sample.time(60)) == nil)
    #expect(try store.find(key: "c", at: Sample.start) == nil)
    let names: [IdempotencyName] = ["c", first.key.name, "b", first.key.name]
    let reader = try openReader(store)
    let calls = [nil, Sample.id(1), Sample.id(2), Sample.id(1)]
    #expect(try reader.keys(names, at: Sample.time(59)).map(\.?.call) == calls)
    #expect(try reader.keys([first.key.name], at: Sample.time(59)) == [first])
    #expect(try reader.keys(names, at: Sample.time(60)) == [nil, nil, nil, nil])
    #expect(try reader.keys([], at: Sample.start).isEmpty)
    store.close()
    let next = try openStore()
    defer { next.close() }
    #expect(try next.find(key: first.key.name, at: Sample.time(59)) == first)
    let later = record(3, first.key.name, at: Sample.time(100))
    try next.commit([.insert(Sample.call(3)), .key(later)])
    #expect(try next.find(key: first.key.name, at: Sample.time(101)) == later)
    // Expired keys are removed with the next new one: looked up in the past, "b" no longer exists.
    #expect(try next.find(key: "b", at: Sample.start) == nil)
  }

  /// A discarded call is removed with all its data, whether it was there or not; its id can be used again.
  package func discards() throws {
    let store = try openStore()
    let reader = try openReader(store)
    defer { store.close() }
    let key = KeyRecord(
      key: IdempotencyKey("k", fingerprint: [1]), call: Sample.id(1), createdAt: Sample.start,
      expiresAt: Sample.time(60))
    var call = Sample.call(1, .running)
    call.progress.attempts = 1
    try store.commit([
      .insert(call), .key(key), .update(call.id, call.progress, Sample.attempt(1)), .insert(Sample.call(2)),
    ])
    try store.commit([.discard(Sample.id(1)), .discard(Sample.id(9))])
    #expect(try reader.call(Sample.id(1), allResponses: true) == nil)
    #expect(try store.find(key: "k", at: Sample.start) == nil)
    #expect(try reader.keys(["k"], at: Sample.start) == [nil])
    #expect(try reader.call(Sample.id(2), allResponses: true) != nil)
    try store.commit([.discard(Sample.id(1)), .insert(call)])
    #expect(try reader.call(Sample.id(1), allResponses: true)?.attempts.isEmpty == true)
  }
}
