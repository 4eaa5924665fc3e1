package import RedialModel
package import RedialStore
import Testing

/// The rules for stores whose contents are moved: for each pair of a store to copy and a store that gets the contents.
package struct ContentConformance {
  /// Why a store cannot be opened. The compiler counts no use of a type that is only thrown by a closure.
  package typealias Failure = StoreError

  /// Opens the store to copy.
  package var openSource: () throws(Failure) -> any StoreSource
  /// Opens a destination at the place of the store to copy, to fill it.
  package var openFilling: () throws(Failure) -> any StoreDestination
  /// Opens the destination.
  package var openDestination: () throws(StoreError) -> any StoreDestination
  /// Opens the destination as a source, to go on from there.
  package var openResult: () throws(StoreError) -> any StoreSource

  /// Creates the suite.
  package init(
    openSource: @escaping () throws(StoreError) -> any StoreSource,
    openFilling: @escaping () throws(StoreError) -> any StoreDestination,
    openDestination: @escaping () throws(StoreError) -> any StoreDestination,
    openResult: @escaping () throws(StoreError) -> any StoreSource
  ) {
    self.openSource = openSource
    self.openFilling = openFilling
    self.openDestination = openDestination
    self.openResult = openResult
  }

  private static let small = PageLimit(rows: 7)

  /// Every value of every section is read as it was written, in pages of any size and by its key.
  package func roundTrip() throws {
    try fill()
    let source = try openSource()
    defer { source.close() }
    for section in ContentSection.allCases {
      let rows = ContentSamples.rows(of: section)
      #expect(try source.count(of: section) == rows.count, "\(section)")
      for limit in [PageLimit(rows: 1), Self.small, PageLimit(), PageLimit(bytes: 3000)] {
        let pages = try pages(of: section, in: source, limit)
        #expect(pages.allSatisfy { $0.count <= limit.rows })
        let found = pages.flatMap { $0 }
        #expect(found.count == rows.count && Set(found) == Set(rows), "\(section)")
      }
      let keys = rows.map { Array($0.prefix(section.keyCount)) }
      #expect(Set(try source.rows(of: section, with: keys)) == Set(rows), "\(section)")
      #expect(try source.rows(of: section, with: []).isEmpty)
    }
    // A page ends with the row that makes it too large.
    #expect(try pages(of: .requests, in: source, PageLimit(bytes: 1)).allSatisfy { $0.count == 1 })
  }

  /// A migration moves everything; the result is equal, and can be moved on.
  package func migration() throws {
    try fill()
    let (source, destination) = (try openSource(), try openDestination())
    let outcome = try StoreMigration(from: source, to: destination, limit: Self.small).run()
    #expect(outcome.differences.count == 0, "\(outcome.differences.examples)")
    #expect(!outcome.isResumed && outcome.counts[.calls] == ContentSamples.rows(of: .calls).count)
    #expect(try destination.mark() == nil)
    destination.close()
    source.close()
    try expectAll()
  }

  /// A migration that is interrupted after any page goes on behind it, and nobody can use the store before its end.
  package func interruptions(after page: Int) throws {
    try fill()
    var runs = 0
    while true {
      runs += 1
      let source = try openSource()
      let destination = Interrupted(try openDestination(), after: page)
      defer {
        destination.close()
        source.close()
      }
      do {
        let outcome = try StoreMigration(from: source, to: destination, limit: PageLimit(rows: 23)).run()
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
    let (source, destination) = (try openSource(), Altering(try openDestination()))
    let outcome = try StoreMigration(from: source, to: destination, limit: Self.small).run()
    #expect(outcome.differences.count == 4)
    let told = outcome.differences.examples.joined(separator: "\n")
    #expect(told.contains("calls: id \(ContentSamples.firstCall) has attempts 4 in place of 3"))
    #expect(told.contains("settings: name \"x\" has value a text of 7 bytes in place of a text of 0 bytes"))
    #expect(told.contains("retries: \(Sample.id(0)) at") && told.contains("is missing in"))
    #expect(told.contains("policies and bulk operations: kind \"apiKey\" id \"added\" is not in"))
    #expect(try destination.mark() != nil)
    destination.close()
    source.close()
  }

  /// Other contents, and another source, are refused, and nothing is changed.
  package func refusals() throws {
    try fill()
    let (source, destination) = (try openSource(), try openDestination())
    let migration = StoreMigration(from: source, to: destination)
    let row: ContentRow = [.text(Array("a".utf8)), .text(Array("b".utf8))]
    func refusal(_ mark: MigrationMark) throws -> String {
      try destination.begin(mark)
      let refused = #expect(throws: StoreError.self) { try migration.run() }
      #expect(try destination.mark() == mark)
      try destination.finish(mark)
      return refused?.message ?? ""
    }
    let mark = MigrationMark(source: source.place, state: try source.state, section: .calls)
    var other = mark
    other.source = "another store"
    #expect(try refusal(other).contains("has a part of another store"))
    other = mark
    other.state = "another"
    #expect(try refusal(other).contains("was in use since"))
    try destination.begin(mark)
    try destination.add([row], to: .settings, from: mark, to: mark)
    try destination.finish(mark)
    let refused = #expect(throws: StoreError.self) { try migration.run() }
    #expect(refused?.message.contains("is not empty: it has settings") == true)
    #expect(try destination.mark() == nil && destination.count(of: .settings) == 1)
    destination.close()
    source.close()
  }

  // MARK: Parts

  private func fill() throws {
    let store = try openFilling()
    let mark = MigrationMark(source: "samples", state: "", section: nil)
    try store.begin(mark)
    for section in ContentSection.allCases {
      try store.add(ContentSamples.rows(of: section), to: section, from: mark, to: mark)
    }
    try store.finish(mark)
    store.close()
  }

  private func expectAll() throws {
    let result = try openResult()
    defer { result.close() }
    for section in ContentSection.allCases {
      let found = try pages(of: section, in: result, PageLimit()).flatMap { $0 }
      let rows = ContentSamples.rows(of: section)
      #expect(found.count == rows.count && Set(found) == Set(rows), "\(section)")
    }
  }

  private func pages(
    of section: ContentSection, in store: any StoreContents, _ limit: PageLimit
  ) throws -> [[ContentRow]] {
    var (pages, last): ([[ContentRow]], ContentRow?) = ([], nil)
    while true {
      let page = try store.page(of: section, after: last, limit)
      guard let end = page.last else { return pages }
      pages.append(page)
      last = Array(end.prefix(section.keyCount))
    }
  }
}

/// A destination whose process ends after some pages.
private final class Interrupted: WrappedDestination {
  private var left: Int

  init(_ store: any StoreDestination, after pages: Int) {
    left = pages
    super.init(store)
  }

  override func add(
    _ rows: [ContentRow], to section: ContentSection, from old: MigrationMark, to new: MigrationMark
  ) throws(StoreError) {
    guard left > 0 else { throw StoreError(kind: .unavailable, message: "interrupted") }
    left -= 1
    try super.add(rows, to: section, from: old, to: new)
  }
}

/// A destination that changes a value, leaves out a row and adds one.
private final class Altering: WrappedDestination {
  override func add(
    _ rows: [ContentRow], to section: ContentSection, from old: MigrationMark, to new: MigrationMark
  ) throws(StoreError) {
    var rows = rows
    switch section {
    case .calls where rows.first?.first == .integer(ContentSamples.firstCall):
      rows[0][section.place(of: "attempts")] = .integer(4)
    case .settings:
      if let place = rows.firstIndex(where: { $0[1] == .text([]) }) { rows[place][1] = .text(Array("changed".utf8)) }
    case .retries where rows.first?.first == .integer(ContentSamples.firstCall): rows.removeFirst()
    case .documents where old.section != .documents:
      rows.append([.text(Array("apiKey".utf8)), .text(Array("added".utf8)), .bytes([1])])
    default: break
    }
    try super.add(rows, to: section, from: old, to: new)
  }
}

/// A destination that passes everything on.
private class WrappedDestination: StoreDestination {
  private let store: any StoreDestination
  init(_ store: any StoreDestination) { self.store = store }

  var place: String { store.place }
  var reader: any ContentReader { store }
  func mark() throws(StoreError) -> MigrationMark? { try store.mark() }
  func begin(_ mark: MigrationMark) throws(StoreError) { try store.begin(mark) }
  func add(
    _ rows: [ContentRow], to section: ContentSection, from old: MigrationMark, to new: MigrationMark
  ) throws(StoreError) { try store.add(rows, to: section, from: old, to: new) }
  func finish(_ mark: MigrationMark) throws(StoreError) { try store.finish(mark) }
  func close() { store.close() }
}
