package import RedialModel

/// Reads the rows of a store in a form that all stores have in common.
package protocol ContentReader {
  /// The number of rows of a section.
  func count(of section: ContentSection) throws(StoreError) -> Int

  /// The first rows of a section by their key, after a key.
  ///
  /// - Parameter key: The values of the columns of the key; nil for the beginning.
  /// - Returns: At least one row, unless there is none.
  func page(of section: ContentSection, after key: ContentRow?, _ limit: PageLimit) throws(StoreError) -> [ContentRow]

  /// The rows with some keys, in any order; there is none for a key that does not exist.
  func rows(of section: ContentSection, with keys: [ContentRow]) throws(StoreError) -> [ContentRow]
}

/// Everything in a store that has to do with calls.
package protocol StoreContents: AnyObject, ContentReader {
  /// The store, for messages.
  var place: String { get }

  /// What reads its rows.
  var reader: any ContentReader { get }

  /// Ends the use of the store.
  func close()
}

/// The size of a page. One row is always read, whatever its size.
package struct PageLimit: Sendable {
  /// The maximum number of rows.
  package var rows: Int
  /// About how many bytes, after which no further row is read.
  package var bytes: Int

  /// Creates a limit.
  package init(rows: Int = 1000, bytes: Int = 4 << 20) {
    self.rows = rows
    self.bytes = bytes
  }
}

/// The contents of a store that no service uses, and none can begin to use, until it is closed. Nothing is changed.
package protocol StoreSource: StoreContents {
  /// Says in which state the store is: it changes each time that a service or a command opens the store to change it.
  var state: String { get throws(StoreError) }
}

/// A store that gets the contents of another one. No service can use it before ``finish(_:)``: until then it has a mark.
package protocol StoreDestination: StoreContents {
  /// How far an interrupted migration came; nil if there was none.
  func mark() throws(StoreError) -> MigrationMark?

  /// Stores the first mark.
  func begin(_ mark: MigrationMark) throws(StoreError)

  /// Adds rows, and replaces the mark, in one transaction.
  ///
  /// - Throws: If the mark is not `old`: another process works here.
  func add(
    _ rows: [ContentRow], to section: ContentSection, from old: MigrationMark, to new: MigrationMark
  ) throws(StoreError)

  /// Removes the mark: the store can be used.
  func finish(_ mark: MigrationMark) throws(StoreError)
}

extension StoreContents {
  /// The number of rows of a section.
  package func count(of section: ContentSection) throws(StoreError) -> Int { try reader.count(of: section) }

  /// The first rows of a section by their key, after a key.
  package func page(
    of section: ContentSection, after key: ContentRow?, _ limit: PageLimit
  ) throws(StoreError) -> [ContentRow] {
    try reader.page(of: section, after: key, limit)
  }

  /// The rows with some keys.
  package func rows(of section: ContentSection, with keys: [ContentRow]) throws(StoreError) -> [ContentRow] {
    try reader.rows(of: section, with: keys)
  }

  /// The first section that a new store does not have rows in; nil if there is none.
  package func occupied() throws(StoreError) -> ContentSection? {
    for section in ContentSection.allCases {
      var rows = try page(of: section, after: nil, PageLimit(rows: 2))
      // Every store has the default namespace.
      if section == .namespaces { rows.removeAll { $0.first == .integer(0) } }
      if !rows.isEmpty { return section }
    }
    return nil
  }
}
