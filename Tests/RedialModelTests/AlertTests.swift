import Foundation
import RedialCore
import RedialModel
import Testing

/// When alerts report issues, and that they are over.
struct AlertTests {
  /// Judges with a store in memory, minute by minute.
  private struct Bench {
    var judge = AlertJudge()
    var (groups, room, examined) = (true, Int.max, ShardSet.all)
    var alert: Alert
    var now = Timestamp(microseconds: 1_700_000_000_000_000)
    var notices: [String: AlertNotice] = [:]
    var marks: [String: IssueMark] = [:]
    var mute: Set<String> = []

    init(_ json: String = #"{"to": {"slack": "https://hooks.example.com/x"}}"#) throws {
      alert = try Self.read(json).applied(to: nil, name: "oncall", in: .default, at: now)
    }

    static func read(_ json: String, isNew: Bool = true) throws -> AlertDraft {
      try Array(json.utf8).withUnsafeBufferPointer { bytes throws(Problem) in
        try AlertDraft.read(bytes, isNew: isNew, in: .default, limits: CallDescriptor.Limits())
      }
    }

    /// Judges each minute; what is sent, with the minute.
    mutating func minutes(
      _ count: Int, _ findings: [AlertFinding], looked: [IssueKind] = IssueKind.allCases
    ) -> [String] {
      var sent: [String] = []
      for minute in 1...count {
        now = now + .seconds(60)
        var all = Dictionary(uniqueKeysWithValues: looked.map { ($0, [AlertFinding]()) })
        for finding in findings { all[finding.kind]?.append(finding) }
        let open = notices.values.filter { $0.endedAt == nil }
        for step in judge.judge(
          [alert], all, in: examined, groups: groups, open: open, room: room - open.count, marks: marks, mute: mute,
          at: now)
        {
          notices[step.notice.id] = step.notice
          if let message = step.message {
            // By the target alone, and without the hash of several.
            let parts = step.notice.subject.split(separator: "/").prefix(2)
            let target = parts.last?.split(separator: " ").last ?? ""
            sent.append("\(minute) \(message.rawValue) \(parts.count > 1 ? "several/" : "")\(target)")
          }
        }
      }
      return sent
    }

    mutating func silence(for seconds: Int) throws {
      let json = Array(#"{"silenced": true, "until": "\#(seconds)s"}"#.utf8)
      let request = try json.withUnsafeBufferPointer { [now] bytes throws(Problem) in
        try SilenceRequest.read(bytes, at: now)
      }
      alert.silence = Alert.Silence(request, at: now)
    }

    mutating func acknowledge(_ target: String, for hours: Int) {
      var mark = IssueMark()
      (mark.id, mark.until) = ("issue_\(target)", now + .seconds(hours * 3600))
      marks[mark.id] = mark
    }
  }

  private static func down(_ target: String = "payments", since: Timestamp? = nil) -> AlertFinding {
    AlertFinding(
      .down, "issue_\(target)", target: target, since: since, calls: 3, summary: "\(target) is down.", action: "look")
  }

  @Test("an issue is reported once at each end, and a pause in it is no end")
  func once() throws {
    var bench = try Bench()
    // From its second look on, as nobody knows since when it is true.
    #expect(bench.minutes(20, [Self.down()]) == ["6 opened payments"])
    #expect(bench.minutes(1, []) == [])
    #expect(bench.minutes(20, [Self.down()]) == [])
    #expect(bench.minutes(20, []) == ["2 ended payments"])
    #expect(bench.notices.count == 1)
    // Another one is reported, too.
    #expect(bench.minutes(20, [Self.down()]) == ["6 opened payments"])
    #expect(bench.notices.count == 2)
  }

  @Test("what was true before somebody looked counts from its beginning; what is over soon is not reported")
  func since() throws {
    var bench = try Bench()
    #expect(bench.minutes(3, [Self.down(since: bench.now + .seconds(-240))]) == ["1 opened payments"])
    #expect(bench.minutes(4, [Self.down("orders")], looked: [.held]) == [])
    #expect(bench.minutes(5, [Self.down(), Self.down("orders")]) == [])
    #expect(bench.minutes(5, [Self.down()]) == [])
    #expect(bench.notices.count == 1)
  }

