/// Divides the starts of a target between its new calls and its backlog.
///
/// While calls of both kinds wait, new calls get their share of the starts, and the backlog the rest. A share that one
/// side does not use goes to the other. This is deficit round robin with two queues and equal sizes (Shreedhar and
/// Varghese, "Efficient Fair Queuing Using Deficit Round Robin", IEEE/ACM Transactions on Networking 4(3), 1996).
///
/// Only as many calls wait as new ones as their share lets start within ``patience``; the others join the backlog. So a
/// call that waits as a new one does not wait for long, even if more arrive than can start (as in adaptive LIFO; Maurer,
/// "Fail at Scale", ACM Queue 13(8), 2015).
package struct FairShare: Sendable, Hashable {
  /// In which line a call waits that has become due for its first attempt.
  package enum Line: Sendable, Hashable {
    /// Among the new calls.
    case new
    /// Among the new calls; those that were there have waited for so long that they join the backlog.
    case newAfterOthers
    case backlog
  }

  /// The share of the starts that new calls get while both kinds wait, 0...``most``; 0 if all calls are backlog.
  package let newShare: Double
  /// The share in thousandths, so that sums are exact.
  private let share: Int
  /// What new calls may start, in thousandths of a call.
  private var credit = 0
  /// Starts in the second that begins here, and in the one before.
  private var second = Timestamp.epoch
  private var starts = 0
  private var startsBefore = 0

  /// The share of new calls unless another is set. A target that can take a quarter more than the new calls makes none of
  /// them wait.
  package static let usual = 0.8
  /// The largest share of new calls. The rest keeps the backlog from starving.
  package static let most = 0.95
  /// A call is no longer new this long after it became due.
  package static let newFor = Duration.seconds(10)
  /// How long a new call may have to wait for its share, in seconds.
  private static let patience = 2
  /// This many new calls may wait in any case.
  private static let fewest = 8

  /// - Parameter newShare: The share of new calls; limited to 0...``most``.
  package init(newShare: Double) {
    share = Int((min(max(0, newShare), Self.most) * 1000).rounded())
    self.newShare = Double(share) / 1000
  }

  /// Whether all calls are backlog, so that they start by age.
  package var isOff: Bool { share == 0 }

  /// Whether a new call starts next if both kinds wait.
  package var isNewNext: Bool { share > 0 && credit + share >= 1000 }

  /// Counts a start.
  package mutating func start(isNew: Bool, at now: Timestamp) {
    // As much as can be left over while both kinds wait, so that nothing is saved up.
    credit = isNew ? max(0, credit + share - 1000) : min(999, credit + share)
    if now - second >= .seconds(1) || now < second {
      startsBefore = now - second < .seconds(2) && now >= second ? starts : 0
      starts = 0
      second = now
    }
    starts += 1
  }

  /// How many calls may wait as new ones beside a backlog.
  package func room(at now: Timestamp) -> Int {
    let recent = now - second < .seconds(2) ? max(starts, startsBefore) : 0
    return max(Self.fewest, Self.patience * recent * share / 1000)
  }

  /// In which line a call waits that has become due for its first attempt.
  ///
  /// - Parameters:
  ///   - waiting: How many calls wait as new ones.
  ///   - hasBacklog: Whether there is a backlog.
  ///   - oldest: For how long the first of those that wait as new ones has been due.
  package func line(
    beside waiting: Int, hasBacklog: Bool, oldest: @autoclosure () -> Duration, at now: Timestamp
  ) -> Line {
    guard share > 0 else { return .backlog }
    let room = room(at: now)
    // Without a backlog any number may wait. After a while they are the backlog.
    if waiting > room, oldest() > Self.newFor { return .newAfterOthers }
    return hasBacklog && waiting >= room ? .backlog : .new
  }
}
