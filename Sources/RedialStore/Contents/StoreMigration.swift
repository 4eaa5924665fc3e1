package import RedialModel

/// Copies the contents of a store into another one, and compares both at the end.
///
/// Each page is stored in one transaction with the mark that says how far the migration came. So it can be ended at any
/// moment and run again, and goes on behind the last page that is there.
package struct StoreMigration {
  /// What it is doing.
  package enum Phase: Sendable {
    case moving, comparing
  }

  /// How far it is.
  package struct Progress: Sendable {
    /// What it is doing.
    package var phase: Phase
    package var section: ContentSection
    /// The rows of all sections that it has moved, or compared.
    package var done: Int
    /// The rows of all sections.
    package var all: Int
  }

  /// What it has done.
  package struct Outcome: Sendable {
    /// The number of rows of each section in the source.
    package var counts: [ContentSection: Int] = [:]
    /// Whether it went on with a migration that was interrupted.
    package var isResumed = false
    /// What differs; then the destination keeps its mark.
    package var differences = ContentDifferences()
  }

  private let source: any StoreSource
  private let destination: any StoreDestination
  private let limit: PageLimit

  /// Creates a migration from one store into another.
  ///
  /// - Parameter limit: The size of a transaction.
  package init(
    from source: any StoreSource, to destination: any StoreDestination, limit: PageLimit = PageLimit()
  ) {
    self.source = source
    self.destination = destination
    self.limit = limit
  }

  /// Moves what is missing, compares everything, and opens the destination for use if nothing differs.
  ///
  /// - Parameter report: Gets the progress after each page.
  /// - Throws: If a store fails, or if the destination has other contents. Run it again after a failure.
  package func run(_ report: (Progress) -> Void = { _ in }) throws(StoreError) -> Outcome {
    var outcome = Outcome()
    var mark: MigrationMark
    if let found = try destination.mark() {
      try check(found)
      (mark, outcome.isResumed) = (found, true)
    } else {
      mark = try begin()
    }
    for section in ContentSection.allCases { outcome.counts[section] = try source.count(of: section) }
    let all = outcome.counts.values.reduce(0, +)
    mark = try move(mark, outcome.counts, all: all, report)
    let comparison = ContentComparison(source, destination, limit)
    var compared = 0
    for section in ContentSection.allCases {
      try comparison.compare(section, into: &outcome.differences) { rows in
        compared += rows
        report(Progress(phase: .comparing, section: section, done: compared, all: all))
      }
    }
    if outcome.differences.count == 0 { try destination.finish(mark) }
    return outcome
  }

  /// Throws unless an interrupted migration was one of the same source, which has not changed since.
  private func check(_ mark: MigrationMark) throws(StoreError) {
    guard mark.source == source.place else {
      throw StoreError(
        kind: .inUse,
        message:
          "\(destination.place) has a part of \(mark.source), from a migration that was interrupted. Finish that "
          + "one, or use another destination. Nothing was changed.")
    }
    guard mark.state == (try source.state) else {
      throw StoreError(
        kind: .inUse,
        message:
          "\(source.place) was in use since its migration into \(destination.place) was interrupted, so the part "
          + "that is there may be outdated. Begin again with a new, empty destination. Nothing was changed.")
    }
  }

  private func begin() throws(StoreError) -> MigrationMark {
    if let section = try destination.occupied() {
      throw StoreError(
        kind: .inUse,
        message:
          "\(destination.place) is not empty: it has \(section.title). Nothing was changed. Use a new database or "
          + "a new file; a service must not have been started on it.")
    }
    let mark = MigrationMark(source: source.place, state: try source.state, section: ContentSection.allCases.first)
    try destination.begin(mark)
    return mark
  }

  private func move(
    _ begun: MigrationMark, _ counts: [ContentSection: Int], all: Int, _ report: (Progress) -> Void
  ) throws(StoreError) -> MigrationMark {
    var mark = begun
    guard let first = begun.section, let place = ContentSection.allCases.firstIndex(of: first) else { return mark }
    var done = ContentSection.allCases[..<place].reduce(0) { $0 + (counts[$1] ?? 0) }
    if mark.last != nil { done += try destination.count(of: first) }
    for section in ContentSection.allCases[place...] {
      var last = mark.section == section ? mark.last : nil
      while true {
        let rows = try source.page(of: section, after: last, limit)
        guard let end = rows.last else { break }
        last = Array(end.prefix(section.keyCount))
        var next = mark
        (next.section, next.last) = (section, last)
        try destination.add(rows, to: section, from: mark, to: next)
        mark = next
        done += rows.count
        report(Progress(phase: .moving, section: section, done: done, all: all))
      }
    }
    var moved = mark
    (moved.section, moved.last) = (nil, nil)
    try destination.add([], to: .finished, from: mark, to: moved)
    return moved
  }
}
