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
