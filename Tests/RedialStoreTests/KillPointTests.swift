import Glibc
import RedialCore
import RedialModel
import StoreConformance
import Testing

@testable import RedialSQLite
@testable import RedialStore

/// What the environment says.
private struct KillPointSettings {
  /// The folder of the store that is written.
  var folder: String
  /// The seed of the changes.
  var seed: Int
  /// Every so many writes, the files are looked at.
  var step: Int

  var path: String { folder + "/calls.db" }
  var bounds: LogBounds { CallLogTests.narrow[seed % CallLogTests.narrow.count] }

  static let given: KillPointSettings? = {
    func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    guard let folder = text("KILL_POINTS_FOLDER"), let seed = text("KILL_POINTS_SEED").flatMap({ Int($0) }),
      let step = text("KILL_POINTS_STEP").flatMap({ Int($0) })
    else { return nil }
    return KillPointSettings(folder: folder, seed: seed, step: step)
  }()
}

/// Two processes that `Tests/Acceptance/test_kill_points.py` starts: one writes to a store while everything that it writes is
/// recorded, the other one makes the files anew as they were before each write and each sync, and opens them.
@Suite(
  "A process that dies between two writes",
  .enabled(if: KillPointSettings.given != nil, "test_kill_points.py starts it"))
struct KillPointTests {
  private static let commits = 24

  /// The changes of all commits.
  private static func changes(seed: Int) -> [[StoreWrite]] {
    var history = CallHistory(seed: UInt64(seed))
    return (0..<commits).map { _ in history.next() }
  }

  @Test("writes, folds and starts again")
  func writes() throws {
    let settings = try #require(KillPointSettings.given)
    var store = try SQLiteStore(path: settings.path, log: settings.bounds)
    // Recorded with the writes of the store: what stands before a write was acknowledged before it.
    let acknowledged = open(settings.path + "-acknowledged", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(acknowledged) }
    func acknowledge() { #expect(write(acknowledged, [1], 1) == 1) }
    acknowledge()
    var random = RandomSource(seed: UInt64(settings.seed))
    for writes in Self.changes(seed: settings.seed) {
      try store.commit(writes)
      acknowledge()
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try store.fold()
      case 1:
        // An orderly stop moves all pages into the file.
        store.close()
        store = try SQLiteStore(path: settings.path, log: settings.bounds)
      case 2:
        // As after a kill: the next start finds a log of calls, and a write-ahead log.
        store.file.connection.keepLogOnClose()
        store.file.close()
        store = try SQLiteStore(path: settings.path, log: settings.bounds)
      default: break
      }
    }
    store.close()
  }

  @Test("leaves every acknowledged commit, each once, and a sound store")
  func survives() throws {
    let settings = try #require(KillPointSettings.given)
    let expected = try Expected(Self.changes(seed: settings.seed), settings)
    var disk = RecordedDisk()
    var (acknowledged, points) = (-1, 0)
    let steps = try RecordedDisk.steps(in: settings.folder + "/faults/record")
    for (number, step) in steps.enumerated() {
      if step.isMark {
        acknowledged += 1
        continue
      }
      // The first ones make the file.
      if number < 10 || number % settings.step == settings.seed % settings.step {
        let place = "at step \(number) of \(steps.count), after commit \(acknowledged), seed \(settings.seed)"
        try expected.check(disk.files, acknowledged, "killed \(place)")
        if step.bytes.count > 1 {
          let part = step.prefix(1 + number % (step.bytes.count - 1))
          try expected.check(
            disk.after(part).files, acknowledged, "killed in the middle of a write \(place)")
        }
        try expected.check(disk.durable, acknowledged, "without power \(place)")
        points += 1
      }
      disk.take(step)
    }
    try expected.check(disk.files, acknowledged, "at the end")
    #expect(acknowledged == Self.commits)
    print("kill points: \(points) of \(steps.count - Self.commits - 1)")
  }

  /// What a store must have after each commit.
  private struct Expected {
    let changes: [[StoreWrite]]
    let settings: KillPointSettings
    private(set) var rows: [[String: [String]]] = []
    /// What the inspection says: not all changes are those of an engine.
    private(set) var findings: [[StoreFinding]] = []

    init(_ changes: [[StoreWrite]], _ settings: KillPointSettings) throws {
      (self.changes, self.settings) = (changes, settings)
      // The tables alone, without a log.
      let path = settings.folder + "/direct.db"
      let direct = try SQLiteStore(path: path, log: .none)
      defer { direct.close() }
      for writes in [[]] + changes {
        try direct.commit(writes)
        rows.append(try StoreRows.all(of: direct))
        findings.append(try Self.findings(path))
      }
    }

    private static func findings(_ path: String) throws -> [StoreFinding] {
      let inspection = try SQLiteInspection(path: path)
      defer { inspection.close() }
      return try inspection.report(at: Sample.start).findings.filter { $0.count > 0 }
    }

    /// Opens files as a process has left them.
    ///
    /// - Parameter acknowledged: How many commits were acknowledged; -1 before the store was made.
    func check(_ files: [String: [UInt8]], _ acknowledged: Int, _ place: String) throws {
      let path = settings.folder + "/killed.db"
      for suffix in ["", "-wal", "-shm", "-journal"] {
        unlink(path + suffix)
        if let bytes = files[suffix] { writeFile(path + suffix, bytes) }
      }
      do {
        if acknowledged >= 0 {
          let found = try Self.findings(path)
          #expect(findings[acknowledged...].prefix(2).contains(found), "\(place)")
        }
        let store = try SQLiteStore(path: path, log: settings.bounds)
        defer { store.close() }
        try store.fold()
        let found = try StoreRows.all(of: store)
        let before = max(acknowledged, 0)
        // The last commit that was begun is there or not, and never in part.
        let has = rows[before...].prefix(2).firstIndex(of: found)
        #expect(has != nil, "\(place): the store has neither commit \(before) nor the next one")
        guard let has, has < changes.count else { return }
        try store.commit(changes[has])
        try store.fold()
        #expect(try StoreRows.all(of: store) == rows[has + 1], "\(place): the next commit goes wrong")
      } catch {
        Issue.record("\(place): \(error)")
      }
    }
  }
}
