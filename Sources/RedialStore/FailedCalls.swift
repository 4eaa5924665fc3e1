package import RedialCore
package import RedialModel

/// The failed calls of a group that the store has.
package struct FailedCalls: Sendable, Hashable {
  package var issue: IssueID
  package var count: Int
  /// When the first of them failed, and the last.
  package var firstAt: Timestamp
  package var lastAt: Timestamp
  /// The newest of them.
  package var example: CallID
  /// How many of them failed in each hour of the last ``hoursKept``, the latest last.
  package var hours: [Int]

  /// How many hours are counted.
  package static let hoursKept = 24
  /// The length of an hour, in microseconds.
  package static let hour: Int64 = 3_600_000_000

  /// A group with calls.
  package init(
    issue: IssueID, count: Int, firstAt: Timestamp, lastAt: Timestamp, example: CallID,
    hours: [Int] = Array(repeating: 0, count: hoursKept)
  ) {
    self.issue = issue
    self.count = count
    self.firstAt = firstAt
    self.lastAt = lastAt
    self.example = example
    self.hours = hours
  }

  /// When the first of the hours began.
  package static func hoursBegin(at now: Timestamp) -> Timestamp {
    Timestamp(microseconds: now.microseconds - Int64(hoursKept) * hour)
  }

  /// Counts calls of an hour.
  ///
  /// - Parameter hour: The place of the hour; one that is not kept is left out.
  package mutating func count(_ calls: Int, inHour hour: Int64) {
    if let place = Int(exactly: hour), hours.indices.contains(place) { hours[place] += calls }
  }

  /// Adds a call that is in no table yet.
  package mutating func add(_ call: CallID, failedAt time: Timestamp, at now: Timestamp) {
    count += 1
    firstAt = min(firstAt, time)
    lastAt = max(lastAt, time)
    example = max(example, call)
    let age = time.microseconds - Self.hoursBegin(at: now).microseconds
    if age >= 0 { count(1, inHour: age / Self.hour) }
  }
}

/// Which groups of failed calls are wanted.
package struct FailedQuery: Sendable {
  package var namespace: Namespace
  /// The only group; nil for all.
  package var issue: IssueID?
  /// The most groups, those with the most calls.
  package var limit: Int
  /// Only groups with a call that has failed since.
  package var since = Timestamp.epoch
  /// The end of the hours.
  package var now: Timestamp

  /// Creates a query.
  package init(in namespace: Namespace, issue: IssueID? = nil, limit: Int, at now: Timestamp) {
    self.namespace = namespace
    self.issue = issue
    self.limit = limit
    self.now = now
  }

  /// The groups in the order of an answer: those with the most calls, and among equals that with the lowest id.
  package func first(_ groups: some Sequence<FailedCalls>) -> [FailedCalls] {
    let sorted = groups.filter { $0.lastAt >= since }.sorted {
      ($1.count, $0.issue.rawValue) < ($0.count, $1.issue.rawValue)
    }
    return Array(sorted.prefix(limit))
  }
}
