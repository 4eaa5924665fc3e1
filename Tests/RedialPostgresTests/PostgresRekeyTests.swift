import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Testing

@testable import RedialPostgres

@Suite("New data keys of a database beside an instance that does not know of them")
struct PostgresRekeyTests {
  let database = TestDatabase()

  /// The database's settings, with a vault of its own.
  private var settings: PostgresSettings {
    var settings = database.settings
    settings.vault = TestKey.vault()
    return settings
  }

  private static func write(_ number: Int) -> StoreWrite {
    .insert(Sample.call(number, .scheduled, due: Sample.time(1), target: "t"))
  }

  /// The data keys of the store, and those that its calls and settings name, by the numbers of their generations.
  private func generations() throws -> (known: [Int], calls: [Int]) {
    let side = SideConnection(settings)
    defer { side.close() }
    let keys = try StoredDataKeys.all(side).map { try StoredDataKey($0) }
    let specs = try database.rows("SELECT spec FROM requests ORDER BY id")
    let calls = specs.map { row in
      let number = specs.withBytes(row, 0) { SealedForm.key(of: $0) }
      return keys.first { number == UInt32($0.key) }?.generation ?? 0
    }
    return (keys.filter { $0.namespace == "default" }.map(\.generation).sorted(), calls)
  }

  @Test("what it seals by a key that was replaced or erased meanwhile is not stored, but sealed again")
  func stale() throws {
    let instance = try Instance(settings, meets: false)
    defer { instance.kill() }
    _ = try instance.lease()
    try instance.works.commit([Self.write(1)])
    #expect(try generations() == (known: [1], calls: [1]))
    try PostgresRekey.run(settings) { _ in }
    #expect(try generations() == (known: [2], calls: [2]))
    try instance.works.commit([Self.write(2)])
    #expect(try generations() == (known: [2], calls: [2, 2]))
    #expect(try instance.works.claimDue(before: Sample.time(9), limit: 9).calls.count == 2)
    #expect(try PostgresRekey.erase(.default, settings) == 1)
    try instance.works.commit([Self.write(3)])
    #expect(try generations() == (known: [2, 3], calls: [2, 2, 3]))
  }

  @Test("so are documents and settings, also those that are changed only if they are as they were read")
  func staleDocuments() throws {
    let instance = try Instance(settings, meets: false)
    defer { instance.kill() }
    let (kind, id) = (StoredDocument.Kind.credential, "a")
    try instance.store.addSecret(StoredDocument(kind, id: id, [1]))
    try instance.store.setSetting("webhookSecret", to: "one")
    for round in 1...3 as ClosedRange<UInt8> {
      try PostgresRekey.run(settings) { _ in }
      #expect(try instance.store.replaceDocument(kind, id: id, [round], with: [round + 1]))
      #expect(try !instance.store.replaceDocument(kind, id: id, [round], with: [9]))
      try PostgresRekey.run(settings) { _ in }
      try instance.store.setSetting("webhookSecret", to: "\(round)")
      let other = try PostgresStore(settings)
      defer { other.close() }
      #expect(try other.document(kind, id: id) == [round + 1])
      #expect(try other.setting("webhookSecret") == "\(round)")
    }
  }

  @Test("a call whose payload is erased while it is sealed again stays erased")
  func erased() throws {
    let settings = settings
    let instance = try Instance(settings, meets: false)
    defer { instance.kill() }
    _ = try instance.lease()
    try instance.works.commit([Self.write(1)])
    // A batch of a run that has begun: there is a newer key.
    let side = SideConnection(settings)
    defer { side.close() }
    let next = try #require(try settings.vault.newKey(of: "default", isNext: true))
    try settings.vault.add(next)
    let batch = try RekeyBatch([Sample.id(1).rawValue], side)
    _ = try database.rows("UPDATE requests SET spec = '\\x00', body = NULL RETURNING 1")
    #expect(try !batch.isWritten(side))
    #expect(try database.number("SELECT count(*) FROM requests WHERE spec = '\\x00' AND body IS NULL") == 1)
  }

  @Test("rows of every form are sealed again, and read as before", arguments: [false, true])
  func everyForm(isSealedBefore: Bool) throws {
    let sealed = settings
    var isSealed = isSealedBefore
    /// Each opened store has a vault of its own.
    func current() -> PostgresSettings {
      var settings = database.settings
      if isSealed { settings.vault = TestKey.vault() }
      return settings
    }
    let conformance = StoreConformance(
      openStore: { AwaitedStore(try PostgresStore(current(), sharing: .alone)) },
      openReader: { _ in try PostgresReader(current(), connections: 1) })
    try conformance.rekey { id in
      _ = try database.rows(
        "UPDATE requests SET spec = set_byte(spec, octet_length(spec) - 1, 0) WHERE id = \(id.rawValue) RETURNING 1")
    } rekey: {
      var settings = sealed
      settings.vault = TestKey.vault()
      isSealed = true
      try PostgresRekey.run(settings) { _ in }
    }
  }

  @Test("two commands do not change keys at once")
  func exclusive() throws {
    let lock = try IdleDatabase(settings)
    try PostgresSchema.open(lock.connection, schema: settings.schema)
    try lock.beginToWait("test")
    try lock.lockForKeys()
    #expect(throws: StoreError.self) { try PostgresRekey.run(settings) { _ in } }
    try lock.execute(["ROLLBACK"], purpose: "test")
    try PostgresRekey.run(settings) { _ in }
  }
}
