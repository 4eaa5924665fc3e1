/// The result of an inspection of a store.
public struct StoreReport: Sendable, Hashable {
  /// Where the store is: a file, or a database.
  public var place: String
  /// Whether a service ran on the store.
  public var isLive: Bool
  /// Calls that were read.
  public var calls: Int
  /// The size and content of the store.
  public var usage: StoreUsage
  /// One for each check that was made, in the order of ``StoreCheck``.
  public var findings: [StoreFinding]
  /// What does no harm yet, or could not be checked.
  public var warnings: [StoreWarning]

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
  public var isClean: Bool { findings.allSatisfy { $0.count == 0 } }
}
