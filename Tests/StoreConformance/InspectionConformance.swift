import RedialCore
import RedialModel
package import RedialStore
import Testing

/// The rules for the inspection of every store.
package struct InspectionConformance {
  /// Opens the store of this location.
  private let openStore: () throws -> any CallStore
  /// Inspects it at a second of the samples' time.
  private let report: (Int) throws -> StoreReport
  /// Runs statements of SQL past the store.
  private let execute: (String) throws -> Void
  /// Whether the store is closed before a fault is made.
  private let isAtRest: Bool

  /// Creates the suite for a location.
  package init(
    isAtRest: Bool, openStore: @escaping () throws -> any CallStore, report: @escaping (Int) throws -> StoreReport,
    execute: @escaping (String) throws -> Void
  ) {
    self.isAtRest = isAtRest
    self.openStore = openStore
    self.report = report
    self.execute = execute
  }

  /// A store with calls in all states, ended ones with their attempts, and without faults.
  package func soundStore() throws -> any CallStore {
    let store = try openStore()
    try SoundStore.fill { try store.commit($0) }
    return store
  }

  /// Late work is found only after a service had time for it.
  package func late() throws {
    let store = try soundStore()
    defer { store.close() }
    #expect(try report(159).isClean)
    // Scheduled and queued ones are claimed when due; an attempt may last for its timeout, a held call for its
    // deadline.
    #expect(try found(at: 161) == [.overdue: 4])
    let policy = Sample.policy
    let timeout = Int(policy.attemptTimeout.wholeMicroseconds / 1_000_000)
    let deadline = Int(policy.deadline.wholeMicroseconds / 1_000_000)
    #expect(try found(at: 161 + timeout) == [.overdue: 4, .stuck: 2])
    #expect(try found(at: 161 + deadline) == [.overdue: 4, .stuck: 4])
  }

  private func found(at second: Int) throws -> [StoreCheck: Int] { try report(second).found }

  /// A fault is found, with the call; `ID` in the SQL that makes it is that of a call that has ended.
  package func damaged(_ sql: String, _ check: StoreCheck) throws {
    let id = Sample.id(SoundStore.ended)
    let report = try report(after: sql, about: id)
    #expect(!report.isClean)
    let finding = try #require(report.findings.first { $0.check == check })
    #expect(finding.count > 0, "\(report.findings)")
    if sql.contains("ID") { #expect(finding.examples.contains { $0.contains(id.description) }, "\(finding)") }
  }

  /// An ordered call that is out of its order is found; `ID` is its id.
  package func disorder(_ sql: String, of number: Int) throws {
    let id = Sample.id(number)
    let finding = try #require(try report(after: sql, about: id).findings.first { $0.check == .turns })
    #expect(finding.count > 0)
    #expect(finding.examples.contains { $0.contains(id.description) }, "\(finding)")
  }

  private func report(after sql: String, about id: CallID) throws -> StoreReport {
    let store = try soundStore()
    if isAtRest { store.close() }
    defer { if !isAtRest { store.close() } }
    try execute(sql.replacing("ID", with: "\(id.rawValue)"))
    return try report(100)
  }
}

extension StoreReport {
  /// The checks that found something, and how much.
  package var found: [StoreCheck: Int] {
    Dictionary(uniqueKeysWithValues: findings.filter { $0.count > 0 }.map { ($0.check, $0.count) })
  }
}
