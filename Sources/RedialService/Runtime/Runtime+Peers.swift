internal import RedialEngine
internal import Dispatch
internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// The other instances on the same store.
extension Runtime {
  /// Begins to renew the lease and to listen to the other instances. Called before the first lease is requested.
  ///
  /// - Parameters:
  ///   - address: The URL at which the others reach this instance; nil if they cannot.
  ///   - bulk: Runs the bulk operations, while this instance is the leader.
  func meetPeers(by store: any SharedStore, at address: String?, _ bulk: BulkRunner) {
    leadersBulk.withLock { $0 = bulk }
    store.meet(at: address, version: redialVersion) { [weak self] news in self?.note(news, at: address) }
  }

  private func note(_ news: PeerNews, at address: String?) {
    switch news {
    case .renewed(let session, let asked):
      let elapsed = asked.duration(to: .now)
      post(.leaseRenewed(session: session, asked: clock.now + (.zero - elapsed)))
    case .heard(let sample):
      clock.correct(by: sample)
      shared?.unread.noteHeard(sample.asked)
    case .callsStored: post(.callsStored)
    case .changed: post(.changed)
    case .documentsChanged(let kinds): readDocuments(kinds)
    case .peers(let listed):
      guard let peers else { return }
      // One with this address is an earlier process, or this one before it knows its session.
      let others = listed.filter { !$0.isSelf && $0.address != address }
      let all = listed.contains(where: \.isSelf) ? listed : others
      let before = peers.table.all
      peers.table.set(all)
      forwardLane?.meet(others)
      events.meet(others)
      shared?.keys.divideQuotas(among: all.count)
      endWatch?.meet(others)
      note(before, all)
    }
  }

  /// Acts on a change of this instance's shards.
  func noteShards(_ notice: Notice) {
    guard let peers, let bulk = leadersBulk.withLock({ $0 }) else { return }
    switch notice {
    case .shardsGained(let shards):
      if peers.table.gain(shards) { lead(bulk, peers.table, in: bulk.term) }
    case .shardsReleased(let shards): if peers.table.lose(shards) { bulk.drop() }
    case .leaseLost: if peers.table.lose(.all) { bulk.drop() }
    default: break
    }
  }

  /// Takes the bulk operations over, as the new leader. Tries again until the store can be read, or it is not the leader
  /// any more.
  private func lead(_ bulk: BulkRunner, _ table: PeerTable, in term: UInt64) {
    query(isOwed: true) { [weak self] in
      guard let self else { return }
      // What was read may be of a time before another instance led.
      guard bulk.take(try reader.operations(), in: term), table.lead() else { return }
      log.write(.info, "leading")
    } failure: { [weak self] _ in
      guard let self else { return }
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
        if bulk.term == term { self?.lead(bulk, table, in: term) }
      }
    }
  }

  /// Logs which instances have come and gone.
  private func note(_ before: [Peer], _ after: [Peer]) {
    func others(_ peers: [Peer]) -> [Int64: Peer] {
      Dictionary(peers.lazy.filter { !$0.isSelf }.map { ($0.session.id, $0) }) { first, _ in first }
    }
    let (old, new) = (others(before), others(after))
    for (id, peer) in new where old[id] == nil { log.write(.info, "peerJoined", Self.fields(of: peer)) }
    for (id, peer) in old where new[id] == nil { log.write(.info, "peerLeft", Self.fields(of: peer)) }
  }

  private static func fields(of peer: Peer) -> [(StaticString, String)] {
    [
      ("instance", "\(peer.session.instance)"), ("url", peer.address ?? "none"), ("version", peer.version),
      ("shards", "\(peer.shards.size)"),
    ]
  }
}
