import Dispatch
import RedialCore
import RedialModel
import RedialStore
import StoreConformance
import Synchronization

@testable import RedialPostgres

/// An instance that shares a database, without a service: its store, and the news that it gets.
final class Instance {
  let store: PostgresStore
  let works: AwaitedStore
  let news = NewsLog()
  /// The lost commits that it has reported, each with whether it has noticed them itself.
  let losses = LossLog()

  init(
    _ settings: PostgresSettings, meets: Bool = true, address: String? = nil,
    clock: (@Sendable () -> Timestamp)? = nil
  ) throws {
    let (notices, losses) = (StoreNotices(), losses)
    notices.receive { if case .commitsLost(let loss, let isHere) = $0 { losses.add(loss, isHere) } }
    store = try PostgresStore(settings, clock: clock, notices: notices)
    works = AwaitedStore(store)
    let news = news
    if meets { store.meet(at: address, version: "1.2.3") { news.add($0) } }
  }

  /// Requests a lease: a new one, or the same again.
  func lease(_ session: LeaseSession? = nil, for duration: Duration = .seconds(60)) throws
    -> LeaseGrant
  {
    try works.lease(LeaseRequest(duration: duration), renewing: session?.id)
  }

  /// Ends as a killed process does: nothing is given back.
  func kill() { store.close() }
}

/// What an instance has reported of lost commits.
final class LossLog: Sendable {
  private let list = Mutex<[(LostCommits, Bool)]>([])

  func add(_ loss: LostCommits, _ isNoticedHere: Bool) { list.withLock { $0.append((loss, isNoticedHere)) } }

  /// Each as the numbers before and after, and who has noticed it.
  var all: [[String]] { list.withLock { $0.map { ["\($0.made)", "\($0.found)", $1 ? "this" : "another"] } } }
}

/// The news of an instance, to be waited for.
final class NewsLog: Sendable {
  private let list = Mutex<[PeerNews]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func add(_ news: PeerNews) {
    list.withLock { $0.append(news) }
    arrived.signal()
  }

  var all: [PeerNews] { list.withLock { $0 } }

  func clear() { list.withLock { $0 = [] } }

  /// Waits until one of the news fulfils a condition, for a minute at most.
  func wait(for condition: (PeerNews) -> Bool) -> Bool {
    let end = DispatchTime.now() + .seconds(60)
    while true {
      if all.contains(where: condition) { return true }
      guard arrived.wait(timeout: end) == .success else { return false }
    }
  }
}
