import RedialCore
import RedialModel
import RedialText

/// Asks the service for all that an overview shows.
struct OverviewReader {
  /// How many targets with something to say are read, and twice how many of all.
  private static let maximumTargets = 1000
  private static let pageLength = 250
  private static let maximumIssues = 100
  /// The time of the failures that make a target degraded.
  private static let recent = Duration.seconds(300)
  /// For how many degraded targets more is asked, and how long such an answer is shown before it is asked for again.
  private static let maximumDetails = 5
  private static let detailsAge = Duration.seconds(15)

  private let client: APIClient
  /// The longest wait for one answer.
  private let limit: Duration
  private var known: [String: (details: Overview.Details, at: ContinuousClock.Instant)] = [:]
  private var leftOut: [Overview.LeftOut] = []

  init(_ client: APIClient, within limit: Duration) {
    (self.client, self.limit) = (client, limit)
  }

  /// One overview.
  ///
  /// What the API key may not see, or the service cannot say now, is left out.
  ///
  /// - Throws: If the service cannot be reached, does not know the API key, or its quota is used up.
  mutating func read() throws(CommandError) -> Overview {
    leftOut = []
    let ready = try client.exchange("GET", "/readyz", within: limit)
    var overview = Overview(at: ready.date ?? WallClock.now)
    overview.readiness = try readiness(ready)
    overview.ended = try part("/v1/statistics", "how calls ended").flatMap { Overview.Ended($0) }
    try readTargets(into: &overview)
    if overview.targets?.isEmpty == true, overview.ended.map({ $0.judged == 0 }) == true {
      overview.hasCalls = try part("/v1/calls?limit=1", "whether there are calls").map { !$0["data"].elements.isEmpty }
    }
    try readDetails(into: &overview)
    let failed = try part(
      "/v1/issues?state=open,acknowledged&limit=\(Self.maximumIssues)", "which calls failed, and why")
    overview.failures = failed.map { Overview.Failures($0) }
    if let failed { overview.read(issues: failed) }
    if let instances = try part("/v1/instances", "the instances") { overview.service.read(instances: instances) }
    if let metrics = try answer("/metrics", "the store and since when it runs") {
      overview.service.read(metrics: String(decoding: metrics.body, as: UTF8.self))
    }
    overview.leftOut = Self.joined(leftOut)
    return overview
  }

  private mutating func readiness(_ answer: APIClient.Answer) throws(CommandError) -> Overview.Readiness? {
    switch answer.status {
    case 200 where answer.body == Array("ready\n".utf8): return .ready
    case 503: return .notReady(answer.json["detail"].escapedText)
    case 403:
      leftOut.append(Overview.LeftOut(what: "whether calls are accepted", why: Self.detail(answer)))
      return nil
    default:
      try answer.requireSuccess(from: client.base)
      throw CommandError(
        code: .unreachable,
        message: "\(client.base) does not answer like Redial\nIs the URL right? Another program may have answered.")
    }
  }

  /// Reads all targets; if there are too many, those with something to say.
  private mutating func readTargets(into overview: inout Overview) throws(CommandError) {
    let now = overview.at
    guard let all = try targets("", atMost: Self.maximumTargets / 2, at: now) else { return }
    overview.targets = all.targets
    overview.hasMoreTargets = !all.isComplete
    guard !all.isComplete, let active = try targets("&active=true", atMost: Self.maximumTargets, at: now) else {
      return
    }
    let known = Set(active.targets.map(\.key))
    overview.targets = active.targets + all.targets.filter { !known.contains($0.key) }
  }

  private mutating func targets(
    _ condition: String, atMost limit: Int, at now: Timestamp
  ) throws(CommandError) -> (targets: [TargetStanding], isComplete: Bool)? {
    var targets: [TargetStanding] = []
    var cursor = ""
    while targets.count < limit {
      let path = "/v1/targets?limit=\(Self.pageLength)" + condition + cursor
      guard let page = try part(path, "targets, and what waits for them") else { return nil }
      targets += page["data"].elements.compactMap { TargetStanding($0, at: now) }
      guard let next = page["nextCursor"].text else { return (targets, true) }
      cursor = "&cursor=" + PercentCoding.encode(next)
    }
    return (targets, false)
  }

  // MARK: What is known about degraded targets

  private mutating func readDetails(into overview: inout Overview) throws(CommandError) {
    let degraded = overview.troubled.filter { $0.condition == .degraded && $0.outage == nil && $0.recentFailures > 0 }
    let before = known
    known = [:]
    for target in degraded.prefix(Self.maximumDetails) {
      if let one = before[target.key], ContinuousClock.now - one.at < Self.detailsAge {
        known[target.key] = one
      } else {
        known[target.key] = (try details(of: target, at: overview.at), ContinuousClock.now)
      }
      overview.details[target.key] = known[target.key]?.details
    }
  }

  private mutating func details(
    of target: TargetStanding, at now: Timestamp
  ) throws(CommandError) -> Overview.Details {
    Overview.Details(lastFailure: try lastFailure(of: PercentCoding.encode(target.key), at: now))
  }

  /// How the newest of a target's calls that are or were tried again failed, in the last minutes; nil if there is none.
  private mutating func lastFailure(of key: String, at now: Timestamp) throws(CommandError) -> String? {
    let what = "how degraded targets fail"
    for which in ["state=scheduled&attempts=1", "attempts=2"] {
      let calls = try part("/v1/calls?target=\(key)&\(which)&limit=1", what)
      guard let call = calls?["data"].elements.first, let id = call["id"].text else { continue }
      // The newest, and the one before if a new one runs.
      let earlier = max(0, (call["attemptCount"].integer ?? 0) - 2)
      let attempts = try part("/v1/calls/\(id)/attempts?cursor=\(earlier)", what)?["data"].elements ?? []
      guard let last = attempts.last(where: { $0["decision"]["action"].text != "succeed" }),
        let start = last["startedAt"].text.flatMap({ TimestampText.parse($0) }), now - start < Self.recent
      else { continue }
      return last["status"].integer.map { "status \($0)" } ?? last["error"]["code"].text ?? last["outcome"].text
    }
    return nil
  }

  // MARK: Parts

  private mutating func part(
    _ path: String, _ what: String
  ) throws(CommandError) -> JSONValue? {
    try answer(path, what)?.json
  }

  /// An answer; nil if the service refuses it, or cannot give it now.
  private mutating func answer(
    _ path: String, _ what: String
  ) throws(CommandError) -> APIClient.Answer? {
    let answer = try client.exchange("GET", path, within: limit)
    if [403, 404, 503].contains(answer.status) {
      leftOut.append(Overview.LeftOut(what: what, why: Self.detail(answer)))
      return nil
    }
    if !path.hasPrefix("/metrics") || answer.status != 200 { try answer.requireSuccess(from: client.base) }
    return answer
  }

  private static func detail(_ answer: APIClient.Answer) -> String {
    answer.json["detail"].escapedText ?? "The service answered with status \(answer.status)."
  }

  /// What is left out for one reason, together.
  private static func joined(_ all: [Overview.LeftOut]) -> [Overview.LeftOut] {
    var joined: [Overview.LeftOut] = []
    for one in all where !joined.contains(one) {
      if let index = joined.firstIndex(where: { $0.why == one.why }) {
        if !joined[index].what.contains(one.what) { joined[index].what += "; " + one.what }
      } else {
        joined.append(one)
      }
    }
    return joined
  }
}
