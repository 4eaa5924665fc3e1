internal import RedialModel

/// Follows the changes that are on disk, in their order, on the store's lane.
protocol CommitObserver: Sendable {
  func committed(_ writes: [StoreWrite])
}

extension Metrics: CommitObserver {}
extension EndTable: CommitObserver {}
extension EventFeed: CommitObserver {}
extension CallTracer: CommitObserver {}
extension EndWatch: CommitObserver {}
