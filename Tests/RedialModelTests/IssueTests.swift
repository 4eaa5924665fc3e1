import Foundation
import RedialCore
import RedialJSON
import Testing

@testable import RedialModel

@Suite("Groups of failed calls")
struct IssueTests {
  @Test(
    "an error without what differs from call to call",
    arguments: [
      ("order 4711 not found", "order {n} not found"),
      ("order-4711 not found.", "order-{n} not found."),
      ("user 6f1c2d3e-0a9b-4c8d-8e7f-001122334455 is locked", "user {id} is locked"),
      ("no charge with id ch_3MqLiJLkdIwHu7ix0snN0B27", "no charge with id {id}"),
      ("trace 4bf92f3577b34da6a3ce929d0e0e4736", "trace {id}"),
      (
        "Failed to connect to 127.0.0.1 port 8080 after 3 ms: Couldn't connect",
        "Failed to connect to {address} port {n} after {n} ms: Couldn't connect"
      ),
      ("connect 10.0.0.7:5432: refused", "connect {address}: refused"),
      ("connect [::1]:5432", "connect [{address}]:{n}"),
      ("cannot reach 2001::1 or 2001:db8::1", "cannot reach {address} or {address}"),
      ("at 2026-11-27T10:15:00+00:00", "at {time}"), ("at 2026-11-27T10:15:00.5+01:00", "at {time}"),
      ("at 2026-11-27T10:15:00.123Z the lock expired", "at {time} the lock expired"),
      ("until 10:15:00, then again", "until {time}, then again"),
      ("2026-11-27 10:15", "{time} {time}"),
      ("mail to ada@example.com bounced", "mail to {email} bounced"),
      ("took 1.5 s of 30s", "took {n} s of {n}s"),
      ("  two\n lines\tand  blanks ", "two lines and blanks"),
      ("HTTP/2 stream error", "HTTP/{n} stream error"),
      ("constraint \"users_email_key\" is violated", "constraint \"users_email_key\" is violated"),
      ("Größe 17 ungültig", "Größe {n} ungültig"), ("", ""), ("...", "..."), ("a@", "a@"),
    ])
  func patterns(_ text: String, _ pattern: String) {
    #expect(ErrorPattern.of(text) == pattern.drop { $0 == " " })
  }

  @Test("a pattern is short, whole in its last character, and the same when it is made again")
  func longPatterns() {
    var random = RandomSource(seed: 7)
    for _ in 0..<300 {
      let letters = Array("aÄ€😀 19.:-@/\"\u{7f}\n")
      let text = String(
        (0..<Int.random(in: 0..<400, using: &random)).map { _ in letters.randomElement(using: &random)! })
      let pattern = ErrorPattern.of(text)
      #expect(pattern.utf8.count <= ErrorPattern.longest && !pattern.contains("\u{fffd}"))
      #expect(!pattern.unicodeScalars.contains { $0.value < 0x20 || (0x30...0x39).contains($0.value) }, "\(text)")
    }
  }

