/// What a store is checked for. Each is a number that must be 0.
public enum StoreCheck: String, Sendable, Hashable, CaseIterable {
  /// SQLite finds the file itself damaged.
  case integrity
  /// Calls that cannot be understood, or were set aside since they could not be.
  case damaged
  /// Calls in nobody's memory that should have been taken from the store a minute ago; only while a service runs.
  case overdue
  /// Calls in a service's memory whose attempt, or whose deadline, was over a minute ago; only while it runs.
  case stuck
  /// Attempts, requests, keys and retries of calls that are not there, and calls without a request.
  case orphaned
  /// Unfinished webhooks about a call that does not exist, although retention has not come that far.
  case orphanedWebhooks
  /// Attempts of one call that overlapped: two held it at a time.
  case doublyLeased
  /// Shards that two instances may believe to be theirs: leases of sessions that are not there, targets that are in another
  /// shard than their key says, a session that has the store to itself beside others.
  case leases
  /// Leases that are over and that nobody has taken over; only while a service runs.
  case expiredLeases
  /// Calls that are held or running in a shard that is nobody's.
  case unowned
  /// Calls with more attempts recorded than counted, or more charged than their policy allows.
  case miscounted
  /// Calls whose end is recorded in part only: a final state without a time or a reason, or these without it.
  case halfEnded
  /// Ordered calls that wait for a turn which never comes, or go on without having theirs.
  case turns
  /// Kept counts of finished calls that differ from how many there are.
  case keptCounts

  /// What a number other than 0 means, and what to do.
  public var meaning: String {
    switch self {
    case .integrity: "the file is damaged; keep a copy of it and its -wal, then restore a backup"
    case .damaged: "calls cannot be read and are not executed; submit them again, from a backup's export if need be"
    case .overdue: "due calls wait in the store; see whether the service has room in memory and its store works"
    case .stuck: "calls stay in memory beyond their time; restart the service, and report it"
    case .orphaned: "rows lack the other half of their call; report it"
    case .orphanedWebhooks: "webhooks are about calls that are gone; report it, unless the calls were purged"
    case .doublyLeased: "attempts of one call overlapped; report it"
    case .leases: "two instances may have the same calls; stop all but one, and report it"
    case .expiredLeases: "an instance is gone and nobody has taken over; see whether the others reach the store"
    case .unowned: "calls belong to no instance; restart the service, and report it"
    case .miscounted: "attempts are not counted as they were made; report it"
    case .halfEnded: "ends are recorded in part only; report it"
    case .turns: "ordered calls wait forever or overtake others; export the calls and import them into a new store"
    case .keptCounts: "the stored counts of finished calls are wrong; only /metrics uses them"
    }
  }
}

/// What a check found.
public struct StoreFinding: Sendable, Hashable {
  /// What was checked.
  public var check: StoreCheck
  /// How often; must be 0.
  public var count: Int
  /// The first few, in words.
  public var examples: [String]

  /// Examples that are kept at most.
  public static let maximumExamples = 10

  /// Creates a finding; without more, that nothing was found.
  public init(check: StoreCheck, count: Int = 0, examples: [String] = []) {
    self.check = check
    self.count = count
    self.examples = examples
  }

  /// Counts one more.
  mutating func add(_ example: @autoclosure () -> String) {
    count += 1
    if examples.count < Self.maximumExamples { examples.append(example()) }
  }
}

/// What an inspection of a store found.
public struct StoreReport: Sendable, Hashable {
  /// The file.
  public var path: String
  /// Whether a process owned the store.
  public var isLive: Bool
  /// Calls that were read.
  public var calls: Int
  /// What the store takes and holds.
  public var usage: StoreUsage
  /// One for each check that was made, in the order of ``StoreCheck``.
  public var findings: [StoreFinding]

  /// Whether every number is 0.
  public var isClean: Bool { findings.allSatisfy { $0.count == 0 } }
}
