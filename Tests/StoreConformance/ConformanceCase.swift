import Testing

/// One rule of a suite that every store fulfils. A store runs them all as the arguments of one test.
package struct ConformanceCase<Suite>: Sendable, CustomTestStringConvertible {
  private let title: String
  private let body: @Sendable (Suite) throws -> Void

  init(_ title: String, _ body: @escaping @Sendable (Suite) throws -> Void) {
    self.title = title
    self.body = body
  }

  /// One case for each seed.
  static func seeds(
    _ title: String, _ seeds: ClosedRange<UInt64> = 1...3, _ body: @escaping @Sendable (Suite, UInt64) throws -> Void
  ) -> [ConformanceCase] {
    seeds.map { seed in ConformanceCase("\(title) (\(seed))") { try body($0, seed) } }
  }

  package var testDescription: String { title }

  /// Shows that a store fulfils it.
  package func run(_ suite: Suite) throws { try body(suite) }
}

extension StoreConformance {
  /// All rules.
  package static let cases = plain + seeded.flatMap { $0 }

  private static let plain: [ConformanceCase<StoreConformance>] = [
    ConformanceCase("every field of a call is read back unchanged") { try $0.callRoundTrip() },
    ConformanceCase("progress and attempts are read back, with the requested responses") {
      try $0.updatesAndAttempts()
    },
    ConformanceCase("a call that ends with its first attempt has that attempt, whatever its size") {
      try $0.firstAttempts()
    },
    ConformanceCase("a call that is retried keeps the attempt with which it ended first") {
      try $0.firstAttemptsOfRetriedCalls()
    },
    ConformanceCase("the attempt with which a call ended is erased and removed with it") {
      try $0.removedFirstAttempts()
    },
    ConformanceCase("a setting is kept under its name until another takes its place") { try $0.settings() },
    ConformanceCase("a key finds its call until it expires, and may then be used again") { try $0.keys() },
    ConformanceCase("a discarded call is removed with all its data") { try $0.discards() },
    ConformanceCase("a commit that fails leaves nothing behind") { try $0.rollback() },
    ConformanceCase("committed data is there for the next process") { try $0.durability() },
    ConformanceCase("due calls are claimed once, earliest first, up to the limit") { try $0.dueClaims() },
    ConformanceCase("many due calls of one namespace do not delay those of others") { try $0.fairClaims() },
    ConformanceCase("a target's queue is claimed oldest first") { try $0.queuedClaims() },
    ConformanceCase("a claim by id holds a call that has not ended") { try $0.claimsByID() },
    ConformanceCase("several calls at once come in the order of their names, each for those of its namespace alone") {
      try $0.claimsOfSeveral()
    },
    ConformanceCase("a claimed call has its attempts only if its webhook contains them") { try $0.claimedHistory() },
    ConformanceCase("a process that takes over gets the running calls and the number of waiting ones") {
      try $0.recovery()
    },
    ConformanceCase("a call that waited for its target is back in its queue after a crash") {
      try $0.queueAfterCrash()
    },
    ConformanceCase("an interruption survives a crash of the process that recovers it") { try $0.twiceRunning() },
    ConformanceCase("a target's queue is claimed by priority first") { try $0.priorities() },
    ConformanceCase("operators' settings of targets are there for the next process") { try $0.controls() },
    ConformanceCase("the calls of an ordering key have their turns one after the other, in order") { try $0.turns() },
    ConformanceCase("manual retries and erasures survive a restart, and are removed with their call") {
      try $0.afterTheFact()
    },
    ConformanceCase("finished calls are removed after their time, with all their data, and no others are") {
      try $0.retentionByAge()
    },
    ConformanceCase("payloads are erased after their time, those of late ends too, and all else stays") {
      try $0.payloadsByAge()
    },
    ConformanceCase("a call that is about to be retried keeps its payloads") { try $0.payloadsDuringOperation() },
    ConformanceCase("a call that is about to be retried is not removed") { try $0.retentionDuringOperation() },
  ]

  private static let seeded: [[ConformanceCase<StoreConformance>]] = [
    ConformanceCase.seeds("all changes of a commit are made, or none, however many there are") {
      try $0.batches(seed: $1)
    },
    ConformanceCase.seeds("running calls are distinguished from waiting ones, in lists and after a crash", 1...4) {
      try $0.runningAfterCrash(seed: $1)
    },
    ConformanceCase.seeds("a turn is never lost or given twice, whatever happens to the calls") {
      try $0.turnsAgree(seed: $1)
    },
    ConformanceCase.seeds("lists agree with a naive model, page by page") { try $0.listing(seed: $1) },
    ConformanceCase.seeds("lists by any conditions agree with a naive model, page by page") {
      try $0.filtering(seed: $1)
    },
    ConformanceCase.seeds("lists by what calls wait for have the calls that show it") { try $0.waits(seed: $1) },
    ConformanceCase.seeds("failed calls are counted by group like in a naive model") { try $0.failedGroups(seed: $1) },
    ConformanceCase.seeds("waiting calls are counted like in a naive model") { try $0.backlog(seed: $1) },
    ConformanceCase.seeds("the kept counts of finished calls agree with a naive model") {
      try $0.finishedCounts(seed: $1)
    },
  ]
}

extension LeaseConformance {
  /// All rules.
  package static let cases: [ConformanceCase<LeaseConformance>] = [
    ConformanceCase("instances have even shares, and no shard has two owners") { try $0.shares() },
    ConformanceCase("an instance without a lease can change and claim nothing") { try $0.fencing() },
    ConformanceCase("no instance claims another's calls, and an owner finds the calls that others put there") {
      try $0.confinement()
    },
    ConformanceCase("an instance that takes over finds the running and the held calls") { try $0.takeover() },
    ConformanceCase("each instance gets the numbers of unfinished calls, in its shards and elsewhere") {
      try $0.counts()
    },
    ConformanceCase("of two simultaneous calls under one key one is accepted") { try $0.keys() },
    ConformanceCase("turns are given by the owner of a target alone, also those of calls that others store for it") {
      try $0.turns()
    },
    ConformanceCase("an instance that leaves need not be waited for") { try $0.resigning() },
  ]
}

extension MigrationConformance {
  /// All rules.
  package static let cases = plain + interrupted

  private static let plain: [ConformanceCase<MigrationConformance>] = [
    ConformanceCase("a migration moves everything") { try $0.migration() },
    ConformanceCase("differences are found, and keep the store from being used") { try $0.differences() },
    ConformanceCase("other contents and another source are refused") { try $0.refusals() },
  ]

  private static let interrupted: [ConformanceCase<MigrationConformance>] = [1, 2].map { count in
    ConformanceCase("an interrupted migration goes on from there (\(count))") { try $0.interruptions(after: count) }
  }
}