  @Test(
    "what an answer says about its error",
    arguments: [
      (#"{"error": {"message": "card declined", "code": "card_declined"}}"#, "card declined"),
      (#"{"error": "invalid_grant", "error_description": "Token expired"}"#, "Token expired"),
      (#"{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "No such order"}"#, "No such order"),
      (#"{"errors": [{"message": "name is required"}, {"message": "other"}]}"#, "name is required"),
      (#"{"code": "E42", "id": 5}"#, "E42"), (#"["down"]"#, "down"),
      (#""down for maintenance""#, "down for maintenance"),
      (#"{"message": "cut off", "trace": "abc"#, "cut off"),
      (#"{"error": {"message": "cut off within", "trace": "abc"#, "cut off within"),
      (#"{"message": "  ", "title": "Blank"}"#, "Blank"), (#"{"message": null, "title": "Gone"}"#, "Gone"),
      ("\n  upstream connect error or disconnect\nmore", "upstream connect error or disconnect"),
    ])
  func lines(_ body: String, _ line: String) {
    #expect(AnsweredError.line(of: Array(body.utf8)) == line)
  }

  @Test(
    "an answer without a text of its own says nothing",
    arguments: [
      "", "   ", "<html><title>502</title></html>", "{}", "[]", "{\"id\": 5}", "{", "\u{1}\u{2}abc",
      "[[[[[[\"deep\"]]]]]]",
    ])
  func silence(_ body: String) {
    #expect(AnsweredError.line(of: Array(body.utf8)) == nil)
  }

  @Test("no bytes make the reader of answers fail, and none are read beyond its bound")
  func anyBytes() {
    var random = RandomSource(seed: 3)
    for _ in 0..<2000 {
      let characters = Array("{}[]\":,\\ab1 \n<".utf8) + [0, 0xff, 0xc3]
      let body = (0..<Int.random(in: 0..<60, using: &random)).map { _ in characters.randomElement(using: &random)! }
      _ = AnsweredError.line(of: body)
    }
    #expect(AnsweredError.line(of: Array(repeating: UInt8(ascii: " "), count: 1 << 20)) == nil)
  }

  private func attempt(_ number: Int, status: Int? = nil, _ body: String = "", failure: AttemptFailure? = nil)
    -> AttemptRecord
  {
    AttemptRecord(
      number: number, startedAt: .epoch, duration: .zero, outcome: status == nil ? .notSent : .answered, status: status,
      failure: failure, decision: AttemptDecision(.stop(.attemptsExhausted)),
      response: CapturedResponse(head: HeaderBlock(bytes: []), body: Array(body.utf8), truncated: false))
  }

  @Test("calls are one group if their kind, target, reason and error are the same, and only then")
  func identity() {
    let one = FailedGroup(.call, "payments", .attemptsExhausted, endedBy: attempt(3, status: 503, "order 1 not found"))
    #expect(one.error == "503 order {n} not found")
    #expect(
      one.id
        == FailedGroup(.call, "payments", .attemptsExhausted, endedBy: attempt(9, status: 503, "order 2 not found")).id)
    let others = [
      FailedGroup(.webhook, "payments", .attemptsExhausted, endedBy: attempt(3, status: 503, "order 1 not found")),
      FailedGroup(.call, "payment", .attemptsExhausted, endedBy: attempt(3, status: 503, "order 1 not found")),
      FailedGroup(.call, "payments", .deadlineExceeded, endedBy: attempt(3, status: 503, "order 1 not found")),
      FailedGroup(.call, "payments", .attemptsExhausted, endedBy: attempt(3, status: 502, "order 1 not found")),
      FailedGroup(.call, "payments", .attemptsExhausted, endedBy: attempt(3, status: 503, "other")),
      FailedGroup(.call, "payments", .attemptsExhausted, endedBy: nil),
      FailedGroup(
        .call, "payments", .attemptsExhausted,
        endedBy: attempt(3, failure: AttemptFailure(code: "connectionRefused", message: "port 80 is closed"))),
    ]
    #expect(Set((others + [one]).map(\.id)).count == others.count + 1)
    #expect(others.last?.error == "connectionRefused: port {n} is closed")
    #expect(one.id.failure == .attemptsExhausted && one.id.cause == .failed(.attemptsExhausted))
  }

  @Test("the group of a stored call is that of the call when it failed")
  func derived() {
    var call = CallRecord(
      id: CallID(rawValue: 1), kind: .call,
      spec: CallSpec(url: "http://a", method: "GET", headers: [], target: "a", policy: .service, captureLimit: 10),
      body: [], createdAt: .epoch,
      progress: CallProgress(
        state: .failed, due: .epoch, attempts: 3, roundStartedAt: .epoch, finishedAt: .epoch,
        failure: .attemptsExhausted))
    let last = attempt(3, status: 500, "boom 7")
    #expect(FailedGroup(of: call, last: last)?.error == "500 boom {n}")
    // The deadline of a later round has ended it, and no attempt.
    call.progress.attemptsBefore = 3
    #expect(FailedGroup(of: call, last: last)?.error == "")
    call.progress.attemptsBefore = 0
    call.progress.failure = .tripped
    #expect(FailedGroup(of: call, last: last)?.error == "")
    call.progress.failure = nil
    #expect(FailedGroup(of: call, last: last) == nil)
  }

  @Test("an id is read from its text and its number, and nothing else is")
  func texts() throws {
    for cause in StopReason.allCases.map(IssueID.Cause.failed) + [.late, .failing, .down, .held, .stuck] {
      let id = IssueID(.call, "payments", cause, "503")
      #expect(IssueID(id.description) == id && IssueID(rawValue: id.rawValue) == id && id.cause == cause)
      #expect(id.description.utf8.count == 20)
    }
    for text in [
      "", "issue_", "issue_+0000000000001", "issue_00000000000001", "issue_000000000001ff", "call_3fa09c5512d701",
    ] {
      #expect(IssueID(text) == nil, "\(text)")
    }
  }

  @Test("stores have the reason and the group as one number")
  func codes() throws {
    for reason in StopReason.allCases {
      #expect(FailureCode(reason, nil)?.rawValue == Int64(reason.rawValue))
      let issue = IssueID(.call, "a", .failed(reason), "")
      let code = try #require(FailureCode(rawValue: FailureCode(reason, issue)?.rawValue ?? 0))
      #expect(
        code.reason == reason && code.issue == issue && code.rawValue & FailureCode.reasonMask == Int64(reason.rawValue)
      )
    }
    for value: Int64 in [0, -1, 7, 255, 256, 0x1ff, .max, .min, IssueID(.call, "a", .late, "").rawValue] {
      #expect(FailureCode(rawValue: value) == nil, "\(value)")
    }
    #expect(FailureCode(nil, nil) == nil)
  }

  // MARK: States

  private static func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

  private func issue(first: Int64, last: Int64, calls: Int = 5) -> CallIssue {
    let group = FailedGroup(.call, "a", .attemptsExhausted, endedBy: nil)
    return CallIssue(
      group.id, group, calls: calls, firstAt: Self.time(first), lastAt: Self.time(last), hours: [],
      example: CallID(rawValue: 1))
  }

  @Test("an issue opens by itself, stays known until its end, and is done with until the next call")
  func states() {
    let now = Self.time(1000)
    var issue = issue(first: 100, last: 500)
    #expect(issue.state(at: now) == .open)
    issue.mark = IssueMark(
      IssueMarkRequest(state: .acknowledged, until: Self.time(1001)), of: issue, at: Self.time(600))
    #expect(issue.state(at: now) == .acknowledged && issue.state(at: Self.time(1001)) == .open)
    // More of the same are known, too.
    issue.lastAt = Self.time(900)
    #expect(issue.state(at: now) == .acknowledged)
    // Even if the first ones are gone.
    issue.firstAt = Self.time(800)
    #expect(issue.state(at: now) == .acknowledged)
    issue.mark = IssueMark(IssueMarkRequest(state: .acknowledged), of: issue, at: Self.time(600))
    #expect(issue.mark?.until == Self.time(600) + .seconds(7 * 86_400))
    issue.mark = IssueMark(IssueMarkRequest(state: .resolved), of: issue, at: Self.time(950))
    #expect(issue.state(at: now) == .resolved)
    issue.lastAt = Self.time(960)
    #expect(issue.state(at: now) == .open)
    issue.calls = 0
    #expect(issue.state(at: now) == .resolved)
  }

  @Test("a statement shows its issue when that has no calls any more")
  func marks() throws {
    let request = try Array(#"{"state": "acknowledged", "until": "1h", "by": "ada", "reason": "known"}"#.utf8)
      .withUnsafeBufferPointer { bytes throws(Problem) in try IssueMarkRequest.read(bytes, at: Self.time(0)) }
    #expect(request.until == Self.time(3600) && request.attribution == Attribution(by: "ada", reason: "known"))
    let issue = issue(first: 100, last: 500)
    let mark = try #require(IssueMark(document: IssueMark(request, of: issue, at: Self.time(600)).document.content))
    let shown = try #require(CallIssue(marked: mark))
    #expect(
      shown.id == issue.id && shown.target == "a" && shown.calls == 0 && shown.state(at: Self.time(700)) == .resolved)
    #expect(mark.by == "ada" && mark.reason == "known" && mark.until == Self.time(3600))
  }

  @Test(
    "a wrong statement names what is wrong",
    arguments: [
      ("{}", "/state"), (#"{"state": "gone"}"#, "/state"), (#"{"state": "resolved", "until": "1h"}"#, "/until"),
      (#"{"state": "acknowledged", "until": "soon"}"#, "/until"),
      (#"{"state": "acknowledged", "until": "0s"}"#, "/until"), (#"{"state": "open", "more": 1}"#, "/more"),
      (#"{"state": "open", "by": ""}"#, "/by"),
    ])
  func wrongStatements(_ json: String, _ pointer: String) {
    let read = Result { () throws(Problem) in
      try Array(json.utf8).withUnsafeBufferPointer { bytes throws(Problem) in
        try IssueMarkRequest.read(bytes, at: .epoch)
      }
    }
    guard case .failure(let problem) = read else {
      Issue.record("\(json) was taken")
      return
    }
    #expect(problem.status == 422 && problem.errors.map(\.pointer) == [pointer])
  }

  @Test("a target is late, down or held, one at a time, and another instance reads it as it is shown")
  func late() throws {
    let now = Self.time(1000)
    var target = TargetSnapshot(
      key: "payments", breaker: .open, openUntil: nil, trips: 1, consecutiveFailures: 5, inFlight: 0, waiting: 874)
    for (reason, count) in [(WaitReason.pace, 870), (.backoff, 20), (.ordering, 3), (.rateLimit, 4)] {
      target.backlog.add(count, reason)
    }
    func found() throws -> CallIssue? {
      let issues = CallIssue.of(target, lateAfter: .seconds(60), at: now)
      #expect(issues.count <= 1)
      guard let issue = issues.first else { return nil }
      var writer = JSONWriter()
      issue.write(at: now, to: &writer)
      #expect(CallIssue(shown: writer.bytes, in: .default) == issue)
      #expect(issue.state(at: now) == .open && issue.filter?.target == "payments")
      return issue
    }
    #expect(try found() == nil)
    target.oldestDueAt = Self.time(941)
    #expect(try found() == nil)
    target.oldestDueAt = Self.time(940)
    let late = try #require(try found())
    #expect((late.id.kind, late.calls, late.waitsFor, late.firstAt) == (.late, 874, .pace, Self.time(940)))
    // Its calls wait for two things, and no filter selects both.
    #expect(late.filter?.waitingOn == nil && late.filter?.states == [.scheduled])
    target.outage = TargetOutage(since: Self.time(900), cause: "connectionRefused", waited: 0)
    let down = try #require(try found())
    #expect((down.id.kind, down.calls, down.error, down.firstAt) == (.down, 897, "connectionRefused", Self.time(900)))
    (target.outage, target.isPaused) = (nil, true)
    let held = try #require(try found())
    #expect((held.id.kind, held.calls, held.waitsFor, held.error) == (.held, 897, .paused, "paused"))
    #expect(Set([late.id, down.id, held.id]).count == 3)
    #expect(CallIssue(shown: [], in: .default) == nil)
    // It is over when it is not there any more, also if none of its calls waits.
    (target.backlog, target.waiting, target.isPaused) = (TargetBacklog(), 0, false)
    target.outage = TargetOutage(since: Self.time(900), cause: "connectionRefused", waited: 0)
    #expect(try found()?.calls == 0)
    let mark = IssueMark(IssueMarkRequest(state: .acknowledged), of: down, at: now)
    #expect(CallIssue(marked: mark)?.state(at: now) == .resolved)
  }

  @Test("what a check of the store finds has neither a target nor a filter, and can be acknowledged")
  func stuck() throws {
    var issue = CallIssue(check: "stuckRunning", calls: 2, at: Self.time(1000))
    #expect(issue.filter == nil && issue.state(at: Self.time(1000)) == .open)
    let mark = IssueMark(IssueMarkRequest(state: .acknowledged), of: issue, at: Self.time(1000))
    issue.mark = IssueMark(document: mark.document.content)
    #expect(issue.state(at: Self.time(1001)) == .acknowledged)
    #expect(try #require(issue.mark).targetKey.namespace.isDefault)
    var writer = JSONWriter()
    issue.write(at: Self.time(1000), to: &writer)
    let shown = try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? [String: Any])
    #expect(shown["target"] is NSNull && shown["filter"] is NSNull && shown["kind"] as? String == "stuck")
    #expect(CallIssue(shown: writer.bytes, in: .default)?.id == issue.id)
  }

  @Test("what fails while the rest of its target works is an issue of that part, and selects its calls")
  func failing() throws {
    let label = CallSpec.Label(name: "tenant", value: "a")
    let marks: [FailingPart.Mark] = [
      .path("/status"), FailingPart.Mark(pathOf: "https://a.example/stock/17?x"), .credential("authorization"),
      .label(label),
    ]
    var target = TargetSnapshot(
      key: "payments", breaker: .closed, openUntil: nil, trips: 0, consecutiveFailures: 0, inFlight: 0, waiting: 0)
    target.failing = marks.map { FailingPart($0, since: Self.time(900)) }
    for (at, call) in [(901, 1), (902, 1), (903, 2)] as [(Int64, Int64)] {
      target.failing[0].fail(CallID(rawValue: call), "status 503", at: Self.time(at))
    }
    let issues = CallIssue.of(target, lateAfter: .seconds(60), at: Self.time(1000))
    #expect(issues[0].error == "/status fails, the rest works: status 503" && issues[0].calls == 2)
    #expect((issues[0].firstAt, issues[0].lastAt) == (Self.time(900), Self.time(903)))
    #expect(issues.map(\.filter?.urlPart) == ["/status", "/stock/", nil, nil] && issues[3].filter?.labels == [label])
    #expect(issues.allSatisfy { $0.id.kind == .failing && $0.filter?.waitingOn == .backoff })
    #expect(Set(issues.map(\.id)).count == 4)
    for issue in issues {
      var writer = JSONWriter()
      issue.write(at: Self.time(1000), to: &writer)
      let read = try #require(CallIssue(shown: writer.bytes, in: .default))
      #expect(read.filter == issue.filter && read.error == issue.error && read.id == issue.id)
    }
    target.failing[0].end(CallID(rawValue: 1))
    #expect(target.failing[0].calls == 1)
  }

  @Test(
    "the path of a URL, without what differs from call to call",
    arguments: [
      ("https://a.example/v2/stock/4711?token=x", "/v2/stock/{n}"), ("https://a.example", "/"),
      ("http://a.example?x=/y", "/"), ("http://[::1]:80/orders/6f1c2d3e-0a9b-4c8d-8e7f-001122334455/", "/orders/{id}/"),
      ("http://a/b/order-4711#top", "/b/order-{n}"), ("http://a/v1/charges", "/v1/charges"), ("http://a//x", "//x"),
    ])
  func paths(_ url: String, _ path: String) {
    #expect(AffectedCalls.path(of: url) == path)
  }

  @Test("affected calls are summed by path and label, those of the most calls first, and not too many")
  func affected() {
    var affected = AffectedCalls()
    for number in 0..<100 {
      affected.add(
        CallSpec(
          url: "https://a.example/\(number % 4 == 0 ? "card" : "stock/\(number)")?n=\(number)", method: "POST",
          target: TargetKey("a", in: .default), policy: .service, captureLimit: 0
        ) {
          $0.labels = [.init(name: "team", value: number < 10 ? "a" : "b"), .init(name: "order", value: "\(number)")]
        })
    }
    var writer = JSONWriter()
    affected.write(to: &writer)
    let text = String(decoding: writer.bytes, as: UTF8.self)
    let begin =
      #"{"counted":100,"isComplete":false,"paths":[{"path":"/stock/{n}","calls":75},{"path":"/card","calls":25}],"#
    let labels =
      #""labels":[{"name":"team","value":"b","calls":90},{"name":"team","value":"a","calls":10},{"name":"order","#
    #expect(text.hasPrefix(begin + labels), "\(text)")
    #expect(text.ranges(of: #""name""#).count == AffectedCalls.mostLabels)
  }
}
