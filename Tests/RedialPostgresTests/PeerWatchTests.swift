import RedialCore
import RedialModel
import RedialStore
import Testing

@testable import RedialPostgres

@Suite("The news in a heartbeat")
struct PeerWatchTests {
  private func peer(_ id: Int64, _ shards: ShardSet, isSelf: Bool = false) -> Peer {
    Peer(
      session: LeaseSession(id: id, instance: Int(id)), address: nil, version: "", shards: shards,
      expiresAt: nil, isSelf: isSelf)
  }

  private let half = ShardSet(0..<32)

  /// Whether the instance 1 requests its lease after a heartbeat.
  private func isChanged(_ look: PeerLook, session: Int64? = 1) -> Bool {
    var watch = PeerWatch()
    return watch.news(of: look, session: session).contains(.changed)
  }

  @Test("nothing is to be done while all have their shares")
  func even() {
    let other = ShardSet.all.subtracting(half)
    #expect(!isChanged(PeerLook(peers: [peer(1, half), peer(2, other)])))
    #expect(!isChanged(PeerLook(peers: [peer(1, .all)])))
  }

  @Test(
    "sessions that are over, free shards below the share and a surplus are reasons to request the lease"
  )
  func reasons() {
    let other = ShardSet.all.subtracting(half)
    #expect(isChanged(PeerLook(peers: [peer(1, half), peer(2, other)], expired: 1)))
    #expect(isChanged(PeerLook(peers: [peer(1, half)])))
    #expect(isChanged(PeerLook(peers: [peer(1, .all), peer(2, .none)])))
    // The other lacks shards; this one has its share.
    #expect(!isChanged(PeerLook(peers: [peer(1, half), peer(2, .none)])))
  }

  @Test("while nobody may divide shards there is no reason but a lost session")
  func quiet() {
    #expect(!isChanged(PeerLook(peers: [peer(1, half)], expired: 1, isQuiet: true)))
    #expect(isChanged(PeerLook(peers: [peer(2, half)], isQuiet: true)))
    #expect(!isChanged(PeerLook(peers: [peer(2, half)]), session: nil))
  }

  @Test("peers are reported when they differ, and not when only their leases go on")
  func peers() {
    var watch = PeerWatch()
    var one = peer(1, .all)
    one.expiresAt = .distantFuture
    #expect(watch.news(of: PeerLook(peers: [one]), session: 1) == [.peers([one])])
    one.expiresAt = nil
    #expect(watch.news(of: PeerLook(peers: [one]), session: 1).isEmpty)
    one.address = "http://10.0.0.1:8080"
    #expect(watch.news(of: PeerLook(peers: [one]), session: 1) == [.peers([one])])
  }

  @Test("changed documents are reported once, and after a start all that ever changed")
  func documents() {
    var watch = PeerWatch()
    var look = PeerLook(peers: [peer(1, .all)], versions: [.policy: 7])
    #expect(watch.news(of: look, session: 1).contains(.documentsChanged([.policy])))
    #expect(watch.news(of: look, session: 1).isEmpty)
    look.versions[.apiKey] = 1
    look.versions[.policy] = 8
    #expect(watch.news(of: look, session: 1) == [.documentsChanged([.policy, .apiKey])])
    // A server that lost the last changes has fewer.
    look.versions[.policy] = 7
    #expect(watch.news(of: look, session: 1) == [.documentsChanged([.policy])])
    // A server that lost even the first change of a kind knows nothing of it.
    watch.forgetDocuments()
    look.versions = [:]
    #expect(watch.news(of: look, session: 1) == [.documentsChanged(Set(StoredDocument.Kind.allCases))])
    #expect(watch.news(of: look, session: 1).isEmpty)
  }

  @Test("an owner hears at once, and then at most once in a pause, of all that came meanwhile")
  func hints() {
    var hints = OwnerHints()
    let owners = [
      peer(1, half, isSelf: true), peer(2, ShardSet(32..<48)), peer(3, ShardSet(48..<64)),
    ]
    let start = ContinuousClock.now
    hints.add(ShardSet([1, 33]))
    #expect(hints.due(at: start, owners: owners) == ([2], nil))
    #expect(hints.due(at: start, owners: owners) == ([], nil))
    hints.add(ShardSet([34, 50]))
    #expect(
      hints.due(at: start + .milliseconds(1), owners: owners) == ([3], start + OwnerHints.pause))
    hints.add(ShardSet([35]))
    #expect(
      hints.due(at: start + .milliseconds(2), owners: owners) == ([], start + OwnerHints.pause))
    #expect(hints.due(at: start + OwnerHints.pause, owners: owners) == ([2], nil))
    // A shard without an owner waits for two looks, and is then left to its next owner.
    hints.add(ShardSet([40, 50]))
    #expect(hints.due(at: start + .seconds(1), owners: [owners[0]]) == ([], nil))
    hints.looked(at: [owners[0], owners[2]])
    #expect(hints.due(at: start + .seconds(2), owners: [owners[0], owners[2]]) == ([3], nil))
    hints.looked(at: owners)
    #expect(hints.due(at: start + .seconds(3), owners: owners) == ([2, 3], nil))
    hints.looked(at: owners)
    #expect(hints.due(at: start + .seconds(4), owners: owners) == ([], nil))
    // One that had another owner by then gets a message at the next look; and so do all if the messages were lost.
    hints.add(ShardSet([33]))
    #expect(hints.due(at: start + .seconds(5), owners: owners) == ([2], nil))
    let moved = [owners[0], peer(2, .none), peer(3, ShardSet(32..<64))]
    hints.looked(at: moved)
    #expect(hints.due(at: start + .seconds(6), owners: moved) == ([3], nil))
    hints.notTold()
    #expect(hints.due(at: start + .seconds(7), owners: moved) == ([3], nil))
  }
}
