internal import RedialCore
internal import RedialModel

/// Calls with an attempt in flight when a process died: one of them may have ended it.
///
/// After a start they begin one after the other, each alone for its share of ``longest``, and all else waits meanwhile. So
/// whoever ends the process again is known by being the only one in flight, and no call is blamed for what its neighbour
/// did. After that time all goes on as usual: then a death tells nothing, but only makes suspects of those in flight.
struct Suspects: Sendable {
  /// The longest that anything waits for suspects after a start, and that one of them is alone meanwhile. Both double with
  /// each death of which nobody is known to be the cause: what takes longer than that to end a process would never be alone.
  static let longest = Duration.seconds(2), longestAlone = Duration.milliseconds(250)
  static let mostDoublings = 2

  /// The calls whose turn is to come, the next one last.
  private var line: [CallID] = []
  /// All others may begin from this time on.
  private var end = Timestamp.epoch
  /// The longest that anything waits after this start.
  private(set) var patience = Self.longest
  /// How long each may be alone.
  private var share = Duration.zero
  /// From this time on the next one begins, whatever is in flight.
  private var turnEnds = Timestamp.epoch
  /// The suspect that began last, if it is in flight.
  private(set) var last: CallID?
  /// The suspect that has been the only attempt in flight since it began.
  private(set) var alone: CallID?

  // MARK: Deaths

  /// Decides who is to blame for the death of a process, and who is suspect from now on.
  ///
  /// - Parameters:
  ///   - running: The calls that were in flight; their strikes are changed.
  ///   - crash: What the process has left, if nothing else but these calls was in flight in it.
  /// - Returns: The calls that have ended the process often enough.
  mutating func judge(_ running: inout [CallRecord], after crash: CrashRecord?, at now: Timestamp) -> Set<CallID> {
    let isOnlyOne = crash != nil && running.count == 1
    let isKnown = running.contains { $0.id == crash?.call }
    var (guilty, suspected): (Set<CallID>, [CallRecord]) = ([], [])
    for place in running.indices {
      let id = running[place].id
      // A crash that names a call is no other's doing, also if that call is not here any more.
      let isOwn = crash?.call.map { $0 == id } ?? (isOnlyOne || running[place].progress.isAlone)
      running[place].progress.isAlone = false
      if isOwn, running[place].progress.strike(isCrash: crash != nil) {
        guilty.insert(id)
      } else if isOwn || !isKnown {
        suspected.append(running[place])
      }
    }
    open(suspected, at: now)
    return guilty
  }

  /// Nobody has died, as far as is known: blames none of these calls, and suspects none.
  static func acquit(_ running: inout [CallRecord]) -> Set<CallID> {
    for place in running.indices { running[place].progress.isAlone = false }
    return []
  }

  /// Lets these calls begin one after the other: first those with strikes, then those that had begun last, because what ends a
  /// process mostly does so soon.
  private mutating func open(_ suspects: [CallRecord], at now: Timestamp) {
    guard !suspects.isEmpty else { return }
    let unexplained = suspects.map { $0.progress.cutOffAttempts - $0.progress.kills - $0.progress.crashes }
    let factor = 1 << max(0, min(unexplained.max() ?? 0, Self.mostDoublings))
    if end <= now {
      line = []
      patience = Self.longest * factor
      end = now + patience
    }
    func isLater(_ one: CallRecord, _ other: CallRecord) -> Bool {
      let (first, second) = (one.progress, other.progress)
      return (first.kills + first.crashes, first.due, one.id) < (second.kills + second.crashes, second.due, other.id)
    }
    line += suspects.sorted(by: isLater).map(\.id)
    share = min(Self.longestAlone * factor, .microseconds((end - now).wholeMicroseconds / Int64(line.count)))
    turnEnds = now + share
    for call in suspects { hurry(for: call, at: now) }
  }

  /// A call waits for suspects no longer than half of the time in which it can still begin.
  mutating func hurry(for call: borrowing CallRecord, at now: Timestamp) {
    guard end > now, call.lastStart < end + Self.longest else { return }
    end = min(end, now + .microseconds(max(.zero, call.lastStart - now).wholeMicroseconds / 2))
  }

  // MARK: Turns

  /// Whether other calls wait.
  func holdOthers(at now: Timestamp) -> Bool { now < end && (!line.isEmpty || last != nil && now < turnEnds) }

  /// The suspect that begins now, if it can; nil if none does.
  mutating func next(inFlight: Int, at now: Timestamp) -> CallID? {
    guard now < end, inFlight == 0 || now >= turnEnds else { return nil }
    return line.popLast()
  }

  /// A suspect begins.
  mutating func begin(_ id: CallID, inFlight: Int, at now: Timestamp) {
    turnEnds = now + share
    last = id
    if inFlight == 0 { alone = id }
  }

  /// When to look for the next one, or at all others.
  func wake(inFlight: Int, at now: Timestamp) -> Timestamp? {
    holdOthers(at: now) ? inFlight == 0 ? end : min(turnEnds, end) : nil
  }

  /// An attempt begins, or a stop. Returns the call that is not alone any more.
  mutating func joined(by id: CallID?) -> CallID? {
    guard let alone, alone != id else { return nil }
    self.alone = nil
    return alone
  }

  /// An attempt has ended.
  mutating func ended(_ id: CallID) {
    if last == id { last = nil }
    if alone == id { alone = nil }
  }
}