  @Test("what is true of one thing after the other counts from the first; what is nearly over opens nothing")
  func steady() throws {
    var bench = try Bench()
    // Each minute another call is the oldest, and has waited for two minutes.
    var sent: [String] = []
    for _ in 1...10 {
      let late = AlertFinding(
        .late, "issue_a", target: "a", since: bench.now + .seconds(-60), calls: 1, summary: "late", action: "look")
      sent += bench.minutes(1, [late])
    }
    #expect(sent == ["1 opened a"])
    #expect(bench.minutes(10, []) == ["6 ended a"])
    var ending = Self.down("b", since: bench.now + .seconds(-3600))
    ending.isEnding = true
    #expect(bench.minutes(3, [ending]) == [])
    ending.isEnding = false
    #expect(bench.minutes(1, [ending]) == ["1 opened b"])
    ending.isEnding = true
    #expect(bench.minutes(3, [ending]) == [])
    // Nor is one reported when a silence ends just then.
    #expect(bench.minutes(9, []) == ["2 ended b"])
    try bench.silence(for: 600)
    #expect(bench.minutes(9, [Self.down("c", since: bench.now + .seconds(-3600))]) == [])
    var over = Self.down("c", since: bench.now + .seconds(-3600))
    over.isEnding = true
    #expect(bench.minutes(3, [over]) == [])
  }

  @Test("what begins for several at once is one message, until it is over for all of them")
  func together() throws {
    var bench = try Bench()
    let names = (1...31).map { String(format: "t%02d", $0) }
    func findings(_ names: some Sequence<String>) -> [AlertFinding] {
      names.map { name in
        var finding = Self.down(name)
        finding.cause = name == "t01" ? "timeout" : "connection refused"
        return finding
      }
    }
    // Four are four.
    #expect(bench.minutes(6, findings(names.prefix(4))).count == 4)
    #expect(bench.minutes(3, []).count == 4)
    bench.notices = [:]
    #expect(bench.minutes(10, findings(names)) == ["6 opened several/t01"])
    let notice = try #require(bench.notices.values.first)
    #expect(
      notice.summary
        == "31 targets are down: connection refused (30), timeout (1). Among them: t01, t02, t03. They have 93 calls.")
    // What begins anew after it was over for a while is news, and so is another one.
    #expect(bench.minutes(5, findings(names.dropFirst(20))) == [])
    #expect(bench.minutes(5, findings(names)) == [])
    #expect(bench.minutes(7, findings(names + ["u"])) == ["1 opened several/t01", "6 opened u"])
    #expect(bench.minutes(1, findings(["t31"])) == [])
    #expect(bench.minutes(1, findings(["t31"])).sorted() == ["1 ended several/t01", "1 ended u"])
    #expect(bench.minutes(3, []) == ["2 ended several/t01"])
    #expect(bench.notices.count == 3)
    // Where others judge some of them, each is by itself.
    bench.groups = false
    #expect(bench.minutes(6, findings(names)).count == 31)
    #expect(bench.minutes(3, []).count == 31)
    bench.groups = true
    // As many as one notice has room for.
    #expect(bench.minutes(6, findings((1...2500).map { "v\($0)" })).count == 3)
  }

  @Test("what there is no room for has one notice, and gets its own when there is")
  func beyond() throws {
    var bench = try Bench()
    bench.room = 2
    #expect(bench.minutes(6, [Self.down("a"), Self.down("b")]) == ["6 opened a", "6 opened b"])
    #expect(bench.minutes(6, ["a", "b", "c"].map { Self.down($0) }) == ["6 opened beyond"])
    let notice = try #require(bench.notices.values.first { $0.subject == "beyond" })
    #expect(notice.summary.hasPrefix("So many alerts are open that this has none of its own: "))
    // Said once, whoever else begins.
    #expect(bench.minutes(9, ["a", "b", "c", "d", "e"].map { Self.down($0) }) == [])
    #expect(bench.notices.count == 3)
    // One ends, so there is room for the next.
    bench.room = 3
    #expect(bench.minutes(2, ["b", "c"].map { Self.down($0) }) == ["2 ended a"])
    #expect(bench.minutes(2, ["b", "c"].map { Self.down($0) }) == ["1 opened c", "2 ended beyond"])
  }

