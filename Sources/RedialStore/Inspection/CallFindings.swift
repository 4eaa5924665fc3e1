internal import RedialCore
package import RedialModel

/// Finds faults of single calls.
package struct CallFindings {
  /// The calls that were checked.
  package private(set) var count = 0
  package private(set) var damaged = StoreFinding(check: .damaged)
  /// Those of the damaged calls that another version may be able to read.
  package private(set) var unreadable = StoreFinding(check: .damaged)
  package private(set) var doublyLeased = StoreFinding(check: .doublyLeased)
  package private(set) var miscounted = StoreFinding(check: .miscounted)
  package var halfEnded = StoreFinding(check: .halfEnded)
  package private(set) var unordered = StoreFinding(check: .turns)

  private let overlapTolerance: Duration
  private let namesRows: Bool

  /// Nothing found yet.
  ///
  /// - Parameters:
  ///   - overlapTolerance: How much two attempts may seem to overlap: an attempt's start and its duration come from
  ///     different clocks.
  ///   - namesRows: Whether the rows of damaged calls are named, for who has to look at the tables.
  package init(overlapTolerance: Duration, namesRows: Bool = false) {
    (self.overlapTolerance, self.namesRows) = (overlapTolerance, namesRows)
  }

  /// Checks a call, its attempts, and its turn.
  package mutating func check<Failure: Error>(
    _ id: CallID, _ found: Result<CallRecord, DamagedCall>, _ attempts: Result<[AttemptRecord], DamagedCall>,
    turn: () throws(Failure) -> CallTurn?
  ) throws(Failure) {
    count += 1
    switch (found, attempts) {
    case (.failure(let call), _), (_, .failure(let call)):
      let line = "\(id)\(namesRows ? " (\(id.rawValue) in the table requests)" : ""): \(call.reason)"
      damaged.add(line)
      let isSetAside = (try? found.get())?.progress.isSetAside ?? false
      if !call.isBroken, !isSetAside { unreadable.add(line) }
    case (.success(let call), .success(let attempts)):
      checkEnd(of: call)
      checkCount(of: call, attempts)
      checkOverlap(id, attempts)
      if Self.isOrdered(call) { checkTurn(of: call, try turn()) }
    }
  }

  /// Whether the call is part of an order, or its record says so.
  private static func isOrdered(_ call: CallRecord) -> Bool {
    !call.progress.state.isFinal && (call.spec.orderingKey != nil || call.progress.waiting == .ordering)
  }

  private mutating func checkTurn(of call: CallRecord, _ turn: CallTurn?) {
    let awaitsTurn = call.progress.waiting == .ordering
    guard let turn else {
      let what = awaitsTurn ? "awaits its turn" : "has an ordering key"
      return unordered.add("\(call.id) \(what) and has no place in the order")
    }
    if turn.key != call.spec.orderingKey {
      unordered.add("\(call.id) has its place in the order of another key")
    } else if turn.hasTurn, awaitsTurn {
      unordered.add("\(call.id) has its turn and still awaits it")
    } else if !turn.hasTurn, !awaitsTurn {
      unordered.add("\(call.id) goes on, and it is not its turn")
    }
  }

  private mutating func checkEnd(of call: CallRecord) {
    let progress = call.progress
    if progress.state.isFinal, progress.finishedAt == nil {
      halfEnded.add("\(call.id) is \(progress.state.visible.rawValue) without a time")
    } else if !progress.state.isFinal, progress.finishedAt != nil {
      halfEnded.add("\(call.id) has a time of its end and is \(progress.state.visible.rawValue)")
    } else if (progress.state == .failed) != (progress.failure != nil) {
      let reason = progress.failure.map { "the reason \($0.name)" } ?? "no reason"
      halfEnded.add("\(call.id) is \(progress.state.visible.rawValue) and has \(reason)")
    }
  }

  private mutating func checkCount(of call: CallRecord, _ attempts: [AttemptRecord]) {
    let progress = call.progress
    if attempts.count > progress.attempts || attempts.last.map({ $0.number > progress.attempts }) == true {
      miscounted.add("\(call.id) has \(attempts.count) attempts recorded and \(progress.attempts) counted")
    } else if progress.state.isFinal, attempts.count < progress.attempts {
      miscounted.add("\(call.id) has ended with \(progress.attempts) attempts counted and \(attempts.count) recorded")
    } else if progress.chargedAttempts > call.spec.policy.maxAttempts {
      miscounted.add("\(call.id) was charged \(progress.chargedAttempts) of \(call.spec.policy.maxAttempts) attempts")
    }
  }

  /// An attempt that ended before the earlier one began does not overlap it: the clock was set back between them.
  private mutating func checkOverlap(_ id: CallID, _ attempts: [AttemptRecord]) {
    for (earlier, later) in zip(attempts, attempts.dropFirst())
    where earlier.startedAt + earlier.duration > later.startedAt + overlapTolerance
      && later.startedAt + later.duration + overlapTolerance >= earlier.startedAt
    {
      doublyLeased.add("\(id): attempt \(later.number) began before attempt \(earlier.number) ended")
    }
  }
}
