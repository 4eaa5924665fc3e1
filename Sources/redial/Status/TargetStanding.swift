import RedialCore
import RedialText

/// How a target does, as the service shows it: what of it the overview needs.
struct TargetStanding: Sendable, Equatable {
  /// What is wrong with it, worst first.
  enum Condition: String, Sendable, CaseIterable {
    case down
    /// An operator holds its breaker open.
    case heldOpen
    case paused
    /// It works, and a limit has held back its calls for a minute or more.
    case late
    case degraded
    case up
  }

  struct Outage: Sendable, Equatable {
    var since: Timestamp
    /// The word of the API, such as `connectionRefused` or `status 503`.
    var cause: String
    /// When the breaker closed; nil while it is not closed.
    var closedAt: Timestamp?
  }

  let key: String
  var condition = Condition.up
  var outage: Outage?
  /// Its outages that are over, the latest first, without those that lapsed.
  var pastOutages: [Outage] = []
  var inFlight = 0
  /// The calls that have not run yet, by the word for what they wait for.
  var waits: [String: Int] = [:]
  /// Whether all that wait are counted.
  var isComplete = true
  /// Since when the oldest call that is due has been due; nil if none is.
  var oldestDueAt: Timestamp?
  /// Whether that is for a minute or more: then its due calls are late, as issues and alerts say.
  var isLate = false
  var nextProbeAt: Timestamp?
  /// The end of the pause that the target asked for.
  var heldUntil: Timestamp?
  /// The attempts per second that its pace allows; nil without a limit.
  var pace: Double?
  /// The limits that are set for it.
  var maxInFlight: Int?
  var ratePerSecond: Double?
  var recentFailures = 0
  var recentAttempts = 0

  init(key: String) { self.key = key }

  /// From when on due calls are late.
  private static let lateAfter = Duration.seconds(60)
  /// What due calls wait for if a limit holds them back.
  private static let limits = ["concurrency", "rateLimit", "connections"]

  /// What calls wait for that is no matter of the target.
  private static let ownWaits: Set = ["startTime", "backoff", "retryAfter", "retryBudget", "ordering"]

  /// Reads an element of `GET /v1/targets`; nil if it has no key.
  ///
  /// - Parameter now: The service's time.
  init?(_ target: JSONValue, at now: Timestamp) {
    guard let key = target["key"].text else { return nil }
    self.init(key: key)
    condition = Self.condition(target)
    outage = Outage(target["outage"])
    pastOutages = target["pastOutages"].elements.compactMap { Outage($0) }.filter { $0.closedAt != nil }
    inFlight = target["inFlight"].integer ?? 0
    let backlog = target["backlog"]
    for (reason, count) in backlog["byReason"].members { waits[reason] = count.integer ?? 0 }
    isComplete = backlog["isComplete"].isTrue
    oldestDueAt = target["oldestDueAt"].text.flatMap { TimestampText.parse($0) }
    nextProbeAt = target["breaker"]["openUntil"].text.flatMap { TimestampText.parse($0) }
    heldUntil = target["heldUntil"].text.flatMap { TimestampText.parse($0) }
    pace = target["pace"]["rate"].number
    maxInFlight = target["settings"]["maxInFlight"].integer
    ratePerSecond = target["settings"]["rate"]["perSecond"].number
    let recent = target["recent"]["5m"]
    recentFailures = recent["failed"].integer ?? 0
    recentAttempts = recentFailures + (recent["succeeded"].integer ?? 0)
    judge(at: now)
  }

  /// Whether its due calls are late.
  mutating func judge(at now: Timestamp) {
    judge(isLate: oldestDueAt.map { now - $0 >= Self.lateAfter } ?? false)
  }

  /// Whether its due calls are late, as somebody else says.
  mutating func judge(isLate: Bool) {
    self.isLate = isLate
    if condition == .late { condition = .up }
    if condition == .up, isLate, limit != nil { condition = .late }
  }

  private static func condition(_ target: JSONValue) -> Condition {
    if target["tripped"].isTrue { return .heldOpen }
    if target["paused"].isTrue { return .paused }
    switch target["state"].text {
    case "down": return .down
    case "degraded": return .degraded
    default: return .up
    }
  }

  /// The calls that wait, without those whose own start has not come.
  var waiting: Int { waits.reduce(0) { $0 + ($1.key == "startTime" ? 0 : $1.value) } }
  /// All calls that have not run yet.
  var total: Int { waits.values.reduce(0, +) }
  /// The limit that holds back most of its due calls, by the word for what they wait for; nil if none does.
  var limit: String? {
    Self.limits.filter { waits[$0, default: 0] > 0 }.max { waits[$0, default: 0] < waits[$1, default: 0] }
  }
  /// Its due calls, if they are late.
  var late: Int { isLate ? waits.reduce(0) { $0 + (Self.ownWaits.contains($1.key) ? 0 : $1.value) } : 0 }
  /// The calls that wait behind an outage, because somebody holds it, or for a minute or more.
  var heldUp: Int {
    switch condition {
    case .up: 0
    case .degraded: isInOutage || isLate ? waiting : 0
    case .down, .heldOpen, .paused, .late: waiting
    }
  }
  /// Whether no call reaches it, or did not until just now.
  var isInOutage: Bool { condition == .down || outage != nil }

  /// Whether it comes before another in a list of what is wrong: by how bad it is, then by how many calls wait.
  func isWorse(than other: TargetStanding) -> Bool {
    func rank(_ one: TargetStanding) -> Int { Condition.allCases.firstIndex(of: one.condition) ?? 0 }
    let (a, b) = (rank(self), rank(other))
    if a != b { return a < b }
    return waiting != other.waiting ? waiting > other.waiting : key < other.key
  }
}

extension TargetStanding.Outage {
  /// Reads an outage; nil if there is none.
  fileprivate init?(_ outage: JSONValue) {
    guard let since = outage["since"].text.flatMap({ TimestampText.parse($0) }) else { return nil }
    self.init(
      since: since, cause: outage["cause"].text ?? "",
      closedAt: outage["closedAt"].text.flatMap { TimestampText.parse($0) })
  }
}
