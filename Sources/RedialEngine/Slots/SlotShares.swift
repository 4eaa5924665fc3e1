internal import RedialCore
internal import RedialModel

/// Who holds the slot of an attempt, by hash: there may be several, and each may be one of several attempts.
struct SlotHolders: Sendable {
  let first: UInt64
  var others: [UInt64] = []

  /// Calls `body` with each.
  func forEach(_ body: (UInt64) -> Void) {
    body(first)
    for other in others { body(other) }
  }
}

/// How many of some slots each holder has, so that one whose answers hang leaves some to the others: the callers of a
/// target, or the targets of an origin.
///
/// One that gets no answers while others get theirs may hold no more slots than are free: dynamic thresholds
/// (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998). So one such holder has half of the slots at
/// most, and *n* leave one part of *n* + 1 to the others. A holder that gets answers, however late, may have all, and
/// so may one that is alone: whether nobody gets an answer is a matter for the breaker.
///
/// Nothing is counted before a quarter of the slots is in use, unless there are fewer than these. Attempts cannot be taken
/// back, so what starts at once can take all slots but the last, one time for each timeout. That one is for a holder that has
/// none in flight, or gets answers.
struct SlotShares: Sendable {
  private struct Share: Sendable {
    private(set) var inFlight = 0
    /// How many of these started after the last answer, and when the first of them did.
    private var unanswered = 0
    private(set) var silentSince = Timestamp.distantFuture
    private var lastAnswer = Timestamp.epoch

    /// Whether most of its attempts in flight started after its last answer. If others of a mixed holder hang, such as
    /// those of one credential on a path of many, the answers to the rest are among them.
    var isSilent: Bool { unanswered * 2 > inFlight }

    mutating func start(at now: Timestamp) {
      inFlight += 1
      unanswered += 1
      silentSince = min(now, silentSince)
    }

    mutating func answer(at now: Timestamp) {
      unanswered = 0
      silentSince = .distantFuture
      lastAnswer = now
    }

    mutating func end(startedAt: Timestamp) {
      precondition(inFlight > 0, "A slot is given back that was not taken.")
      inFlight -= 1
      if startedAt > lastAnswer { unanswered = max(0, unanswered - 1) }
    }
  }

  /// Of how many slots the last is kept. Of fewer it would be too large a part.
  static let leastForLast = 32

  /// Those with a counted attempt in flight.
  private var shares: [UInt64: Share] = [:]
  private(set) var lastAnswer = Timestamp.epoch

  /// An attempt starts. Returns its holders if it is counted; then ``end(_:startedAt:)`` must follow.
  ///
  /// - Parameters:
  ///   - inFlight: The attempts in flight, without it.
  ///   - most: The maximum of these.
  ///   - isScarce: Whether it is counted in any case.
  mutating func start(
    _ holders: @autoclosure () -> SlotHolders, beside inFlight: Int, of most: Int, isScarce: Bool = false,
    at now: Timestamp
  ) -> SlotHolders? {
    guard isScarce || inFlight * 4 >= most else { return nil }
    let holders = holders()
    holders.forEach { shares[$0, default: Share()].start(at: now) }
    return holders
  }

  /// A counted attempt has ended.
  mutating func end(_ holders: SlotHolders, startedAt: Timestamp) {
    holders.forEach { key in
      guard let index = shares.index(forKey: key) else { return }
      shares.values[index].end(startedAt: startedAt)
      if shares.values[index].inFlight == 0 { shares.remove(at: index) }
    }
  }

  /// An attempt, counted or not, has got its answer. It has not ended yet.
  mutating func recordAnswer(to holders: @autoclosure () -> SlotHolders, at now: Timestamp) {
    lastAnswer = now
    guard !shares.isEmpty else { return }
    holders().forEach { shares[$0]?.answer(at: now) }
  }

  /// How many of an attempt's holders have attempts in flight, most without an answer; nil if that is all of them, or if others
  /// have got answers since one has not.
  func silent(among holders: SlotHolders) -> Int? {
    var (all, silent, hangs) = (0, 0, false)
    holders.forEach { key in
      all += 1
      guard let share = shares[key], share.isSilent else { return }
      silent += 1
      hangs = hangs || share.silentSince < lastAnswer
    }
    return hangs || silent == all ? nil : silent
  }

  /// Those of whom some may have no more slots; nil if all may.
  func crowded(beside inFlight: Int, of most: Int) -> Crowded? {
    guard !shares.isEmpty, inFlight >= most - inFlight else { return nil }
    return Crowded(shares: self, free: most - inFlight, isLast: inFlight == most - 1 && most >= Self.leastForLast)
  }

  /// The shares while at least half of the slots are in use.
  struct Crowded {
    fileprivate let shares: SlotShares
    fileprivate let free: Int
    fileprivate let isLast: Bool

    /// The holder for which an attempt has to wait; nil if it may have a slot.
    func excess(of holders: SlotHolders) -> UInt64? {
      var (all, silent, excess) = (0, 0, UInt64?.none)
      holders.forEach { key in
        all += 1
        guard let share = shares.shares[key], share.inFlight >= free, share.isSilent else { return }
        silent += 1
        if share.silentSince < shares.lastAnswer { excess = key }
      }
      return excess ?? (isLast && silent == all ? holders.first : nil)
    }
  }
}
