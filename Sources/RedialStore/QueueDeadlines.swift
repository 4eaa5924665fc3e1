package import RedialCore
internal import RedialModel

/// When calls of a target's queue have to start at the latest.
package struct QueueDeadlines: Sendable, Hashable {
  /// Of the first calls, in the order in which they start.
  package var first: [Timestamp]
  /// Of the call that starts last; nil if the queue is empty.
  package var last: Timestamp?

  /// Creates deadlines.
  package init(first: [Timestamp] = [], last: Timestamp? = nil) {
    self.first = first
    self.last = last
  }
}
