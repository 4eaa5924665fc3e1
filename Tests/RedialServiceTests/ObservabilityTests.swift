import RedialCore
@testable import RedialEngine
import RedialModel
import Testing

@testable import RedialService

@Suite("What operators see")
struct ObservabilityTests {
  @Test("a log line has nothing that a terminal acts on, and JSON means the same", arguments: LogFormat.allCases)
  func logLine(format: LogFormat) throws {
    let hostile = "a\u{9B}2J\u{202E}b\u{2028}\u{200B}\u{1B}\u{7F}\nc"
    let line = Log(format: format, level: .info).line(
      .info, "started", [("target", hostile), ("url", "http://x/\u{9B}"), ("plain", "é")],
      at: Timestamp(microseconds: 1_614_265_330_999_999))
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.hasSuffix("\n") && !PlainText.needsEscapes(String(text.dropLast())))
    #expect(text.contains(#""a\u009b2J\u202eb\u2028\u200b\u001b\u007f\nc""#))
    #expect(text.contains(format == .json ? #""plain":"é""# : "plain=é"))
    #expect(text.contains(format == .json ? #""url":"http://x/\u009b""# : #"url="http://x/\u009b""#))
  }

  @Test("a histogram's buckets add up, and end in its count")
  func histogram() {
    var histogram = Histogram()
    for seconds in [0.0001, 0.0005, 0.3, 0.3, 59, 61] { histogram.record(seconds) }
    let lines = String(decoding: MetricFormat.text.encode([MetricFamily("x", "", histogram.figures)]), as: UTF8.self)
      .split(separator: "\n").dropFirst(2).map(String.init)
    #expect(lines.first == #"x_bucket{le="0.0005"} 2"#)
    #expect(lines.contains(#"x_bucket{le="0.25"} 2"#))
    #expect(lines.contains(#"x_bucket{le="0.5"} 4"#))
    #expect(lines.contains(#"x_bucket{le="60.0"} 5"#))
    #expect(lines.contains(#"x_bucket{le="+Inf"} 6"#))
    #expect(lines.last == "x_count 6")
  }

  @Test("the exposition has one HELP and one TYPE before each family, and only numbers as values")
  func exposition() {
    let metrics = Metrics()
    metrics.count { counts in
      counts.accepted = 3
      counts.attempts[Int(OutcomeClass.maybeSent.rawValue)] = 2
    }
    let now = Timestamp(microseconds: 0)
    metrics.committed([
      .update(
        CallID(rawValue: 1),
        CallProgress(state: .failed, due: now, roundStartedAt: now, failure: .attemptsExhausted), nil),
      .update(CallID(rawValue: 2), CallProgress(state: .running, due: now, roundStartedAt: now), nil),
    ])
    let families = metrics.families(
      EngineReport(targets: [], inFlight: 1, unfinished: 2, held: 2, storeFailing: false), version: "0.1.0",
      store: "sqlite")
    let text = String(decoding: MetricFormat.text.encode(families), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(lines.last == "")
    #expect(lines.contains(#"redial_build_info{version="0.1.0",store="sqlite"} 1"#))
    #expect(lines.contains("redial_calls_accepted_total 3"))
    #expect(lines.contains(#"redial_attempts_total{outcome="maybeSent"} 2"#))
    #expect(lines.contains(#"redial_calls_finished_total{state="failed",reason="attemptsExhausted"} 1"#))
    var names: Set<String> = []
    for line in lines.dropLast() where line.hasPrefix("# TYPE ") {
      let name = String(line.split(separator: " ")[2])
      #expect(names.insert(name).inserted, "\(name) is declared twice")
    }
    for line in lines.dropLast() where !line.hasPrefix("#") {
      #expect(Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
      let name = String(line.prefix { $0 != " " && $0 != "{" })
      let family = ["_bucket", "_sum", "_count"].reduce(name) { $0.hasSuffix($1) ? String($0.dropLast($1.count)) : $0 }
      #expect(names.contains(name) || names.contains(family), "\(name) has no TYPE")
    }
  }

  @Test("a waiting call shows its wait reason: its own time, its target's breaker, or its turn")
  func waiting() {
    let standings = TargetStandings()
    let now = Timestamp(microseconds: 1_000_000)
    func call(_ reason: WaitReason?, due: Timestamp) -> CallRecord {
      CallRecord(
        id: CallID(rawValue: 1), kind: .call,
        spec: CallSpec(
          url: "http://a", method: "GET", headers: [], target: "a", policy: .service, captureLimit: 0), body: [],
        createdAt: now,
        progress: CallProgress(state: .scheduled, due: due, waiting: reason, roundStartedAt: now))
    }
    let later = now + .seconds(5)
    #expect(standings.wait(of: call(.backoff, due: later), at: now)?.reason == .backoff)
    #expect(standings.wait(of: call(.backoff, due: now), at: now)?.reason == .concurrency)
    standings.record(.breakerOpened(target: "a", until: later, trips: 1, failures: 10, usualShare: 0), at: now)
    let parked = standings.wait(of: call(.backoff, due: now), at: now)
    #expect(parked?.reason == .breaker && parked?.until == later)
    #expect(standings.wait(of: call(.backoff, due: later + .seconds(1)), at: now)?.reason == .backoff)
    standings.record(.breakerHalfOpen(target: "a"), at: now)
    #expect(standings.wait(of: call(.backoff, due: now), at: now)?.reason == .breaker)
    standings.record(.breakerClosed(target: "a"), at: now)
    #expect(standings.wait(of: call(.backoff, due: now), at: now)?.reason == .concurrency)
  }
}
