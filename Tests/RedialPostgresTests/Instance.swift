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

  init(
    _ settings: PostgresSettings, meets: Bool = true, address: String? = nil,
    clock: (@Sendable () -> Timestamp)? = nil
  ) throws {
    store = try PostgresStore(settings, clock: clock)
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
