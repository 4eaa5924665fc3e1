import RedialCore
import RedialText
import Testing

@testable import redial

@Suite("an overview from the answers of the service")
struct OverviewReadingTests {
  private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

  private static func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  @Test("a target's condition is what an operator did, else its state")
  func conditions() throws {
    for (members, expected) in [
      (#""state": "down""#, TargetStanding.Condition.down), (#""state": "down", "tripped": true"#, .heldOpen),
      (#""state": "down", "paused": true"#, .paused), (#""state": "degraded""#, .degraded), (#""state": "up""#, .up),
    ] {
      let target = TargetStanding(try Self.json(#"{"key": "k", \#(members)}"#), at: Self.now)
      #expect(target?.condition == expected, "\(members)")
    }
    #expect(TargetStanding(try Self.json("{}"), at: Self.now) == nil)
  }

  @Test("a target that is up is late when a limit has held back its oldest due call for a minute")
  func late() throws {
    for (state, reason, seconds, expected) in [
      ("up", "concurrency", 60, TargetStanding.Condition.late), ("up", "concurrency", 59, .up),
      ("up", "rateLimit", 600, .late), ("up", "backoff", 600, .up), ("degraded", "rateLimit", 600, .degraded),
    ] {
      let due = Self.now + .seconds(-seconds)
      let target = TargetStanding(
        try Self.json(
          """
          {"key": "k", "state": "\(state)", "oldestDueAt": "\(TimestampText.format(due))",
           "settings": {"maxInFlight": 1, "rate": {"perSecond": 2.5, "burst": 10}},
           "backlog": {"total": 7, "isComplete": true, "byReason": {"\(reason)": 5, "startTime": 2}}}
          """), at: Self.now)
      #expect(target?.condition == expected, "\(state), \(reason), \(seconds)")
      #expect(target?.late == (seconds >= 60 && expected != .up ? 5 : 0), "\(state), \(reason), \(seconds)")
      #expect(target?.maxInFlight == 1 && target?.ratePerSecond == 2.5)
    }
  }

  @Test("of the open issues those of failed calls are read")
  func failures() throws {
    let failures = Overview.Failures(
      try Self.json(
        """
        {"isComplete": true, "data": [
         {"id": "issue_1", "kind": "failed", "target": "billing", "calls": 7, "reason": "notRetryable",
          "error": "401 no", "lastAt": "2026-12-01T09:00:00.000Z"},
         {"id": "issue_2", "kind": "late", "target": "mail", "calls": 90, "reason": "breaker", "error": ""}]}
        """))
    #expect(failures.calls == 7 && failures.isComplete && failures.open.map(\.error) == ["401 no"])
  }

  @Test("a target's outage, backlog and results are read")
  func target() throws {
    let target = TargetStanding(
      try Self.json(
        """
        {"key": "k", "state": "down", "inFlight": 1, "oldestDueAt": "2026-12-01T09:00:05.000Z",
         "outage": {"since": "2026-12-01T09:00:00.000Z", "cause": "status 503", "closedAt": null, "callsWaited": 9},
         "pastOutages": [{"since": "2026-11-30T09:00:00.000Z", "cause": "silence", "closedAt": "2026-11-30T09:04:00.000Z",
          "duration": "4m", "callsWaited": 2},
          {"since": "2026-11-29T09:00:00.000Z", "cause": "silence", "closedAt": null, "duration": null, "callsWaited": 2}],
         "breaker": {"state": "open", "openUntil": "2026-12-01T09:01:00.000Z"}, "heldUntil": null, "pace": {"mode": "fixed"},
         "backlog": {"total": 11, "isComplete": true, "byReason": {"breaker": 8, "startTime": 3}},
         "recent": {"5m": {"succeeded": 2, "failed": 31, "latency": null}}}
        """), at: Self.now)
    #expect(target?.waiting == 8 && target?.total == 11 && target?.isComplete == true)
    #expect(target?.outage?.cause == "status 503" && target?.outage?.closedAt == nil && target?.isInOutage == true)
    #expect(target?.nextProbeAt == target?.outage.map { $0.since + .seconds(60) })
    #expect(target?.oldestDueAt == target?.outage.map { $0.since + .seconds(5) })
    #expect(target?.pastOutages.count == 1)
    #expect(target?.pastOutages.first.flatMap { outage in outage.closedAt.map { $0 - outage.since } } == .seconds(240))
    #expect(target?.recentFailures == 31 && target?.recentAttempts == 33 && target?.pace == nil)
  }

  @Test("of the statistics the last 15 minutes are read")
  func ended() throws {
    let ended = Overview.Ended(
      try Self.json(
        """
        {"data": [{"window": "24h", "calls": {"succeeded": 9}}, {"window": "15m",
         "calls": {"succeeded": 3, "retried": 1, "failed": 1, "cancelled": 2, "successRate": 0.75,
          "timeToSuccess": {"p50": "10ms", "p95": "1s", "p99": "2s"}},
         "attempts": {"succeeded": 3, "failed": 4}}]}
        """))
    #expect(
      ended
        == Overview.Ended(
          succeeded: 3, retried: 1, failed: 1, cancelled: 2, attempts: 7, failedAttempts: 4,
          timeToSuccess: Overview.Ended.TimeToSuccess(p50: .milliseconds(10), p99: .seconds(2))))
    #expect(Overview.Ended(try Self.json(#"{"data": []}"#)) == nil)
  }

  @Test("the version, the store and the start are read from the metrics, the instances from their list")
  func service() throws {
    var service = Overview.Service()
    service.read(
      instances: try Self.json(
        """
        {"data": [{"number": 0, "version": "0.1.0", "self": false}, {"number": 1, "version": "0.2.0", "self": true}]}
        """))
    #expect(service.version == "0.2.0" && service.instances == 2 && service.versions == ["0.1.0", "0.2.0"])
    #expect(service.lostCommits == nil)
    service.read(
      instances: try Self.json(
        #"{"data": [], "lostCommits": {"at": "2027-01-15T08:00:00.000Z", "made": 1436, "found": 1205}}"#))
    #expect(
      service.lostCommits
        == Overview.LostCommits(at: Timestamp(microseconds: 1_800_000_000_000_000), made: 1436, found: 1205))
    service.read(instances: try Self.json(#"{"data": []}"#))
    #expect(service.lostCommits == nil, "it is over")
    service.read(
      metrics: """
        # HELP redial_build_info x
        redial_build_info{version="0.2.1",store="sqlite"} 1
        process_start_time_seconds 1800000000.25
        """)
    #expect(service.version == "0.2.1" && service.store == "sqlite")
    #expect(service.startedAt == Timestamp(microseconds: 1_800_000_000_250_000))
    service.read(metrics: "process_start_time_seconds NaN\n")
    #expect(service.startedAt == Timestamp(microseconds: 1_800_000_000_250_000))
  }

  @Test("JSON has null for what is not known")
  func written() throws {
    let time = Timestamp(microseconds: 1_800_000_000_000_000)
    var overview = Overview(at: time)
    let empty = try JSONValue(parsing: overview.json)
    for name in ["ready", "reason", "targets", "failed", "last15m", "waiting"] {
      guard case .null = empty[name] else { Issue.record("\(name) is \(empty[name])"); continue }
    }
    var target = TargetStanding(key: "k")
    (target.condition, target.waits, target.isLate) = (.down, ["breaker": 4, "startTime": 1], true)
    overview.targets = [target]
    overview.ended = Overview.Ended(cancelled: 1)
    overview.readiness = .notReady("why")
    let full = try JSONValue(parsing: overview.json)
    #expect(full["reason"].text == "why" && !full["ready"].isTrue)
    #expect(full["targets"].elements.first?["waiting"].integer == 4)
    #expect(full["waiting"]["total"].integer == 5 && full["waiting"]["late"].integer == 4)
    #expect(full["waiting"]["byReason"]["breaker"].integer == 4)
    guard case .null = full["last15m"]["successRate"] else { Issue.record("no call has ended"); return }
  }
}
