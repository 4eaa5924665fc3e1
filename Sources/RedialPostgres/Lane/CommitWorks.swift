internal import RedialModel
internal import RedialStore

/// Makes works of changes, with the numbers of all targets and namespaces that they name. Unknown ones get their numbers in a
/// transaction of their own, so that no commit waits for another because of them.
struct CommitWorks: Sendable {
  let numbers: NumberTable
  let payloads: PayloadRule

  /// What makes the statements of changes.
  ///
  /// - Parameters:
  ///   - proof: That of the data keys which seal the changes.
  ///   - shards: The shards of this instance, as far as it knows.
  func statements(
    _ writes: FoldedWrites, _ proof: [PostgresStatement], shards: ShardSet
  ) throws(StoreError) -> CommitStatements {
    CommitStatements(
      payloads: payloads, vault: numbers.side.settings.vault, proof: proof,
      numbers: try numbers.numbers(targets: writes.targets, namespaces: writes.namespaces),
      shards: shards)
  }

  func job(
    _ writes: [StoreWrite], _ sequence: Int64, _ trial: StoreTrial, shards: ShardSet
  ) throws(StoreError) -> LaneJob {
    let folded = FoldedWrites(writes)
    let vault = numbers.side.settings.vault
    let sealed = folded.sealed(by: vault)
    try StoredDataKeys.ensure(sealed, numbers.side)
    let statements = try statements(
      folded, StoredDataKeys.proof(vault.currentKeys(of: sealed)), shards: shards)
    return LaneJob(
      work: .commit(writes), sequence: sequence, trial: trial, statements: try statements.statements(folded),
      revival: statements.revival(folded), firstDue: folded.firstDue, writes: folded, server: statements.numbers.server)
  }
}
