import RedialCore
import Testing

@testable import redial

@Suite("the text of an overview")
struct OverviewTextTests {
  private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

  private static func ago(_ seconds: Int64) -> Timestamp { now + .seconds(-seconds) }

  /// An overview of a service that is ready, with nothing in it.
  private static func ready() -> Overview {
    var overview = Overview(at: now)
    overview.readiness = .ready
    overview.targets = []
    overview.ended = Overview.Ended()
    overview.hasCalls = true
    return overview
  }

  private static func payments() -> TargetStanding {
    var target = TargetStanding(key: "payments")
    target.condition = .down
    target.outage = TargetStanding.Outage(since: ago(252), cause: "connectionRefused", closedAt: nil)
    target.waits = ["breaker": 862, "backoff": 12, "startTime": 7]
    target.nextProbeAt = now + .seconds(18)
    target.oldestDueAt = ago(300)
    return target
  }

  private static func text(_ overview: Overview, options: String = "") -> String {
    OverviewText(overview: overview, server: "http://127.0.0.1:8080", options: options).lines
      .map(\.text).joined(separator: "\n")
  }

  @Test("a target that is down comes first: since when, why, how many wait and how late, and what to type")
  func down() {
    var overview = Self.ready()
    var mail = TargetStanding(key: "mail")
    mail.condition = .degraded
    (mail.recentFailures, mail.recentAttempts, mail.pace) = (31, 93, 3.4)
    mail.waits = ["pace": 195]
    overview.targets = [mail, Self.payments()]
    let text = Self.text(overview, options: " --server unix:/s")
    #expect(
      text.hasPrefix(
        """
        ✗ payments is down for 4m12s: connection refused
          874 calls wait, the oldest for 5m.
          Redial keeps the calls and sends single probes, the next in 18s.
            redial list --state scheduled --target payments --server unix:/s  shows the calls
            redial targets payments release --server unix:/s  once it works: sends all of them now
        ! mail is degraded: 31 of 93 attempts failed in 5 minutes
          195 calls wait.
          Nothing to do: Redial sends what waits as fast as the target takes it, now 3.4 per second.

        """), "\(text)")
    // The parts are the whole: 874 and 7 that are to start later, and 195.
    #expect(
      text.contains("Waiting: 1,076 calls.\n  862  for a target that is down or held open (breaker)\n"), "\(text)")
    #expect(overview.isBad)
  }

  @Test("commits that a failover has lost come first, and are no reason to fail")
  func lostCommits() {
    var overview = Self.ready()
    overview.service.lostCommits = Overview.LostCommits(at: Self.ago(252), made: 51_436, found: 50_000)
    let text = Self.text(overview, options: " --server unix:/s")
    #expect(
      text.hasPrefix(
        """
        ✗ The database has lost 1,436 commits 4m12s ago
          51,436 were made, and it had 50,000 after a failover.
          Calls, their ends, cancels, pauses and revocations of then may be missing.
            redial audit --action commits.lost --server unix:/s  shows which instances noticed it

        """), "\(text)")
    #expect(!overview.isBad)
    overview.service.lostCommits?.found = 51_435
    #expect(Self.text(overview).hasPrefix("✗ The database has lost 1 commit 4m12s ago\n"))
  }

  @Test("calls behind an outage stand beside the share of those that succeeded, which is not 100 % if one failed")
  func late() {
    var overview = Self.ready()
    overview.targets = [Self.payments()]
    overview.ended = Overview.Ended(
      succeeded: 42_319, retried: 1204, failed: 1, cancelled: 2, attempts: 44_000, failedAttempts: 1681)
    let text = Self.text(overview)
    #expect(
      text.contains("Last 15 minutes: 99.9 % of 42,320 calls succeeded, 1,204 of them after retries; 2 cancelled.\n"))
    #expect(!text.contains("took up to"))
    overview.ended?.timeToSuccess = Overview.Ended.TimeToSuccess(p50: .milliseconds(240), p99: .seconds(80))
    #expect(Self.text(overview).contains("  Half of those that succeeded took up to 240ms, and 99 % up to 1m20s.\n"))
    #expect(text.contains("  44,000 attempts, 1,681 of them failed.\n"))
    #expect(text.contains("  874 calls wait: held up by a target above, and not counted here.\n"), "\(text)")
    overview.targets?[0].isLate = true
    #expect(Self.text(overview).contains("  862 calls are late: held up by a target above, and not counted here.\n"))
    #expect(text.contains("redial list --state failed"))
  }

  @Test(
    "shares are rounded down, and only all is 100 %",
    arguments: [
      (0, 5, "0 %"), (5, 5, "100 %"), (1, 100_000, "less than 0.1 %"), (999_999, 1_000_000, "99.9 %"), (1, 3, "33.3 %"),
    ])
  func share(part: Int, whole: Int, expected: String) {
    #expect(Percent.text(part, of: whole) == expected)
  }

  @Test("without an end nothing is said in percent")
  func quiet() {
    let text = Self.text(Self.ready())
    #expect(text.hasPrefix("✓ No target is down, degraded or held.\n"))
    #expect(text.contains("no call has succeeded or failed yet."))
    #expect(text.contains("Waiting: no call."))
    #expect(!text.contains("%"))
  }

  @Test("a service without calls shows how to submit the first one, and no figures")
  func fresh() {
    var overview = Self.ready()
    overview.hasCalls = false
    let text = Self.text(overview, options: " --server http://127.0.0.1:8081")
    #expect(text.contains("redial call --server http://127.0.0.1:8081 'http://127.0.0.1:9090/hello?fail=2'"))
    #expect(!text.contains("Waiting"), "\(text)")
    #expect(!overview.isBad)
    // What is not known is not fresh.
    overview.hasCalls = nil
    #expect(!overview.isFresh)
  }

  @Test("what could not be read is said, and not shown as zero")
  func leftOut() {
    var overview = Overview(at: Self.now)
    overview.leftOut = [Overview.LeftOut(what: "targets; how calls ended", why: "It needs a key with the scope read.")]
    let text = Self.text(overview)
    #expect(text.hasPrefix("What is wrong with targets is not known.\n"))
    #expect(text.contains("Not shown: targets; how calls ended. It needs a key with the scope read."))
    #expect(!text.contains("Waiting") && !text.contains("Last 15"), "\(text)")
  }

  @Test("a service that accepts no calls says so first, with its reason")
  func notReady() {
    var overview = Self.ready()
    overview.readiness = .notReady("The store cannot be written.")
    let text = Self.text(overview)
    #expect(text.hasPrefix("✗ The service accepts no calls: The store cannot be written.\n"))
    #expect(text.contains("Service: not ready;"))
    overview.readiness = .notReady("The disk is full. Accepted calls are kept. Free space.")
    let full = "✗ The service accepts no calls: The disk is full.\n  Accepted calls are kept. Free space.\n"
    #expect(Self.text(overview).hasPrefix(full))
    #expect(overview.isBad)
  }

  @Test("a target that recovers, one that is paused and one that is held open say what to do")
  func others() {
    var overview = Self.ready()
    var back = TargetStanding(key: "back")
    back.condition = .degraded
    back.outage = TargetStanding.Outage(since: Self.ago(300), cause: "status 503", closedAt: Self.ago(20))
    var paused = TargetStanding(key: "a b'c")
    (paused.condition, paused.waits, paused.oldestDueAt) = (.paused, ["paused": 1], Self.ago(0))
    var held = TargetStanding(key: "held\u{1B}[2J")
    held.condition = .heldOpen
    overview.targets = [back, paused, held]
    let text = Self.text(overview)
    #expect(text.contains("! back answers again for 20s, after an outage of 4m40s: status 503\n"), "\(text)")
    #expect(text.contains("  1 call waits for less than 1s.\n    redial targets 'a b'\\''c' resume "))
    #expect(text.contains("✗ held\\u001b[2J is held open by hand"))
    #expect(!text.contains("\u{1B}"))
    #expect(!overview.isBad)
    #expect(overview.heldUp == 1 && overview.late == 0)
  }

  @Test("what fails while the rest of its target works is said first, unless the target is down")
  func failing() {
    var overview = Self.ready()
    var target = TargetStanding(key: "payments")
    target.waits = ["backoff": 40]
    overview.targets = [target]
    overview.failing = ["payments": ["/status\u{1B} fails, the rest works: status 503"]]
    let said = "payments is up: /status\\u001b fails, the rest works: status 503"
    #expect(Self.text(overview).contains(said), "\(Self.text(overview))")
    overview.targets?[0].condition = .down
    #expect(!Self.text(overview).contains("the rest works"))
  }

  @Test("a target that is up and held back by a limit says by which, and a degraded one how it fails")
  func limits() {
    var overview = Self.ready()
    var slow = TargetStanding(key: "slow")
    (slow.condition, slow.waits, slow.oldestDueAt) = (.late, ["concurrency": 90, "rateLimit": 3], Self.ago(240))
    slow.isLate = true
    slow.maxInFlight = 1
    var flaky = TargetStanding(key: "flaky")
    (flaky.condition, flaky.waits, flaky.recentFailures, flaky.recentAttempts) = (.degraded, ["backoff": 4], 50, 100)
    overview.details["flaky"] = Overview.Details(lastFailure: "status 503")
    overview.targets = [flaky, slow]
    let text = Self.text(overview)
    #expect(
      text.hasPrefix(
        """
        ! slow is up, but its calls are late: they wait for the limit of 1 attempt in flight
          93 calls wait, the oldest for 4m.
          More calls come than this lets through. If the target can take more, raise the limit.
            redial targets slow                          its breaker, its limits and its results
        ! flaky is degraded: 50 of 100 attempts failed in 5 minutes, the latest with status 503
          4 calls wait.
          Redial tries what failed again, as the policy of each call says.

        """), "\(text)")
    #expect(overview.late == 93 && !overview.isBad)
    flaky.heldUntil = Self.now + .seconds(20)
    overview.targets = [flaky]
    #expect(Self.text(overview).contains("  It asked to wait for 20s more; its calls wait until then.\n"))
  }

  @Test("failed calls are said after what is down, with their errors")
  func failures() {
    var overview = Self.ready()
    var paused = TargetStanding(key: "mail")
    paused.condition = .paused
    overview.targets = [paused, Self.payments()]
    overview.ended = Overview.Ended(succeeded: 5, failed: 1250)
    let issue = Overview.Failures.Issue(
      id: "issue_1", target: "billing", calls: 1250, error: "401 the token has expired", lastAt: Self.ago(5))
    overview.failures = Overview.Failures(open: [issue])
    let text = Self.text(overview)
    let expected = """
      ✗ 1,250 calls failed, the latest 5s ago
        1,250 to billing: 401 the token has expired.
        They are kept, and can be run again once the cause is gone: calls fail still.
          redial issues show issue_1                   shows it, and what to do
      ! mail is paused
      """
    #expect(text.hasPrefix("✗ payments is down") && text.contains(expected), "\(text)")
    #expect(!text.contains("redial list --state failed"))
    overview.failures?.open += [Overview.Failures.Issue(id: "issue_2", target: "sms", calls: 1, error: "404")]
    #expect(Self.text(overview).contains("1,250 to billing: 401 the token has expired; 1 to sms: 404."))
    #expect(Self.text(overview).contains("redial issues --state open "))
  }

  @Test("of many targets in trouble the worst are shown")
  func many() {
    var overview = Self.ready()
    overview.targets = (0..<30).map { number in
      var target = TargetStanding(key: "t\(number)")
      (target.condition, target.waits) = (number == 29 ? .down : .paused, ["paused": number])
      return target
    }
    let text = Self.text(overview)
    #expect(text.hasPrefix("✗ t29 is down\n"))
    #expect(text.contains("! t20 is paused") && !text.contains("! t19 is paused"))
    #expect(text.contains("and 20 more targets:\n    redial targets --active "))
  }

  @Test("numbers are grouped", arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
  func grouped(number: Int, expected: String) {
    #expect(number.grouped == expected)
  }

  @Test("outages of the last day that are over are quiet lines, the latest first, and not too many")
  func pastOutages() {
    var overview = Self.ready()
    var (payments, mail) = (TargetStanding(key: "payments"), TargetStanding(key: "mail"))
    func outage(_ end: Int64, lasting seconds: Int64) -> TargetStanding.Outage {
      TargetStanding.Outage(since: Self.ago(end + seconds), cause: "silence", closedAt: Self.ago(end))
    }
    payments.pastOutages = [outage(7200, lasting: 240), outage(86_400, lasting: 60)]
    mail.pastOutages = [outage(300, lasting: 5), outage(9000, lasting: 90), outage(10_000, lasting: 90)]
    overview.targets = [payments, mail]
    #expect(
      Self.text(overview).hasPrefix(
        """
        ✓ No target is down, degraded or held.
        mail was down for 5s until 5m ago.
        payments was down for 4m until 2h ago.
        mail was down for 1m30s until 2h30m ago.
        1 more outage in the last day.

        """), "\(Self.text(overview))")
  }
}
