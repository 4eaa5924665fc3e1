import StoreConformance
import RedialCore
import RedialModel

@testable import RedialPostgres

extension TestDatabase {
  /// A store by a way that can be blocked, with a session and with all numbers that its commits need.
  func blocked(
    _ proxy: Proxy, patience: Duration = .seconds(60), clock: (@Sendable () -> Timestamp)? = nil
  ) throws -> Pipeline {
    var blocked = proxy.settings(for: settings, of: cluster)
    blocked.patience = patience
    let pipeline = Pipeline(try PostgresStore(blocked, clock: clock), duration: .seconds(10))
    try pipeline.join()
    try pipeline.commit([0])
    pipeline.waitForResults()
    return pipeline
  }
}

/// A store that stalls beyond its lease, and an instance that would have what it had.
final class Stall {
  let clock = StoreClock()
  let proxy: Proxy
  let pipeline: Pipeline
  let other: Instance

  init(_ database: TestDatabase) throws {
    let (clock, proxy) = (clock, Proxy(database.cluster))
    do {
      pipeline = try database.blocked(proxy) { clock.time }
      other = try Instance(database.settings, meets: false) { clock.time }
    } catch {
      proxy.close()
      throw error
    }
    self.proxy = proxy
  }

  func end() {
    pipeline.store.close()
    other.kill()
    proxy.close()
  }
}
