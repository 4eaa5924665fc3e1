import RedialCore
package import RedialModel
package import RedialStore
import Testing

/// The rules for stores that are moved: for each pair of a store to copy and a store that gets all of it.
package struct MigrationConformance {
  /// Why a store cannot be opened. The compiler counts no use of a type that is only thrown by a closure.
  package typealias Failure = StoreError

  /// Opens the store to copy.
  package var openSource: () throws(Failure) -> any MigrationSource
  /// Opens a destination at the place of the store to copy, to fill it.
  package var openFilling: () throws(Failure) -> any MigrationDestination
  /// Opens the destination.
  package var openDestination: () throws(StoreError) -> any MigrationDestination
  /// Opens the destination as a source, to go on from there.
  package var openResult: () throws(StoreError) -> any MigrationSource

  /// Creates the suite.
  package init(
    openSource: @escaping () throws(StoreError) -> any MigrationSource,
    openFilling: @escaping () throws(StoreError) -> any MigrationDestination,
    openDestination: @escaping () throws(StoreError) -> any MigrationDestination,
    openResult: @escaping () throws(StoreError) -> any MigrationSource
  ) {
    self.openSource = openSource
    self.openFilling = openFilling
    self.openDestination = openDestination
    self.openResult = openResult
  }

  /// A migration moves everything; the result is equal, and can be moved on.
  package func migration() throws {
    try fill()
    let source = try openSource()
    try Self.expectAll(source.contents)
    let destination = try openDestination()
    let outcome = try StoreMigration(from: source, to: destination, at: Sample.start).run()
    #expect(outcome.differences.count == 0, "\(outcome.differences.examples)")
    #expect(!outcome.isResumed && outcome.calls == ArchiveSamples.calls.count)
    #expect(outcome.attempts == ArchiveSamples.calls.reduce(0) { $0 + $1.attempts.count })
    #expect(outcome.items.values.reduce(0, +) == ArchiveSamples.items.count)
    #expect(try destination.mark() == nil)
    destination.close()
    source.close()
    try expectAll()
  }

  /// A migration that is interrupted at any place goes on from there, and nobody can use the store before its end.
  package func interruptions(after count: Int) throws {
    try fill()
    var runs = 0
    while true {
      runs += 1
      let source = try openSource()
      let destination = WrappedDestination(try openDestination())
      destination.left = count
      defer {
        destination.close()
        source.close()
      }
      do {
        let outcome = try StoreMigration(from: source, to: destination, at: Sample.start).run()
        #expect(outcome.differences.count == 0, "\(outcome.differences.examples)")
        #expect(outcome.isResumed == (runs > 1))
        break
      } catch {
        #expect(error.message == "interrupted")
      }
      destination.close()
      source.close()
      let refused = #expect(throws: StoreError.self) { try openResult() }
      #expect(refused?.message.contains("only partly filled") == true)
    }
    #expect(runs > 1)
    try expectAll()
  }

  /// What was changed on the way is found, told without its content, and keeps the store from being used.
  package func differences() throws {
    try fill()
    let (source, destination) = (try openSource(), WrappedDestination(try openDestination()))
    destination.isAltering = true
    let outcome = try StoreMigration(from: source, to: destination, at: Sample.start).run()
    #expect(outcome.differences.count == 6)
    let told = outcome.differences.examples
    #expect(told.contains("\(Sample.id(3)) differs in attemptCount"))
    #expect(told.contains { $0.hasPrefix("\(Sample.id(4)) is missing in") })
    #expect(told.contains { $0.hasPrefix("\(Sample.id(1000)) is not in") })
    #expect(told.contains { $0.hasPrefix("the setting xplain differs in") })
    #expect(told.contains { $0.hasPrefix("the policy odd0 is missing in") })
    #expect(told.contains { $0.hasPrefix("the apiKey added is not in") })
    #expect(try destination.mark() != nil)
    destination.close()
    source.close()
  }

  /// Other contents, and another source, are refused, and nothing is changed.
  package func refusals() throws {
    try fill()
    let (source, destination) = (try openSource(), try openDestination())
    let migration = StoreMigration(from: source, to: destination, at: Sample.start)
    func refusal(_ mark: MigrationMark) throws -> String {
      try destination.begin(mark)
      let refused = #expect(throws: StoreError.self) { try migration.run() }
      #expect(try destination.mark() == mark)
      try destination.end()
      return refused?.message ?? ""
    }
    let mark = MigrationMark(source: source.place, state: try source.state)
    var other = mark
    other.source = "another store"
    #expect(try refusal(other).contains("has a part of another store"))
    other = mark
    other.state = "another"
    #expect(try refusal(other).contains("was in use since"))
    #expect(try destination.insert([.setting(name: "a", value: "b")]) == 1)
    #expect(try destination.insert([.setting(name: "a", value: "c")]) == 0)
    let refused = #expect(throws: StoreError.self) { try migration.run() }
    #expect(refused?.message.contains("is not empty: it has settings") == true)
    let contents = try destination.contents()
    #expect(try destination.mark() == nil && Self.lines(contents).count == 1)
    contents.close()
    destination.close()
    source.close()
  }

  // MARK: Parts

  private func fill() throws {
    let store = try openFilling()
    let filling = StoreImport(into: store, at: Sample.start)
    // A target that says nothing does not travel.
    try filling.add(.target(TargetKey("plain", in: .default), TargetRecord()))
    for item in ArchiveSamples.items { try filling.add(item) }
    for call in ArchiveSamples.calls { try filling.add(call) }
    try filling.finish()
  }

  private func expectAll() throws {
    let result = try openResult()
    defer { result.close() }
    try Self.expectAll(result.contents)
  }

  private static func expectAll(_ source: any ArchiveSource) throws {
    let found = try lines(source)
    #expect(found.count == ArchiveSamples.lines.count)
    let difference = zip(found, ArchiveSamples.lines).first { $0 != $1 }
    #expect(difference == nil)
  }

  private static func lines(_ source: any ArchiveSource) throws -> [String] {
    var lines: [ArchiveLine] = try source.items { Issue.record("\($0)") }.map { .item($0) }
    try source.forEach {
      lines.append(.call($0))
    } damage: {
      Issue.record("\($0)")
    }
    return lines.map(\.text)
  }
}

