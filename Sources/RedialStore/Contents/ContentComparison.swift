internal import RedialModel

/// Compares two stores row by row and value by value.
///
/// Rows are looked up by their keys, since stores need not sort texts alike. If a section has as many rows in both stores,
/// and each row of the source is found, no other row can be there.
struct ContentComparison {
  private let source: any StoreContents
  private let destination: any StoreContents
  private let limit: PageLimit

  init(_ source: any StoreContents, _ destination: any StoreContents, _ limit: PageLimit) {
    self.source = source
    self.destination = destination
    self.limit = limit
  }

  /// Compares a section.
  ///
  /// - Parameter report: Gets the number of rows of each page.
  func compare(
    _ section: ContentSection, into differences: inout ContentDifferences, _ report: (Int) -> Void
  ) throws(StoreError) {
    var count = 0
    try forEachPage(of: section, in: source) { rows throws(StoreError) in
      let found = try index(rows, of: section, in: destination)
      for row in rows {
        let key = Self.key(of: row, section)
        if let other = found[key] {
          differences.compare(row, other, of: section)
        } else {
          differences.add(section, key, "is missing in \(destination.place)")
        }
      }
      count += rows.count
      report(rows.count)
    }
    guard try destination.count(of: section) != count else { return }
    try forEachPage(of: section, in: destination) { rows throws(StoreError) in
      let found = try index(rows, of: section, in: source)
      for row in rows where found[Self.key(of: row, section)] == nil {
        differences.add(section, Self.key(of: row, section), "is not in \(source.place)")
      }
    }
  }

  private func forEachPage(
    of section: ContentSection, in store: any StoreContents, _ body: ([ContentRow]) throws(StoreError) -> Void
  ) throws(StoreError) {
    var last: ContentRow?
    while true {
      let rows = try store.page(of: section, after: last, limit)
      guard let end = rows.last else { return }
      last = Self.key(of: end, section)
      try body(rows)
    }
  }

  /// The rows of a store that have the same keys as some rows of the other one, by their keys.
  private func index(
    _ rows: [ContentRow], of section: ContentSection, in store: any StoreContents
  ) throws(StoreError) -> [ContentRow: ContentRow] {
    var found: [ContentRow: ContentRow] = [:]
    for row in try store.rows(of: section, with: rows.map { Self.key(of: $0, section) }) {
      found[Self.key(of: row, section)] = row
    }
    return found
  }

  private static func key(of row: ContentRow, _ section: ContentSection) -> ContentRow {
    Array(row.prefix(section.keyCount))
  }
}

/// What differs between two stores: the first differences, and how many there are.
package struct ContentDifferences: Sendable {
  /// The maximum number of differences that are described.
  static let mostDescribed = 20

  /// How many there are.
  package private(set) var count = 0
  /// The first ones, each as a sentence without its end. Of payloads and other content nothing is shown.
  package private(set) var examples: [String] = []

  /// No differences.
  package init() {}

  mutating func compare(_ row: ContentRow, _ other: ContentRow, of section: ContentSection) {
    guard row != other else { return }
    let key = Array(row.prefix(section.keyCount))
    for (column, (value, found)) in zip(section.columns, zip(row, other)) where value != found {
      add(section, key, "has \(column.name) \(Self.shown(found)) in place of \(Self.shown(value))")
    }
  }

  mutating func add(_ section: ContentSection, _ key: ContentRow, _ what: @autoclosure () -> String) {
    count += 1
    guard examples.count < Self.mostDescribed else { return }
    let name = zip(section.key, key).map { column, value in Self.named(column.name, value) }.joined(separator: " ")
    examples.append("\(section.title): \(name) \(what())")
  }

  private static func named(_ column: String, _ value: ContentValue) -> String {
    if column == "call_id", let id = value.integer { return "\(CallID(rawValue: id))" }
    if let content = value.content {
      return "\(column) \"\(PlainText.escaped(String(decoding: content, as: UTF8.self)))\""
    }
    return "\(column) \(shown(value))"
  }

  private static func shown(_ value: ContentValue) -> String {
    switch value {
    case .null: "nothing"
    case .integer(let integer): "\(integer)"
    case .text(let bytes): "a text of \(bytes.count) bytes"
    case .bytes(let bytes): "\(bytes.count) bytes"
    }
  }
}
