internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import RedialTransport

/// The other instances on the same store.
final class OtherInstances: Sendable {
  let link: PeerLink
  /// Learns of the ends of calls that others run.
  let endWatch: EndWatch
  let leadership: Leadership
  let documents: SharedDocuments
  let owners: OwnerRequests
  private let shared: SharedParts
  private let engine: EngineLane
  private let events: EventFeed
  private let log: Log
  private let clock: Clock

  /// - Throws: If libcurl cannot be started.
  init(
    _ shared: SharedParts, _ engine: EngineLane, _ store: StoreLane, _ endpoints: WebhookEndpoints,
    _ credentials: NamedCredentials, _ queries: Queries, _ followers: KeyFollowers, _ log: Log, _ clock: Clock
  ) throws(TransportStartError) {
    (self.shared, self.engine, self.events, self.log, self.clock) = (shared, engine, followers.events, log, clock)
    link = PeerLink(trust: shared.trust, clock: clock)
    endWatch = try EndWatch(followers.ends, queries.reader, link, clock: clock)
    leadership = Leadership(link.table, queries, log)
    documents = SharedDocuments(
      shared, store, engine, endpoints, credentials, queries.reader, leadership, followers, log)
    owners = OwnerRequests(peers: link, documents: documents, queries: queries)
  }

  /// Begins to renew the lease and to listen to the other instances. Called before the first lease is requested.
  ///
  /// - Parameters:
  ///   - address: The URL at which the others reach this instance; nil if they cannot.
  ///   - bulk: Runs the bulk operations, while this instance is the leader.
  ///   - forwards: Forwards submissions to the others.
  func meet(at address: String?, _ bulk: BulkRunner, _ forwards: ForwardLane?) {
    leadership.take(bulk)
    // Weak: the store retains this closure, and these retain the store.
    shared.store.meet(at: address, version: redialVersion) { [weak self, weak forwards] news in
      self?.heed(news, at: address, forwards)
    }
  }

  /// Tells the owners of these shards that calls for them are on disk.
  func tellOwners(of shards: ShardSet) { shared.store.tellOwners(of: shards) }

  private func heed(_ news: PeerNews, at address: String?, _ forwards: ForwardLane?) {
    switch news {
    case .renewed(let session, let asked):
      let elapsed = asked.duration(to: .now)
      engine.post(.leaseRenewed(session: session, asked: clock.now + (.zero - elapsed)))
    case .heard(let sample):
      clock.correct(by: sample)
      shared.unread.recordAnswer(askedAt: sample.asked)
    case .callsStored: engine.post(.callsStored)
    case .commitsLost(let loss): link.table.set(loss)
    case .changed: engine.post(.changed)
    case .documentsChanged(let kinds): documents.read(kinds)
    case .peers(let listed):
      // One with this address is an earlier process, or this one before it knows its session.
      let others = listed.filter { !$0.isSelf && $0.address != address }
      let all = listed.contains(where: \.isSelf) ? listed : others
      let before = link.table.all
      link.table.set(all)
      forwards?.meet(others)
      events.meet(others)
      shared.keys.divideQuotas(among: all.count)
      endWatch.meet(others)
      logChange(from: before, to: all)
    }
  }

  /// Logs which instances have come and gone.
  private func logChange(from before: [Peer], to after: [Peer]) {
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
