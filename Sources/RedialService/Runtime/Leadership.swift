internal import Dispatch
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Which shards this instance has, and what it does as the leader of all instances on the store: it runs the bulk
/// operations.
final class Leadership: Observer {
  private let table: PeerTable
  private let queries: Queries
  private let log: Log
  /// Set before this instance has a shard.
  private let bulk = Mutex<BulkRunner?>(nil)

  init(_ table: PeerTable, _ queries: Queries, _ log: Log) {
    (self.table, self.queries, self.log) = (table, queries, log)
  }

  /// Takes who runs the bulk operations while this instance leads.
  func take(_ runner: BulkRunner) { bulk.withLock { $0 = runner } }

  func saw(_ fact: Fact) {
    guard case .notice(let notice, _) = fact, let bulk = bulk.withLock({ $0 }) else { return }
    switch notice {
    case .shardsGained(let shards): if table.gain(shards) { lead(bulk, in: bulk.term) }
    case .shardsReleased(let shards): if table.lose(shards) { bulk.drop() }
    case .leaseLost: if table.lose(.all) { bulk.drop() }
    default: break
    }
  }

  /// Reads the bulk operations again, if this instance leads.
  func readOperations() throws {
    // One whose storing was in doubt is known to nobody else.
    guard let bulk = bulk.withLock({ $0 }), let term = bulk.leadsIn else { return }
    bulk.take(try queries.reader.operations(), in: term)
  }

  /// Takes the bulk operations over, as the new leader. Tries again until the store can be read, or it is not the leader
  /// any more.
  private func lead(_ bulk: BulkRunner, in term: UInt64) {
    queries.run(isOwed: true) { [weak self] in
      guard let self else { return }
      // What was read may be of a time before another instance led.
      guard bulk.take(try queries.reader.operations(), in: term), table.lead() else { return }
      log.write(.info, "leading")
    } failure: { [weak self] _ in
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
        if bulk.term == term { self?.lead(bulk, in: term) }
      }
    }
  }
}