  @Test("of targets that nobody could look at, nothing is concluded")
  func unseen() throws {
    var bench = try Bench()
    let names = (1...9).map { "t\($0)" }
    let shard = { (name: String) in ShardSet.shard(of: TargetKey(name, in: .default)) }
    // Three minutes without a look at it do not begin its time anew.
    var late = Self.down("t1")
    late.since = nil
    #expect(bench.minutes(4, [late]) == [])
    bench.examined = ShardSet.all.subtracting(ShardSet([shard("t1")]))
    #expect(bench.minutes(3, []) == [])
    bench.examined = .all
    #expect(bench.minutes(1, [late]) == ["1 opened t1"])
    #expect(bench.minutes(3, []).count == 1)
    // That of several goes on as long as one of them may be down.
    #expect(bench.minutes(10, names.map { Self.down($0) }) == ["6 opened several/t1"])
    bench.examined = ShardSet.all.subtracting(ShardSet([shard("t9")]))
    #expect(bench.minutes(10, []) == [])
    bench.examined = .all
    #expect(bench.minutes(2, []) == ["2 ended several/t1"])
  }

  @Test("a destination gets thirty messages a minute, and others are not concerned")
  func rate() {
    var rate = MessageRate()
    let start = Timestamp(microseconds: 1_700_000_000_000_000)
    func sent(_ count: Int, to destination: String, after seconds: Int) -> Int {
      (0..<count).count { _ in rate.take(destination, at: start + .seconds(seconds)) }
    }
    let first = [sent(100, to: "a", after: 0), sent(1, to: "b", after: 0), sent(1, to: "a", after: 59)]
    #expect(first == [MessageRate.most, 1, 0])
    #expect(sent(100, to: "a", after: 60) == MessageRate.most)
    // The clock was set back.
    #expect(sent(1, to: "a", after: -3600) == 1)
    rate.forgetOld(at: start + .seconds(3600))
    #expect(sent(1, to: "a", after: 3600) == 1)
  }

  @Test("an alert that cannot send keeps its notices, and sends what is open when it can")
  func mute() throws {
    var bench = try Bench()
    bench.mute = ["oncall"]
    #expect(bench.minutes(10, [Self.down()]) == [])
    #expect(bench.notices.count == 1)
    bench.mute = []
    #expect(bench.minutes(2, [Self.down()]) == ["1 opened payments"])
  }

  @Test("of what could not be looked at nothing is concluded")
  func unknown() throws {
    var bench = try Bench()
    _ = bench.minutes(10, [Self.down()])
    #expect(bench.minutes(30, [], looked: [.failed]) == [])
    #expect(bench.minutes(1, []) == [])
    // It was gone before.
    #expect(bench.minutes(30, [], looked: [.failed]) == [])
    #expect(bench.minutes(3, []) == ["1 ended payments"])
  }

  @Test("an alert is for its kinds and targets, after its own time")
  func wishes() throws {
    var bench = try Bench(
      #"{"to": {"slack": "https://hooks.example.com/x"}, "kinds": ["down"], "targets": ["a"], "after": "0s"}"#
    )
    let held = AlertFinding(.held, "issue_b", target: "a", calls: 1, summary: "held", action: "look")
    #expect(bench.minutes(3, [Self.down("a"), Self.down("b"), held]) == ["1 opened a"])
    // It is not wanted any more.
    bench.alert.targets = ["b"]
    #expect(bench.minutes(3, [Self.down("a")]) == ["1 unwatched a"])
  }

  @Test("a silence keeps the beginning back, and not the end of what was reported")
  func silence() throws {
    var bench = try Bench()
    _ = bench.minutes(10, [Self.down("known")])
    try bench.silence(for: 1800)
    #expect(bench.minutes(29, [Self.down("known"), Self.down("kept"), Self.down("short")]) == [])
    #expect(bench.notices.count == 3)
    #expect(bench.minutes(3, [Self.down("kept")]) == ["1 opened kept", "2 ended known"])
    #expect(bench.minutes(5, []) == ["2 ended kept"])
    // What began and ended in the silence was never reported.
    #expect(bench.notices.values.filter { $0.notifiedAt == nil }.map(\.target) == ["short"])
    #expect(bench.notices.values.allSatisfy { $0.endedAt != nil })
  }

