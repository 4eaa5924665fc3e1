/// The result of an inspection of a store.
package struct StoreReport: Sendable, Hashable {
  /// Where the store is: a file, or a database.
  package var place: String
  /// Whether a service ran on the store.
  package var isLive: Bool
  /// Calls that were read.
  package var calls: Int
  /// The size and content of the store.
  package var usage: StoreUsage
  /// One for each check that was made, in the order of ``StoreCheck``.
  package var findings: [StoreFinding]
  /// What does no harm yet, or could not be checked.
  package var warnings: [StoreWarning]

  /// Creates a report.
  package init(
    place: String, isLive: Bool, calls: Int, usage: StoreUsage, findings: [StoreFinding], warnings: [StoreWarning] = []
  ) {
    self.place = place
    self.isLive = isLive
    self.calls = calls
    self.usage = usage
    self.findings = findings
    self.warnings = warnings
  }

  /// Whether every number is 0. Warnings do not count.
  package var isClean: Bool { findings.allSatisfy { $0.count == 0 } }
}
