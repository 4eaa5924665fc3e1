/// The checks of a store. The result of each is a number that must be 0.
package enum StoreCheck: String, Sendable, Hashable, CaseIterable {
  /// The database finds its own files damaged, or tables are missing.
  case integrity
  /// Documents, settings and records of targets that the service cannot read. It does not start, or works without them.
  case unreadable
  /// Calls that cannot be read, or were set to failed because of that.
  case damaged
  /// Calls in no engine's memory that should have been claimed a minute ago; only while a service runs.
  case overdue
  /// Calls in a service's memory whose attempt should have ended, or whose deadline passed, a minute ago; only while it
  /// runs.
  case stuck
  /// Attempts, requests, keys and retries of calls that do not exist, and calls without a request.
  case orphaned
  /// Unfinished webhooks about a call that does not exist, although retention has not come that far.
  case orphanedWebhooks
  /// Attempts of one call that overlapped: two instances had it at a time.
  case doublyLeased
  /// Shards that two instances may both use: leases of sessions that do not exist, targets in another shard than their
  /// key requires, a session with exclusive use of the store besides others.
  case leases
  /// Works of an instance that the ledger lacks, by which it learns after a lost connection what was made; only of stores
  /// that instances share.
  case ledger
  /// Leases that have ended and that nobody has taken over; only while a service runs.
  case expiredLeases
  /// Calls that are held or running in a shard without an owner; on a shared store only while a service runs, and if that
  /// lasts, because another instance takes them over.
  case unowned
  /// Calls with more recorded than counted attempts, or with more counted attempts than their policy allows.
  case miscounted
  /// Calls whose end is only partly recorded: a final state without a time or a reason, or these without a final state; or
  /// in the table of those that have ended and not ended, or the other way.
  case halfEnded
  /// Ordered calls that wait for a turn that never comes, or run without their turn.
  case turns
  /// Stored counts of calls that differ from the actual numbers.
  case keptCounts

  /// The meaning of a number other than 0, and what to do.
  package var meaning: String {
    switch self {
    case .integrity: "the database is damaged; keep a copy of its files, then restore a backup"
    case .unreadable:
      "a service does not start on them or works without them; remove or replace them with the version that made them, or "
        + "restore a backup"
    case .damaged: "calls cannot be read and are not executed; submit them again, from a backup's export if need be"
    case .overdue: "due calls wait in the store; see whether the service has room in memory and its store works"
    case .stuck: "calls stay in memory beyond their time; restart the service, and report it"
    case .orphaned: "rows lack the other half of their call; report it"
    case .orphanedWebhooks: "webhooks are about calls that are gone; report it, unless the calls were purged"
    case .doublyLeased: "attempts of one call overlapped; report it"
    case .leases: "two instances may have the same calls; stop all but one, and report it"
    case .ledger: "after a lost connection an instance cannot know what was made; restart it, and report it"
    case .expiredLeases: "an instance is gone and nobody has taken over; see whether the others reach the store"
    case .unowned: "calls belong to no instance; restart the service, and report it"
    case .miscounted: "attempts are not counted as they were made; report it"
    case .halfEnded: "ends are recorded in part only; report it"
    case .turns: "ordered calls wait forever or overtake others; export the calls and import them into a new store"
    case .keptCounts: "the stored counts of calls are wrong; /metrics and limits use them"
    }
  }
}

/// The result of a check.
package struct StoreFinding: Sendable, Hashable {
  package var check: StoreCheck
  /// The number of faults; must be 0.
  package var count: Int
  /// The first few faults, in words.
  package var examples: [String]

  /// Maximum number of examples.
  package static let maximumExamples = 10

  /// Creates a finding; by default without faults.
  package init(check: StoreCheck, count: Int = 0, examples: [String] = []) {
    self.check = check
    self.count = count
    self.examples = examples
  }

  /// One finding for each check, in the order of ``StoreCheck``: several of a check are added up.
  package static func joined(_ findings: [Self]) -> [Self] {
    StoreCheck.allCases.compactMap { check in
      let same = findings.filter { $0.check == check }
      guard !same.isEmpty else { return nil }
      return Self(
        check: check, count: same.reduce(0) { $0 + $1.count },
        examples: Array(same.flatMap(\.examples).prefix(maximumExamples)))
    }
  }

  /// Counts one more fault.
  package mutating func add(_ example: @autoclosure () -> String) {
    count += 1
    if examples.count < Self.maximumExamples { examples.append(example()) }
  }
}