  @Test("an acknowledgement keeps it quiet until its end, and then it is reported once more")
  func acknowledgement() throws {
    var bench = try Bench()
    _ = bench.minutes(10, [Self.down()])
    bench.acknowledge("payments", for: 1)
    #expect(bench.minutes(59, [Self.down()]) == [])
    #expect(bench.minutes(120, [Self.down()]) == ["1 opened payments"])
    bench.acknowledge("payments", for: 8)
    #expect(bench.minutes(3, []) == ["2 ended payments"])
    // What somebody knows of already is not reported before that is over.
    #expect(bench.minutes(60, [Self.down()]) == [])
    bench.acknowledge("orders", for: 1)
    #expect(bench.minutes(59, [Self.down("orders")]) == [])
    #expect(bench.minutes(9, [Self.down("orders")]) == ["1 opened orders"])
    // Of several, all have to be acknowledged.
    let names = (1...6).map { "t\($0)" }
    #expect(bench.minutes(6, names.map { Self.down($0) }) == ["2 ended orders", "6 opened several/t1"])
    for name in names.dropLast() { bench.acknowledge(name, for: 1) }
    #expect(bench.minutes(90, names.map { Self.down($0) }) == [])
    for name in names { bench.acknowledge(name, for: 1) }
    #expect(bench.minutes(90, names.map { Self.down($0) }) == ["60 opened several/t1"])
  }

  @Test("what could not be stored is opened again, and without an alert nothing is sent")
  func unstored() throws {
    var bench = try Bench()
    _ = bench.minutes(6, [Self.down()])
    bench.notices = [:]
    #expect(bench.minutes(2, [Self.down()]) == ["1 opened payments"])
    bench.alert.name = "other"
    #expect(bench.minutes(1, []) == [])
  }

  @Test("targets and issues are found with their numbers and causes")
  func findings() throws {
    let now = Timestamp(microseconds: 1_700_000_000_000_000)
    var target = TargetSnapshot(
      key: TargetKey("a b", in: .default), breaker: .open, openUntil: nil, trips: 1, consecutiveFailures: 5,
      inFlight: 0,
      waiting: 874)
    target.oldestDueAt = now + .seconds(-312)
    target.backlog.add(874, .pace)
    func found() -> [String] {
      AlertFinding.of(target, lateAfter: .seconds(60), at: now).map {
        "\($0.kind.rawValue): \($0.summary) [\($0.action)]"
      }
    }
    #expect(
      found() == [
        "late: a b is late: 874 calls wait, the oldest for 5m12s. They wait for: pace. "
          + "[redial targets 'a b']"
      ])
    target.outage = TargetOutage(since: now + .seconds(-400), cause: "connectionRefused", waited: 1)
    #expect(
      found() == ["down: a b is down for 6m40s: connection refused. 874 calls wait. [redial targets 'a b']"])
    (target.outage, target.isPaused) = (nil, true)
    #expect(found() == ["held: Somebody has paused a b. 874 calls wait. [redial targets 'a b']"])
    // Nothing waits, or nothing is late: nobody is woken.
    (target.waiting, target.oldestDueAt, target.backlog) = (0, nil, TargetBacklog())
    #expect(found() == [])
    (target.waiting, target.isPaused, target.oldestDueAt) = (5, false, now + .seconds(-59))
    #expect(found() == [])
    // Too few calls fail for an outage, and all of them do.
    target.recent.count(.seconds(1), succeeded: false, ended: true, at: now)
    #expect(found() == [])
    target.recent.count(.seconds(1), succeeded: false, ended: true, at: now)
    #expect(
      found() == ["failing: No attempt at a b has succeeded in 15 minutes. 5 calls wait. [redial targets 'a b']"])
    // A part of it that began to fail before is said as what it is.
    target.failing = [FailingPart(.path("/x"), since: now + .seconds(-999))]
    #expect(
      found().last == "failing: a b: /x fails, the rest works: . 0 calls are tried again. [redial targets 'a b']")
    target.failing = []
    target.recent.count(.seconds(1), succeeded: true, ended: true, at: now)
    #expect(found() == [])
    // A message about a receiver of messages would be another message to it.
    target.key = TargetKey("webhook:https://hooks.example.com", in: .default)
    target.outage = TargetOutage(since: now, cause: "status 503", waited: 1)
    #expect(found() == [])
  }
}

/// The messages of alerts, in each shape.
struct AlertMessageTests {
  private let now = Timestamp(microseconds: 1_700_000_000_000_000)

