internal import RedialCore

/// The pause that a target asks for: by `Retry-After`, or by `RateLimit` fields that show an exhausted quota.
///
/// The target's word is about its quota for a client, a user or a resource, and does not say for which of the next
/// requests it counts (draft-ietf-httpapi-ratelimit-headers-10, section 6.1, leaves the partition of quotas to servers).
/// And with many attempts in flight, answers come in any order. So the pause holds all calls to the target, but no longer
/// than the target's conduct agrees with it:
///
/// - It ends when an attempt succeeds that began after the one whose answer asked for it, and does not begin if one has.
/// - Calls of a source (``CallSource``) that the target has taken lately go on, and one of another source than the refused
///   one is tried. If it is taken, the pause ends, as above: then it was about the refused one alone. So one caller's quota
///   holds the others for a request's time at most.
/// - Fields with an answer that is no refusal pause the target only if it has refused a request after such an answer, and
///   has taken none. What they show may be about another quota, or a limit that is not enforced (section 7: "the server
///   might apply other criteria"). A pause leaves no request by which that could be tested, so it is tested again after
///   ``mostTrust`` pauses.
struct TargetPause: Sendable {
  /// The end of the pause; nil or past if there is none.
  private(set) var until: Timestamp?
  /// When the latest attempt began whose answer asked for the pause.
  private var askedFrom = Timestamp.epoch
  /// When the latest attempt began that the target has taken without a word about an exhausted quota.
  private var takenFrom = Timestamp.epoch
  /// Whose call got that answer; nil if nobody knows.
  private var asker: CallSource?
  /// Whether a call of an unknown source has been tried during the pause.
  private var hasTried = false
  /// Whose calls the target has taken, the last of them last, since it first asked for a pause.
  private var welcome: [CallSource] = []
  /// Until when that is remembered: no target without a quota pays for it.
  private var watchedUntil = Timestamp.epoch
  /// The time for which the last answers of a kind that is no refusal showed an exhausted quota.
  private var exhausted: (from: Timestamp, until: Timestamp, isDisproved: Bool)?
  /// How many more pauses such answers may begin.
  private var trust = 0

  /// Pauses that are shorter are not saved.
  static let leastSaved = Duration.seconds(5)
  /// A saved pause that gets longer by less is not saved again.
  static let leastExtension = Duration.seconds(1)
  /// How many pauses are begun by fields whose truth has been seen, until it has to be seen again.
  static let mostTrust = 16
  /// For how long after a refusal it is remembered whose calls are taken.
  private static let watchTime = Duration.seconds(600)
  /// How many sources are remembered.
  static let mostWelcome = 32
  /// A refusal later than this shows nothing about fields that showed an exhausted quota.
  private static let longestTest = Duration.seconds(3600)
  /// How exact a reset is: fields count in seconds, and a request may be judged later than it began.
  private static let grain = Duration.seconds(1)

  /// A response has refused a request.
  ///
  /// - Parameters:
  ///   - end: Until when it asks for a pause; nil if it does not, or none may be made.
  ///   - start: When the attempt began.
  ///   - source: Whose attempt it was.
  /// - Returns: Whether the pause has changed.
  mutating func refused(until end: Timestamp?, from start: Timestamp, of source: CallSource, at now: Timestamp) -> Bool
  {
    if let exhausted, now < exhausted.until, !exhausted.isDisproved { trust = Self.mostTrust }
    welcome.removeAll { $0 == source }
    return end.map { pause(until: $0, from: start, of: source, at: now) } ?? false
  }

  /// A response that is no refusal shows an exhausted quota.
  ///
  /// - Parameters:
  ///   - reset: When the quota is renewed.
  ///   - longest: Until when the target may be paused for that.
  ///   - isSuccess: Whether the request was taken all the same.
  ///   - start: When the attempt began.
  ///   - source: Whose attempt it was.
  /// - Returns: Whether the pause has changed.
  mutating func emptied(
    until reset: Timestamp, pausing longest: Timestamp, isSuccess: Bool, from start: Timestamp, of source: CallSource,
    at now: Timestamp
  ) -> Bool {
    if isSuccess { test(from: start, at: now) }
    let known = exhausted.flatMap { now < $0.until ? $0 : nil }
    let end = min(reset, now + Self.longestTest)
    exhausted = (known?.from ?? now, max(known?.until ?? end, end), known?.isDisproved ?? false)
    guard trust > 0 else { return false }
    let isNew = until == nil
    welcome.removeAll { $0 == source }
    guard pause(until: longest, from: start, of: source, at: now) else { return false }
    // Those of an unknown source would be beyond the quota, if it is theirs too.
    if isNew {
      hasTried = true
      trust -= 1
    }
    return true
  }

  /// A request was taken, and nothing is said about an exhausted quota.
  ///
  /// - Returns: Whether a pause has ended.
  mutating func taken(from start: Timestamp, of source: @autoclosure () -> CallSource, at now: Timestamp) -> Bool {
    test(from: start, at: now)
    takenFrom = max(takenFrom, start)
    // An earlier attempt of the refused source shows nothing about it now.
    if now < watchedUntil, start > askedFrom { addWelcome(source()) }
    guard until != nil, start > askedFrom else { return false }
    until = nil
    return true
  }

  /// Ends the pause if it is over.
  mutating func advance(to now: Timestamp) {
    if let end = until, end <= now { until = nil }
  }

  /// A request was taken: fields that showed an exhausted quota before it began were not true.
  private mutating func test(from start: Timestamp, at now: Timestamp) {
    guard let old = exhausted, start >= old.from, now + Self.grain < old.until else { return }
    exhausted?.isDisproved = true
    trust = 0
  }

  private mutating func pause(until end: Timestamp, from start: Timestamp, of source: CallSource, at now: Timestamp)
    -> Bool
  {
    watchedUntil = now + Self.watchTime
    guard start >= takenFrom else { return false }
    askedFrom = max(askedFrom, start)
    guard end > until ?? now else { return false }
    if until == nil { hasTried = false }
    asker = source
    until = end
    return true
  }

  private mutating func addWelcome(_ source: CallSource) {
    if welcome.last == source { return }
    welcome.removeAll { $0 == source }
    if welcome.count == Self.mostWelcome { welcome.removeFirst() }
    welcome.append(source)
  }

  // MARK: Other sources

  /// Whether some calls may start during the pause.
  var mayTry: Bool { until != nil && asker != nil && !(hasTried && welcome.isEmpty) }

  /// Whether a call of a source may start during the pause.
  func admits(_ source: CallSource) -> Bool {
    mayTry && source != asker && (!hasTried || welcome.contains(source))
  }

  /// A call of a source starts during the pause.
  mutating func began(_ source: CallSource) {
    if !welcome.contains(source) { hasTried = true }
  }

  // MARK: The store

  /// The end that the store should have, where it has another one or none.
  ///
  /// A short pause is over before another owner could ask. While many attempts get the same answer each makes the pause
  /// a little longer, and only some of them cost a write.
  func end(after saved: Timestamp?, at now: Timestamp) -> Timestamp? {
    guard let until else { return saved.flatMap { $0 > now ? nil : $0 } }
    if until - now < Self.leastSaved { return saved }
    if let saved, until - saved < Self.leastExtension { return saved }
    return until
  }

  /// Goes on with the pause that the last owner has saved.
  mutating func recover(until end: Timestamp, at now: Timestamp) {
    until = end
    askedFrom = now
    asker = nil
  }

  /// An operator ends it.
  mutating func release() {
    until = nil
  }
}
