internal import Glibc
package import RedialCore
internal import RedialJSON
package import RedialModel
package import RedialStore

/// Makes a new store of all that can be read of a damaged one, which stays as it is.
///
/// It works on a copy of the file, beside the new store: each page of the write-ahead log that verifies is put into it, also
/// those behind damage, which SQLite would drop. Then the calls are exported and imported, and the rows that are about no
/// call, such as API keys, are copied.
package struct StoreSalvage {
  /// The result.
  package struct Outcome: Sendable {
    package var calls = 0
    /// How often something was left out, as it was reported.
    package var leftOut = 0
  }

  /// What is about no call. A new store makes the rest itself.
  private static let sections: [ContentSection] = [
    .namespaces, .targets, .documents, .settings, .statistics,
  ]

  private let source: String
  private let path: String
  private let now: Timestamp
  private let report: (String) -> Void
  private var outcome = Outcome()
  /// The copy of the damaged file.
  private var copy: String { path + ".copy" }
  /// The new store until it is complete.
  private var partial: String { path + ".partial" }

  /// Makes the new store.
  ///
  /// - Parameters:
  ///   - path: The new file; there must be none.
  ///   - now: The time of the wall clock: expired keys are left out.
  ///   - report: Gets what is left out, in a sentence.
  /// - Throws: If a service uses the store, or if nothing can be read of it. There is no new store then.
  package static func run(
    from source: String, to path: String, payloads: PayloadRule = PayloadRule(), at now: Timestamp,
    report: @escaping (String) -> Void
  ) throws(StoreError) -> Outcome {
    var salvage = StoreSalvage(source: source, path: path, now: now, report: report)
    try salvage.run(payloads)
    return salvage.outcome
  }

  private init(source: String, path: String, now: Timestamp, report: @escaping (String) -> Void) {
    (self.source, self.path, self.now, self.report) = (StoreFile.realPath(source) ?? source, path, now, report)
  }

  private mutating func run(_ payloads: PayloadRule) throws(StoreError) {
    guard !StoreFile.isOwned(source) else {
      throw StoreError(
        kind: .inUse, message: "\(source) is in use by a service. Stop it first, or use `redial export` beside it.")
    }
    let (file, log) = (try RegularFile.size(source), try RegularFile.size(source + "-wal"))
    guard file != nil || log != nil else {
      throw StoreError(kind: .unavailable, message: "There is no store at \(source).")
    }
    for name in [path, partial, copy] {
      guard try RegularFile.size(name) == nil else {
        throw StoreError(
          kind: .unavailable, message: "\(name) exists and is not overwritten. Name another file, or remove it.")
      }
    }
    defer {
      for name in [copy, partial] { for suffix in ["", "-wal", "-shm", ".lock"] { unlink(name + suffix) } }
    }
    do throws(StoreError) {
      try copyPages()
      let export = try StoreExport(path: copy, state: nil, everyPage: true)
      defer { export.close() }
      try copySections()
      try copyCalls(export, payloads)
    } catch {
      throw StoreError(kind: error.kind, message: error.message.replacing(copy, with: source))
    }
    guard link(partial, path) == 0 else {
      throw StoreError(
        kind: .unavailable, message: "Could not name \(path): \(String(cString: strerror(errno))). Check the folder.")
    }
    try StoreFile.syncFolder(of: path)
  }

  private mutating func reportOmission(_ what: String) {
    outcome.leftOut += 1
    // It is about the damaged store, and not about its copy.
    report(what.replacing(copy, with: source))
  }

  /// Copies the file, and puts the pages of the log into it.
  private mutating func copyPages() throws(StoreError) {
    let target = try RegularFile(creating: copy)
    if let file = try RegularFile(source) {
      let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
      defer { piece.deallocate() }
      var place = 0
      while true {
        let count = try file.read(into: piece, at: place)
        if count == 0 { break }
        try target.write(UnsafeRawBufferPointer(rebasing: piece[..<count]), at: place)
        place += count
      }
    }
    let lost = try WriteAheadFile(of: source).move(into: target)
    if lost > 0 {
      reportOmission(
        "\(lost) pages of the write-ahead log \(source)-wal cannot be read. What only they have is missing.")
    }
    // The version of the format without a log (section 1.3 of the file format), since the copy has none.
    let versions: [UInt8] = [1, 1]
    try versions.withUnsafeBufferPointer { (bytes) throws(StoreError) in
      try target.write(UnsafeRawBufferPointer(bytes), at: 18)
    }
  }

  private mutating func copySections() throws(StoreError) {
    let connection = try SQLiteConnection(path: copy, role: .reader)
    defer { connection.close() }
    let contents = try SQLiteContents(on: connection)
    let destination = try SQLiteDestination(path: partial)
    defer { destination.close() }
    let mark = MigrationMark(source: source, state: "", section: nil)
    try destination.begin(mark)
    for section in Self.sections {
      var last: ContentRow?
      while true {
        var rows: [ContentRow] = []
        do throws(StoreError) {
          rows = try contents.page(of: section, after: last, PageLimit())
        } catch {
          guard error.kind == .corrupt else { throw error }
          reportOmission("Some or all \(section.title) are missing: \(error.message)")
        }
        guard let end = rows.last else { break }
        last = Array(end.prefix(section.keyCount))
        try add(rows, to: section, mark, destination)
      }
    }
    try destination.finish(mark)
  }

  /// Adds rows; one at a time if one of them does not fit.
  private mutating func add(
    _ rows: [ContentRow], to section: ContentSection, _ mark: MigrationMark, _ destination: SQLiteDestination
  ) throws(StoreError) {
    do throws(StoreError) {
      try destination.add(rows, to: section, from: mark, to: mark)
    } catch {
      guard error.kind == .corrupt else { throw error }
      guard rows.count > 1 else {
        return reportOmission("One of the \(section.title) is missing, because its row is damaged: \(error.message)")
      }
      for row in rows { try add([row], to: section, mark, destination) }
    }
  }

  private mutating func copyCalls(_ export: StoreExport, _ payloads: PayloadRule) throws(StoreError) {
    let target = try StoreImport(path: partial, payloads: payloads, at: now)
    var failure: StoreError?
    try export.forEach { call in
      if failure != nil { return }
      do throws(JSONError) {
        // Read as an import does: so what cannot be stored again is reported here.
        let read = try call.json.withUnsafeBufferPointer { (bytes) throws(JSONError) in
          try ArchivedCall.read(bytes, at: now)
        }
        do throws(StoreError) { try target.add(read) } catch { failure = error }
      } catch {
        reportOmission("\(call.record.id) cannot be read: \(error.reason).")
      }
    } damage: { error in
      reportOmission(error.message)
    }
    if let failure { throw failure }
    try target.finish()
    outcome.calls = target.tally.imported
  }
}
