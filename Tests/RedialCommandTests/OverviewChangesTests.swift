import RedialCore
import Testing

@testable import redial

@Suite("what changes between two overviews")
struct OverviewChangesTests {
  private static func overview(_ targets: [(String, TargetStanding.Condition, Int)]) -> Overview {
    var overview = Overview(at: Timestamp(microseconds: 1_800_000_000_000_000))
    overview.readiness = .ready
    overview.targets = targets.map { key, condition, waiting in
      var target = TargetStanding(key: key)
      (target.condition, target.waits) = (condition, ["breaker": waiting])
      return target
    }
    return overview
  }

  private static func changes(_ before: Overview, _ now: Overview) -> [String] {
    OverviewChanges(before: before, now: now).lines
  }

  @Test("a target that gets worse or better is a change, and its numbers are none")
  func targets() {
    let good = Self.overview([("a", .up, 0), ("b", .degraded, 3)])
    let bad = Self.overview([("b", .degraded, 4), ("a", .down, 1), ("c", .paused, 0)])
    #expect(Self.changes(good, bad) == ["a is down; 1 call waits", "c is paused"])
    #expect(Self.changes(bad, Self.overview([("a", .down, 99), ("b", .degraded, 0), ("c", .paused, 5)])).isEmpty)
    #expect(Self.changes(bad, good) == ["a is up", "c is up"])
    #expect(
      Self.changes(good, Self.overview([("a", .late, 7), ("b", .degraded, 3)]))
        == ["a is up, but its calls are late; 7 calls wait"])
    // A target of which the service knows nothing any more is not wrong.
    #expect(Self.changes(bad, Self.overview([])) == ["a is up", "c is up", "b is up"])
  }

  @Test("the beginning of an outage has its cause, and its end says that it answers again")
  func outage() {
    let good = Self.overview([])
    var bad = Self.overview([("pay\u{7}", .down, 2)])
    let since = bad.at
    bad.targets?[0].outage = TargetStanding.Outage(since: since, cause: "connectionRefused", closedAt: nil)
    #expect(Self.changes(good, bad) == ["pay\\u0007 is down: connection refused; 2 calls wait"])
    var back = bad
    back.targets?[0].condition = .degraded
    back.targets?[0].outage?.closedAt = since + .seconds(9)
    #expect(Self.changes(bad, back) == ["pay\\u0007 answers again; 2 calls wait"])
  }

  @Test("commits that a failover has lost are a change once")
  func lostCommits() {
    var (before, now) = (Self.overview([]), Self.overview([]))
    now.service.lostCommits = Overview.LostCommits(at: now.at, made: 9, found: 4)
    #expect(Self.changes(before, now) == ["the database has lost 5 commits"])
    before = now
    #expect(Self.changes(before, now).isEmpty)
  }

  @Test("whether calls are accepted, and a restart, are changes; what is not known is none")
  func service() {
    let ready = Self.overview([("a", .down, 1)])
    var failing = ready
    failing.readiness = .notReady("The store cannot be written.")
    #expect(Self.changes(ready, failing) == ["the service accepts no calls: The store cannot be written."])
    #expect(Self.changes(failing, ready) == ["the service accepts calls"])
    var (first, second) = (ready, ready)
    first.service.startedAt = ready.at
    second.service.startedAt = ready.at + .seconds(5)
    #expect(Self.changes(first, second) == ["the service was started again"])
    #expect(Self.changes(ready, second).isEmpty)
    var unknown = ready
    (unknown.targets, unknown.readiness) = (nil, nil)
    #expect(Self.changes(ready, unknown).isEmpty)
  }
}
