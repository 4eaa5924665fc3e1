internal import RedialModel
internal import RedialStore

/// Makes works of changes, with the numbers of all targets and namespaces that they name. Unknown ones get their numbers in a
/// transaction of their own, so that no commit waits for another because of them.
struct CommitWorks: Sendable {
  let numbers: NumberTable
  let payloads: PayloadRule

  /// What makes the statements of changes.
  ///
  /// - Parameter shards: The shards of this instance, as far as it knows.
  func statements(_ writes: FoldedWrites, shards: ShardSet) throws(StoreError) -> CommitStatements {
    CommitStatements(
      payloads: payloads, numbers: try numbers.numbers(targets: writes.targets, namespaces: writes.namespaces),
      shards: shards)
  }

  /// A commit.
  func job(_ writes: FoldedWrites, _ sequence: Int64, shards: ShardSet) throws(StoreError) -> LaneJob {
    let statements = try statements(writes, shards: shards)
    return LaneJob(
      kind: .commit(keys: writes.keys, given: writes.given), sequence: sequence,
      statements: statements.statements(writes),
      revival: statements.revival(writes), firstDue: writes.firstDue, writes: writes, server: statements.numbers.server)
  }

  /// A commit with the numbers of a server with which there is a connection now.
  func made(again job: LaneJob, for server: Int64, _ shards: ShardSet) throws(StoreError) -> LaneJob {
    guard let writes = job.writes else { return job }
    numbers.meet(server)
    var again = try self.job(writes, job.sequence, shards: shards)
    again.isThorough = job.isThorough
    return again
  }
}