/// A destination whose process ends after some transactions, or that changes some values, leaves some out and adds some.
private final class WrappedDestination: MigrationDestination {
  private let store: any MigrationDestination
  /// How many transactions with calls are left; nil for all.
  var left: Int?
  var isAltering = false

  init(_ store: any MigrationDestination) { self.store = store }

  func insert(_ items: [StoreItem]) throws(StoreError) -> Int {
    var items = items
    if isAltering {
      items = items.compactMap { item in
        switch item {
        case .setting("xplain", _): .setting(name: "xplain", value: "changed")
        case .document(let document) where document.id == "odd0": nil
        default: item
        }
      }
      items.append(.document(StoredDocument(.apiKey, id: "added", [1])))
    }
    return try store.insert(items)
  }

  func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError) {
    var calls = calls
    if isAltering {
      calls[3].record.progress.attempts += 1
      calls.remove(at: 4)
      calls.append(ArchivedCall(record: Sample.call(1000), attempts: []))
    }
    guard let left else { return try store.insert(calls, at: now) }
    // Of several transactions, so many are made.
    let size = 17
    var rest = calls[...]
    var count = left
    while !rest.isEmpty {
      guard count > 0 else { throw StoreError(kind: .unavailable, message: "interrupted") }
      count -= 1
      try store.insert(Array(rest.prefix(size)), at: now)
      rest = rest.dropFirst(size)
    }
  }

  var place: String { store.place }
  func check(_ item: StoreItem) throws(StoreError) { try store.check(item) }
  func known(_ ids: [CallID]) throws(StoreError) -> Set<CallID> { try store.known(ids) }
  func contents() throws(StoreError) -> any ArchiveSource { try store.contents() }
  func mark() throws(StoreError) -> MigrationMark? { try store.mark() }
  func begin(_ mark: MigrationMark) throws(StoreError) { try store.begin(mark) }
  func end() throws(StoreError) { try store.end() }
  func finish() throws(StoreError) { try store.finish() }
  func close() { store.close() }
}
