internal import RedialCore
internal import RedialJSON
internal import RedialModel

/// What differs between two stores: the first differences, and how many there are.
package struct ArchiveDifferences: Sendable {
  /// The maximum number of differences that are described.
  static let mostDescribed = 20

  /// How many there are.
  package private(set) var count = 0
  /// The first ones, each as a sentence without its end. Of payloads and other content nothing is shown.
  package private(set) var examples: [String] = []

  /// No differences.
  package init() {}

  mutating func add(_ what: @autoclosure () -> String) {
    count += 1
    if examples.count < Self.mostDescribed { examples.append(what()) }
  }
}

/// Compares two stores, each read in the form in which it travels.
struct ArchiveComparison {
  private let source: any ArchiveSource
  private let destination: any ArchiveSource
  private let now: Timestamp

  /// - Parameter now: Idempotency keys that have expired by then are not compared: each store removes them at its own time.
  init(_ source: any ArchiveSource, _ destination: any ArchiveSource, at now: Timestamp) {
    self.source = source
    self.destination = destination
    self.now = now
  }

  /// Compares all of both.
  ///
  /// - Parameter report: Gets the number of calls after each.
  func run(_ report: (Int) -> Void) throws(StoreError) -> ArchiveDifferences {
    var differences = ArchiveDifferences()
    try compareItems(&differences)
    var (ours, theirs) = (ArchiveCursor(source), ArchiveCursor(destination))
    var (call, other) = (try ours.next(), try theirs.next())
    var done = 0
    while call != nil || other != nil {
      switch (call, other) {
      case (let one?, let two?) where one.record.id == two.record.id:
        compare(one, two, &differences)
        (call, other) = (try ours.next(), try theirs.next())
      case (let one?, let two) where two.map { one.record.id < $0.record.id } ?? true:
        differences.add("\(one.record.id) is missing in \(destination.place)")
        call = try ours.next()
      default:
        if let two = other { differences.add("\(two.record.id) is not in \(source.place)") }
        other = try theirs.next()
      }
      done += 1
      report(done)
    }
    return differences
  }

  private func compareItems(_ differences: inout ArchiveDifferences) throws(StoreError) {
    var damage: StoreError?
    let there = Set(try source.items { damage = damage ?? $0 }.filter(Self.isCompared))
    let here = Set(try destination.items { damage = damage ?? $0 }.filter(Self.isCompared))
    if let damage { throw damage }
    let (added, names) = (here.subtracting(there).ordered(), Set(here.map(\.name)))
    for item in there.subtracting(here).ordered() {
      differences.add(
        names.contains(item.name)
          ? "\(item.name) differs in \(destination.place)" : "\(item.name) is missing in \(destination.place)")
    }
    let known = Set(there.map(\.name))
    for item in added where !known.contains(item.name) { differences.add("\(item.name) is not in \(source.place)") }
  }

  /// A webhook whose call was removed makes a store that gets it raise what it knows of removed calls.
  private static func isCompared(_ item: StoreItem) -> Bool {
    if case .setting(Retention.goneBy, _) = item { false } else { true }
  }

  private func compare(_ call: ArchivedCall, _ other: ArchivedCall, _ differences: inout ArchiveDifferences) {
    func line(_ call: ArchivedCall) -> [UInt8] {
      var call = call
      if let key = call.key, key.expiresAt <= now { call.key = nil }
      return call.json
    }
    let (line, found) = (line(call), line(other))
    guard line != found else { return }
    let (members, others) = (Self.members(of: line), Self.members(of: found))
    let names = Set(members.keys).union(others.keys).subtracting(["checksum"])
      .filter { members[$0] != others[$0] }.sorted()
    differences.add("\(call.record.id) differs in \(names.joined(separator: ", "))")
  }

  private static func members(of line: [UInt8]) -> [String: [UInt8]] {
    line.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      var members: [String: [UInt8]] = [:]
      do throws(JSONError) {
        try reader.beginObject()
        while let name = try reader.nextKey() { members[name] = Array(reader.raw(try reader.skipValue())) }
      } catch {
        // Only what was written a moment ago is read.
      }
      return members
    }
  }
}
