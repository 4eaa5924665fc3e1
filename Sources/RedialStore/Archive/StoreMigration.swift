package import RedialCore
package import RedialModel

/// A store that no service uses, and none can begin to use, until it is closed. Nothing is changed in it.
package protocol MigrationSource: AnyObject {
  /// The store, for messages.
  var place: String { get }

  /// Reads what is there.
  var contents: any ArchiveSource { get }

  /// Says in which state the store is: it changes each time that a service or a command opens the store to change it.
  var state: String { get throws(StoreError) }

  /// Ends the use of the store.
  func close()
}

/// A store that gets all of another one. No service can use it while it has a mark.
package protocol MigrationDestination: ArchiveDestination {
  /// The mark of a migration that was interrupted, or nil.
  func mark() throws(StoreError) -> MigrationMark?

  /// Stores the mark.
  func begin(_ mark: MigrationMark) throws(StoreError)

  /// Removes the mark.
  func end() throws(StoreError)
}

/// Copies all of a store into another one, and compares both at the end.
///
/// Many calls are put in at once. So it can be ended at any moment and run again, and goes on with the calls that are not there.
package struct StoreMigration {
  /// What it is doing.
  package enum Phase: Sendable {
    case moving, comparing
  }

  /// How far it is.
  package struct Progress: Sendable {
    /// What it is doing.
    package var phase: Phase
    /// How many calls it has moved, or compared.
    package var done: Int
    /// How many calls there are, about.
    package var all: Int
  }

  /// What it has done.
  package struct Outcome: Sendable {
    /// How many calls, and how many of their attempts, the source has.
    package var (calls, attempts) = (0, 0)
    /// How much of each kind that is about no call the source has.
    package var items: [StoreItem.Kind: Int] = [:]
    /// Whether it went on with a migration that was interrupted.
    package var isResumed = false
    /// What differs; then the destination keeps its mark.
    package var differences = ArchiveDifferences()
  }

  private let source: any MigrationSource
  private let destination: any MigrationDestination
  private let now: Timestamp

  /// Creates a migration from one store into another.
  ///
  /// - Parameter now: The time of the wall clock: expired keys are left out.
  package init(from source: any MigrationSource, to destination: any MigrationDestination, at now: Timestamp) {
    self.source = source
    self.destination = destination
    self.now = now
  }

  /// Moves what is missing, compares everything, and opens the destination for use if nothing differs.
  ///
  /// - Parameter report: Gets the progress after each call.
  /// - Throws: If a store fails, if the destination is not empty, or if something of the source cannot be read.
  package func run(_ report: (Progress) -> Void = { _ in }) throws(StoreError) -> Outcome {
    var outcome = Outcome()
    let contents = try destination.contents()
    defer { contents.close() }
    outcome.isResumed = try begin(contents)
    let all = try source.contents.callCount()
    try move(&outcome) { report(Progress(phase: .moving, done: $0, all: all)) }
    outcome.differences = try ArchiveComparison(source.contents, contents, at: now).run {
      report(Progress(phase: .comparing, done: $0, all: all))
    }
    try checkState()
    guard outcome.differences.count == 0 else { return outcome }
    try destination.finish()
    try destination.end()
    return outcome
  }

  /// Moves what can be read and stored again, and opens the destination for use.
  ///
  /// - Parameter damage: Gets what is left out, in a sentence.
  /// - Returns: How many calls were moved.
  /// - Throws: If a store fails as a whole, or if the destination is not empty.
  package func salvage(damage: (String) -> Void) throws(StoreError) -> Int {
    let contents = try destination.contents()
    defer { contents.close() }
    _ = try begin(contents)
    let moved = StoreImport(into: destination, at: now, isFilling: true)
    try moved.add(allOf: source.contents, damage: damage)
    try moved.flush()
    try checkState()
    try destination.finish()
    try destination.end()
    return moved.tally.imported + moved.tally.known
  }

  /// Marks the destination, or goes on with one that has the mark of this migration. Returns whether it has.
  private func begin(_ contents: any ArchiveSource) throws(StoreError) -> Bool {
    if let mark = try destination.mark() {
      try check(mark)
      return true
    }
    try checkIsEmpty(contents)
    // What is damaged fails later.
    for item in try source.contents.items(damage: { _ in }) { try destination.check(item) }
    try destination.begin(MigrationMark(source: source.place, state: try source.state))
    return false
  }

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

  /// Throws if the source was used since the beginning, or is not kept from being used any more.
  private func checkState() throws(StoreError) {
    guard let mark = try destination.mark() else {
      throw StoreError(kind: .unavailable, message: "\(destination.place) has lost the mark of this migration.")
    }
    try check(mark)
  }

  private func checkIsEmpty(_ contents: any ArchiveSource) throws(StoreError) {
    let items = try readable { damage throws(StoreError) in try contents.items(damage: damage) }
    let calls = try contents.callCount()
    guard let found = items.first?.kind.title ?? (calls > 0 ? "calls" : nil) else { return }
    throw StoreError(
      kind: .inUse,
      message:
        "\(destination.place) is not empty: it has \(found). Nothing was changed. Use a new database or "
        + "a new file; a service must not have been started on it.")
  }

  /// Calls that an interrupted migration has moved are there already, and stay.
  private func move(_ outcome: inout Outcome, _ report: (Int) -> Void) throws(StoreError) {
    let moved = StoreImport(into: destination, at: now, isFilling: true)
    let items = try readable { damage throws(StoreError) in try source.contents.items(damage: damage) }
    for item in items {
      outcome.items[item.kind, default: 0] += 1
      try moved.add(item)
    }
    var calls = ArchiveCursor(source.contents)
    while let call = try calls.next() {
      outcome.calls += 1
      // Reading it fails if the store is not kept from being used any more.
      if outcome.calls % StoreImport.batch == 0 { _ = try source.state }
      outcome.attempts += call.attempts.count
      try moved.add(call)
      report(outcome.calls)
    }
    try moved.flush()
  }

  private func readable<Found>(
    _ read: ((StoreError) -> Void) throws(StoreError) -> Found
  ) throws(StoreError) -> Found {
    var damage: StoreError?
    let found = try read { damage = damage ?? $0 }
    if let damage { throw damage }
    return found
  }
}
