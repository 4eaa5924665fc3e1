internal import RedialModel

/// What audits have found: calls that only the store has in memory.
///
/// The store is read beside the engine, so a call may be missing once, on its way. One that is missing in two audits in a
/// row is really missing.
struct AuditFindings: Sendable {
  /// The maximum number of calls that are remembered, and so reclaimed at a time.
  static let most = 1000

  private var missing: Set<HeldCall> = []

  /// An audit has ended. Returns those calls that the one before it missed, too.
  mutating func add(_ calls: [HeldCall]) -> [HeldCall] {
    defer { missing = Set(calls.prefix(Self.most)) }
    return calls.filter(missing.contains)
  }
}
