internal import Glibc
import RedialText
package import RedialCore
package import RedialModel
package import RedialStore

/// Makes a new store of all that can be read of a damaged one, which stays as it is.
///
/// It works on a copy of the file, beside the new store: each page of the write-ahead log that verifies is put into it, also
/// those behind damage, which SQLite would drop. Then all that can be read is exported and imported.
package struct StoreSalvage {
  private let source: String
  private let path: String
  private let now: Timestamp
  private let report: (String) -> Void
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
  /// - Returns: How many calls the new store has.
  /// - Throws: If a service uses the store, or if nothing can be read of it. There is no new store then.
  package static func run(
    from source: String, to path: String, payloads: PayloadRule = PayloadRule(), vaults: Vaults = (.none, .none),
    at now: Timestamp, report: @escaping (String) -> Void
  ) throws(StoreError) -> Int {
    try StoreSalvage(source: source, path: path, now: now, report: report).run(payloads, vaults)
  }

  /// What opens the damaged store, and what seals the new one.
  package typealias Vaults = (source: Vault, target: Vault)

  private init(source: String, path: String, now: Timestamp, report: @escaping (String) -> Void) {
    (self.source, self.path, self.now, self.report) = (StoreFile.realPath(source) ?? source, path, now, report)
  }

  private func run(_ payloads: PayloadRule, _ vaults: Vaults) throws(StoreError) -> Int {
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
    let calls: Int
    do throws(StoreError) {
      try copyPages()
      let export = try StoreExport(path: copy, state: nil, vault: vaults.source, everyPage: true)
      defer { export.close() }
      calls = try fill(from: export, payloads, vaults.target)
    } catch {
      throw StoreError(kind: error.kind, message: error.message.replacing(copy, with: source))
    }
    guard link(partial, path) == 0 else {
      throw StoreError(
        kind: .unavailable, message: "Could not name \(path): \(String(cString: strerror(errno))). Check the folder.")
    }
    try StoreFile.syncFolder(of: path)
    return calls
  }

  private func reportOmission(_ what: String) {
    // It is about the damaged store, and not about its copy.
    report(what.replacing(copy, with: source))
  }

  /// Copies the file, and puts the pages of the log into it.
  private func copyPages() throws(StoreError) {
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

  private func fill(from export: StoreExport, _ payloads: PayloadRule, _ vault: Vault) throws(StoreError) -> Int {
    let target = try StoreImport(path: partial, payloads: payloads, vault: vault, at: now)
    try target.add(allOf: export) { reportOmission($0) }
    try target.finish()
    return target.tally.imported
  }
}