  private func notice(_ alert: Alert, _ summary: String = "<payments> is *down* & out.") -> AlertNotice {
    let finding = AlertFinding(
      .down, "issue_00000000000ac2", target: "payments", calls: 3, summary: summary, action: "redial targets payments")
    return AlertNotice(finding, of: alert, since: now + .seconds(-300), at: now, isNotified: true)
  }

  private func alert(_ to: String) throws -> Alert {
    let json = Array(#"{"to": \#(to)}"#.utf8)
    let draft = try json.withUnsafeBufferPointer { bytes throws(Problem) in
      try AlertDraft.read(bytes, isNew: true, in: .default, limits: CallDescriptor.Limits())
    }
    return draft.applied(to: nil, name: "oncall", in: .default, at: now)
  }

  private func body(_ kind: AlertMessage.Kind, _ notice: AlertNotice, _ alert: Alert) throws -> [String: Any] {
    let bytes = AlertMessage(kind, notice, at: now + .seconds(60)).body(for: alert)
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  @Test("Slack gets text in which it finds no markup of others")
  func slack() throws {
    let alert = try alert(#"{"slack": "https://hooks.example.com/services/secret"}"#)
    let opened = try body(.opened, notice(alert), alert)
    #expect(opened.keys.sorted() == ["text", "unfurl_links", "unfurl_media"])
    #expect(
      opened["text"] as? String == """
        :red_circle: *&lt;payments&gt; is 'down' &amp; out.*
        oncall, namespace default, since 2023-11-14T22:08:20.000Z, issue_00000000000ac2. More: `redial targets payments`
        """)
    // A command is shown as it is typed, or without what cannot be shown.
    var odd = notice(alert)
    odd.action = "redial targets 'a*b<c'"
    #expect(try #require(try body(.opened, odd, alert)["text"] as? String).hasSuffix("`redial targets 'a*b&lt;c'`"))
    odd.action = "redial targets 'a`b'"
    #expect(try #require(try body(.opened, odd, alert)["text"] as? String).hasSuffix("`redial targets `"))
    var over = notice(alert)
    over.endedAt = now + .seconds(60)
    let text = try #require(try body(.ended, over, alert)["text"] as? String)
    #expect(text.hasPrefix(":large_green_circle: *Over after 6m: payments works again.*"))
    // Told again.
    over.notifiedAt = now + .seconds(60)
    over.endedAt = nil
    #expect(try #require(try body(.opened, over, alert)["text"] as? String).contains("*Still open after 6m: "))
  }

  @Test("Teams gets an Adaptive Card")
  func teams() throws {
    let alert = try alert(#"{"teams": "https://hooks.example.com/workflows/secret"}"#)
    let message = try body(.opened, notice(alert), alert)
    #expect(message["type"] as? String == "message")
    let card = try #require((message["attachments"] as? [[String: Any]])?.first)
    #expect(card["contentType"] as? String == "application/vnd.microsoft.card.adaptive")
    let content = try #require(card["content"] as? [String: Any])
    #expect(content["type"] as? String == "AdaptiveCard" && content["version"] as? String == "1.4")
    let blocks = try #require(content["body"] as? [[String: Any]])
    #expect(blocks.first?["text"] as? String == "<payments> is \\*down\\* & out.")
    #expect(blocks.allSatisfy { $0["type"] as? String == "TextBlock" && $0["wrap"] as? Bool == true })
  }

  @Test("PagerDuty gets one alert, from its trigger to its end")
  func pagerDuty() throws {
    let alert = try alert(#"{"pagerDuty": "R012", "url": "https://events.eu.pagerduty.com/v2/enqueue"}"#)
    #expect(alert.address == "https://events.eu.pagerduty.com/v2/enqueue")
    let notice = notice(alert, String(repeating: "x", count: 3000))
    var keys: Set<String> = []
    for (kind, action) in [(AlertMessage.Kind.opened, "trigger"), (.acknowledged, "acknowledge"), (.ended, "resolve")] {
      let event = try body(kind, notice, alert)
      #expect(event["routing_key"] as? String == "R012" && event["event_action"] as? String == action)
      keys.insert(try #require(event["dedup_key"] as? String))
      let payload = try #require(event["payload"] as? [String: Any])
      let summary = try #require(payload["summary"] as? String)
      #expect(kind == .ended ? summary == "Over after 6m: payments works again." : summary.count == 1024)
      #expect(payload["source"] as? String == "payments" && payload["severity"] as? String == "error")
    }
    #expect(keys == [notice.id])
  }

  @Test("a message is stored without secrets, and sent in the shape of where its alert leads then")
  func stored() throws {
    let alert = try alert(#"{"pagerDuty": "R012-secret"}"#)
    let message = AlertMessage(.opened, notice(alert), at: now)
    let stored = message.stored(for: alert)
    #expect(!String(decoding: stored, as: UTF8.self).contains("R012"))
    #expect(alert.sent(stored) == message.body(for: alert))
    var slack = try self.alert(#"{"slack": "https://hooks.example.com/services/secret"}"#)
    slack.createdAt = alert.createdAt
    #expect(slack.sent(stored) == message.body(for: slack))
    // Another alert of the same name does not get it; what an earlier version has stored is sent as it is.
    slack.createdAt = slack.createdAt + .seconds(1)
    #expect(slack.sent(stored) == nil)
    #expect(slack.sent(message.body(for: alert)) == message.body(for: alert))
    let url = "https://prod.example.com:443/workflows/0123456789/triggers?sp=%2Ftriggers&sig=abcdefghij#x"
    let teams = try self.alert(#"{"teams": "\#(url)"}"#)
    #expect(
      teams.secrets == [
        String(url.dropLast(2)), "/workflows/0123456789/triggers?sp=%2Ftriggers&sig=abcdefghij",
        "/workflows/0123456789/triggers", "sp=%2Ftriggers&sig=abcdefghij", "workflows", "0123456789", "triggers",
        "%2Ftriggers", "abcdefghij",
      ])
  }

  @Test("an endpoint gets an event with the notice; no secret is shown or lost")
  func secrets() throws {
    var alert = try alert(#"{"endpoint": "whe_1"}"#)
    let event = try body(.ended, notice(alert), alert)
    #expect(event["type"] as? String == "alert.ended")
    #expect((event["data"] as? [String: Any])?["alert"] as? String == "oncall")
    alert = try self.alert(#"{"slack": "https://hooks.example.com/services/secret"}"#)
    #expect(alert.shownAddress == "https://hooks.example.com/…")
    #expect(Alert(document: alert.document.content) == alert)
    // Where it goes stays, if nobody says.
    let json = Array(#"{"after": "1m"}"#.utf8)
    let draft = try json.withUnsafeBufferPointer { bytes throws(Problem) in
      try AlertDraft.read(bytes, isNew: false, in: .default, limits: CallDescriptor.Limits())
    }
    #expect(draft.applied(to: alert, name: "oncall", in: .default, at: now).address == alert.address)
    #expect(draft.applied(to: alert, name: "oncall", in: .default, at: now).after(.held) == .seconds(60))
  }

  @Test(
    "a draft that cannot be used says what is wrong",
    arguments: [
      (#"{}"#, "/to is required"), (#"{"to": {}}"#, "exactly one of endpoint, slack, teams, pagerDuty"),
      (#"{"to": {"slack": "https://a.example", "teams": "https://b.example"}}"#, "exactly one of"),
      (#"{"to": {"slack": "a.example"}}"#, "/to/slack"),
      (#"{"to": {"slack": "https://a.example", "url": "https://b.example"}}"#, "/to/url"),
      (#"{"to": {"pagerDuty": ""}}"#, "1 to 256"),
      (#"{"to": {"slack": "https://a.example"}, "kinds": ["x"]}"#, "must be one of down"),
      (#"{"to": {"slack": "https://a.example"}, "after": "8d"}"#, "/after"), (#"{"to": {"smoke": "x"}}"#, "smoke"),
      (#"[]"#, "must be a JSON object"),
    ])
  func faults(_ json: String, _ words: String) throws {
    let bytes = Array(json.utf8)
    let problem = #expect(throws: Problem.self) {
      _ = try bytes.withUnsafeBufferPointer { bytes throws(Problem) in
        try AlertDraft.read(bytes, isNew: true, in: .default, limits: CallDescriptor.Limits())
      }
    }
    let found = try #require(problem)
    let errors = found.errors.map(\.clause).joined(separator: "; ")
    #expect(found.status == 422 && "\(found.detail) \(errors)".contains(words), "\(found)")
  }
}
