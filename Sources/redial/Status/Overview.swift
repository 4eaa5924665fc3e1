import RedialCore

/// How the service and its targets do, at one time: what `redial status` shows.
///
/// A part that could not be read is nil, and ``leftOut`` says why: it is not shown as zero.
struct Overview: Sendable, Equatable {
  /// Whether calls are accepted.
  enum Readiness: Sendable, Equatable {
    case ready
    /// With the reason, if the service says one.
    case notReady(String?)
  }

  /// How calls ended in the last 15 minutes.
  struct Ended: Sendable, Equatable {
    var succeeded = 0
    /// Those of `succeeded` that needed more than one attempt.
    var retried = 0
    var failed = 0
    var cancelled = 0
    var attempts = 0
    /// Attempts after which the call did not succeed.
    var failedAttempts = 0

    /// The time from when a call was due until it succeeded, that half and 99 % of those that succeeded did not exceed; nil
    /// without one.
    var timeToSuccess: TimeToSuccess?

    struct TimeToSuccess: Sendable, Equatable {
      var p50: Duration
      var p99: Duration
    }

    /// The calls that say how targets do.
    var judged: Int { succeeded + failed }
  }

  /// What is known about a target that is down or degraded, beside its standing.
  struct Details: Sendable, Equatable {
    /// How the newest of its calls that are tried again failed, such as "status 503".
    var lastFailure: String?
  }

  /// The calls that failed and were not run again, in groups that failed alike.
  struct Failures: Sendable, Equatable {
    struct Issue: Sendable, Equatable {
      var id: String
      var target: String
      var calls: Int
      var error: String
      var lastAt: Timestamp?
    }

    /// Those that nobody has acknowledged, most calls first.
    var open: [Issue] = []
    var isComplete = true

    var calls: Int { open.reduce(0) { $0 + $1.calls } }
    var lastAt: Timestamp? { open.compactMap(\.lastAt).max() }
  }

  /// The instance that answered, and those that share its store.
  struct Service: Sendable, Equatable {
    var version: String?
    var store: String?
    var startedAt: Timestamp?
    var instances: Int?
    /// The versions of the instances, if there are several.
    var versions: [String] = []
    var lostCommits: LostCommits?
  }

  /// Commits that a failover of the database has lost.
  struct LostCommits: Sendable, Equatable {
    var at: Timestamp
    var made: Int
    var found: Int

    /// How many, for people.
    var amount: String { "\((made - found).grouped) \(made - found == 1 ? "commit" : "commits")" }
  }

  /// Something that is not shown, and why.
  struct LeftOut: Sendable, Equatable {
    var what: String
    var why: String
  }

  /// The service's time.
  var at: Timestamp
  var readiness: Readiness?
  var ended: Ended?
  /// The targets with something to say: those with calls, and those that are not as usual.
  var targets: [TargetStanding]?
  /// Whether there are more targets than were read.
  var hasMoreTargets = false
  /// What of targets fails while the rest works, by their keys.
  var failing: [String: [String]] = [:]
  /// Whether any call is stored.
  var hasCalls: Bool?
  var details: [String: Details] = [:]
  var failures: Failures?
  var service = Service()
  var leftOut: [LeftOut] = []

  init(at time: Timestamp) { at = time }

  /// The targets that are not as they should be, worst first.
  var troubled: [TargetStanding] {
    (targets ?? []).filter { $0.condition != .up || failing[$0.key] != nil }.sorted { $0.isWorse(than: $1) }
  }

  /// An outage that is over, of a target, until a time.
  typealias PastOutage = (target: TargetStanding, lasted: Duration, until: Timestamp)

  /// How long an outage that is over is shown.
  static let pastOutageTime = Duration.seconds(86_400)

  /// The outages of the last day that are over, the latest first.
  var pastOutages: [PastOutage] {
    (targets ?? []).flatMap { target in
      target.pastOutages.compactMap { outage -> PastOutage? in
        guard let end = outage.closedAt, at - end < Self.pastOutageTime else { return nil }
        return (target, max(.zero, end - outage.since), end)
      }
    }.sorted { $0.until > $1.until }
  }

  /// Whether nothing was ever called, as far as the store knows.
  var isFresh: Bool {
    hasCalls == false && service.lostCommits == nil && targets?.isEmpty == true
      && (ended?.judged ?? 0) + (ended?.cancelled ?? 0) == 0
  }

  /// Whether a target is down, or calls are not accepted.
  var isBad: Bool {
    if case .notReady = readiness { return true }
    return (targets ?? []).contains { $0.condition == .down }
  }

  /// The due calls that are late, of all targets.
  var late: Int { (targets ?? []).reduce(0) { $0 + $1.late } }

  /// The calls that wait, held up by a target that is not as it should be. They are in no share.
  var heldUp: Int { troubled.reduce(0) { $0 + $1.heldUp } }

  /// The calls that wait, by the word for what they wait for.
  var waits: [String: Int] {
    (targets ?? []).reduce(into: [:]) { all, target in
      for (reason, count) in target.waits { all[reason, default: 0] += count }
    }
  }

  /// Whether all waiting calls are counted.
  var isComplete: Bool { !hasMoreTargets && (targets ?? []).allSatisfy(\.isComplete) }
}
