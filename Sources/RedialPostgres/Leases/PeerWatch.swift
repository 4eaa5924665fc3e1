internal import RedialModel
internal import RedialStore

/// What one heartbeat has seen of the database.
struct PeerLook: Sendable {
  /// The instances, by number.
  var peers: [Peer] = []
  /// How many of their sessions are over.
  var expired = 0
  /// Whether nobody may end sessions or take shards now.
  var isQuiet = false
  /// How often the documents of each kind have changed.
  var versions: [StoredDocument.Kind: Int64] = [:]

  /// The shards without an owner.
  var free: ShardSet { peers.reduce(.all) { $0.subtracting($1.shards) } }
  /// An even share of all shards, rounded up.
  var share: Int {
    ShardDivision(among: max(1, peers.count), owned: 0, free: .none, takesShards: false).share
  }
}

/// Compares heartbeats, and decides which news each one is for an instance.
struct PeerWatch: Sendable {
  /// The peers of the last heartbeat, without the ends of their sessions, which change each time.
  private var known: [Peer] = []
  /// Nil after the connection was lost.
  private var versions: [StoredDocument.Kind: Int64]? = [:]

  /// What is new.
  ///
  /// - Parameter session: The instance's own session; nil if it has none.
  mutating func news(of look: PeerLook, session: Int64?) -> [PeerNews] {
    var news: [PeerNews] = []
    if let session, isLeaseDue(look, session) { news.append(.changed) }
    let peers = look.peers.map { peer in
      var peer = peer
      peer.expiresAt = nil
      return peer
    }
    if peers != known {
      known = peers
      news.append(.peers(look.peers))
    }
    // Before the first heartbeat nobody knows what the instance has read.
    let changed = StoredDocument.Kind.allCases.filter { kind in
      versions.map { look.versions[kind, default: 0] != $0[kind, default: 0] } ?? true
    }
    if !changed.isEmpty {
      versions = look.versions
      news.append(.documentsChanged(Set(changed)))
    }
    return news
  }

  /// The connection is new: all documents are reported again. A server that has taken over may lack the first change of a kind.
  mutating func forgetDocuments() {
    versions = nil
  }

  /// Whether the instance should request its lease now: it has lost its session, or should take shards or give some back.
  private func isLeaseDue(_ look: PeerLook, _ session: Int64) -> Bool {
    guard let own = look.peers.first(where: { $0.session.id == session }) else { return true }
    if look.isQuiet { return false }
    return look.expired > 0 || own.shards.size > look.share || own.shards.size < look.share && !look.free.isEmpty
  }
}

/// Collects the instances that get a message about calls in their shards, so that each gets the first one at once, and then
/// at most one in a pause.
struct OwnerHints: Sendable {
  /// The time between two messages to one instance.
  static let pause = Duration.milliseconds(5)

  private var shards = ShardSet.none
  private var sent: [Int64: ContinuousClock.Instant] = [:]
  /// Shards whose owner nobody knew: since the last look at the instances, and since the one before.
  private var (unknown, longUnknown) = (ShardSet.none, ShardSet.none)
  /// Those for which the owners are looked up again.
  private var again = ShardSet.none
  /// Those for which owners got a message since the last look, by session.
  private var told: [Int64: ShardSet] = [:]

  /// Adds the shards of calls that were stored.
  mutating func add(_ shards: ShardSet) {
    self.shards = self.shards.union(shards)
  }

  /// The instances were looked at. Some shards may have changed hands just before calls were stored for them.
  mutating func looked(at owners: [Peer]) {
    again = again.union(unknown).union(longUnknown)
    (longUnknown, unknown) = (unknown, .none)
    for (session, shards) in told {
      let kept = owners.first { $0.session.id == session }?.shards ?? .none
      again = again.union(shards.subtracting(kept))
    }
    told = [:]
  }

  /// The messages since the last look may not have been sent.
  mutating func notTold() {
    for shards in told.values { again = again.union(shards) }
  }

  /// The instances that get a message now, and when to ask again; nil if nothing is left.
  ///
  /// Shards whose owner nobody knows wait until the instances were looked at twice. Their next owner looks for due calls by
  /// itself.
  mutating func due(
    at now: ContinuousClock.Instant, owners: [Peer]
  ) -> (told: [Int64], next: ContinuousClock.Instant?) {
    let all = shards.union(again)
    guard !all.isEmpty else { return ([], nil) }
    var (sessions, later, next): ([Int64], ShardSet, ContinuousClock.Instant?) = ([], .none, nil)
    for owner in owners where !owner.isSelf {
      let meant = owner.shards.intersection(all)
      guard !meant.isEmpty else { continue }
      let earliest = sent[owner.session.id].map { $0 + Self.pause } ?? now
      if earliest <= now {
        sessions.append(owner.session.id)
        told[owner.session.id] = told[owner.session.id, default: .none].union(meant)
        sent[owner.session.id] = now
      } else {
        later = later.union(meant)
        next = next.map { min($0, earliest) } ?? earliest
      }
    }
    let others = owners.reduce(ShardSet.none) { $1.isSelf ? $0 : $0.union($1.shards) }
    unknown = unknown.union(shards.subtracting(others))
    (shards, again) = (later, .none)
    sent = sent.filter { entry in owners.contains { $0.session.id == entry.key } }
    return (sessions, next)
  }
}
