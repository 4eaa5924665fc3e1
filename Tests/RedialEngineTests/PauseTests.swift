@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Pauses of a target for Retry-After and for quotas")
struct PauseTests {
  @Test(
    "a Retry-After that one call gets with 429 or 503 pauses the target's other calls as long",
    arguments: [429, 503, 502])
  func retryAfter(status: Int) {
    var probe = EngineProbe()
    let told = probe.submit(.patient())
    probe.end(told, status: status, head: "Retry-After: 7\r\n")
    let other = probe.submit(.patient())
    let elsewhere = probe.submit(to: "http://other.example")
    #expect(probe.starts(of: elsewhere) == 1)
    guard status != 502 else {
      #expect(probe.starts(of: other) == 1)
      return
    }
    #expect(probe.wait(of: other) == CallView.Wait(reason: .retryAfter, until: probe.now + .seconds(7)))
    probe.advance(.milliseconds(6999))
    #expect(probe.starts(of: other) == 0)
    probe.advance(.milliseconds(1))
    #expect(probe.starts(of: other) == 1)
  }

  // The engine's time is that of the machine's clock at the start, which may have been hours off.
  @Test(
    "a time that a target names is one of its own clock",
    arguments: [
      "Date: Tue, 06 Nov 2035 08:49:30 GMT\r\nRetry-After: Tue, 06 Nov 2035 08:49:37 GMT\r\n",
      "Retry-After: Tue, 06 Nov 2035 08:49:37 GMT\r\nAge: 5\r\nDate: Tue, 06 Nov 2035 08:49:25 GMT\r\n",
      "Date: Tue, 06 Nov 2035 08:49:30 GMT\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 2077951777\r\n",
    ])
  func targetTime(head: String) {
    var probe = EngineProbe()
    let told = probe.submit(.patient())
    probe.end(told, status: 429, head: head)
    #expect(probe.wait(of: told) == CallView.Wait(reason: .retryAfter, until: probe.now + .seconds(7)))
  }

  @Test("a target cannot hold others for longer than the told call's policy waits, nor where it is not respected")
  func retryAfterBounds() {
    var probe = EngineProbe()
    var policy = RetryPolicy.patient()
    policy.retryAfter = RetryAfterRule(maximum: .seconds(5))
    probe.end(probe.submit(policy), status: 503, head: "Retry-After: 100000\r\n")
    let other = probe.submit(.patient())
    #expect(probe.wait(of: other)?.until == probe.now + .seconds(5))
    probe.advance(.seconds(5))
    policy.retryAfter.isRespected = false
    probe.end(other, status: 200)
    probe.end(probe.submit(policy), status: 503, head: "Retry-After: 100\r\n")
    let free = probe.submit(.patient())
    #expect(probe.starts(of: free) == 1)
  }

  @Test("an exhausted quota that the RateLimit fields of a 429 show pauses the target, too")
  func rateLimitFields() {
    var probe = EngineProbe()
    probe.end(probe.submit(.patient()), status: 429, head: "RateLimit: \"default\";r=0;t=4\r\n")
    let other = probe.submit(.patient())
    #expect(probe.wait(of: other) == .init(reason: .retryAfter, until: probe.now + .seconds(4)))
  }

  @Test("a refusal of one call holds the others no longer than until one that began later succeeds")
  func refusalDisproved() {
    var probe = EngineProbe()
    let refused = probe.submit(.patient())
    probe.advance(.milliseconds(10))
    let later = probe.submit(.patient())
    probe.end(refused, status: 429, head: "Retry-After: 30\r\n")
    let held = probe.submit(.patient())
    #expect(probe.starts(of: held) == 0)
    probe.end(later, status: 200)
    #expect(probe.starts(of: held) == 1)
    #expect(probe.wait(of: refused) == .init(reason: .retryAfter, until: probe.now + .seconds(30)))
    // The next owner does not go on with it.
    #expect(probe.storedPauses == [probe.now + .seconds(30), nil])
  }

  @Test(
    "a refusal of one token, path or caller again and again does not hold the others", arguments: [429, 503],
    [0, 4])
  func refusalOfOneCaller(status: Int, queued: Int) {
    var probe = EngineProbe()
    for round in 0..<10 {
      let refused = probe.submit(.patient(), token: "bad", path: round < 5 ? "/" : "/bad")
      probe.end(refused, status: status, head: "Retry-After: 30\r\n")
      probe.advance(.milliseconds(1))
      let behind = (0..<queued).map { _ in probe.submit(.patient(), token: "bad", path: round < 5 ? "/" : "/bad") }
      for (token, path) in [("good", "/"), ("bad", "/good"), ("good", "/good")] {
        let good = probe.submit(.patient(), token: token, path: path)
        #expect(probe.starts(of: good) == 1, "round \(round): \(token) \(path)")
        probe.end(good, status: 200)
      }
      #expect(probe.starts(of: refused) == 1, "it waits for as long as it was told")
      for id in behind { probe.end(id, status: 200) }
      probe.advance(.seconds(31))
      probe.end(refused, status: 200)
    }
  }

  @Test("a call of another caller is tried however many of the refused one wait before it", arguments: [300, 3000])
  func trialBehindMany(queued: Int) {
    var probe = EngineProbe()
    probe.end(probe.submit(.patient(), token: "bad"), status: 429, head: "Retry-After: 30\r\n")
    for _ in 0..<queued { _ = probe.submit(.patient(), token: "bad") }
    let good = probe.submit(.patient(), token: "good")
    #expect(probe.starts(of: good) == 1)
  }

  @Test("a target that refuses two callers is left alone by all")
  func refusalOfAll() {
    var probe = EngineProbe()
    let first = probe.submit(.patient(), token: "one")
    probe.end(first, status: 429, head: "Retry-After: 30\r\n")
    let second = probe.submit(.patient(), token: "two")
    #expect(probe.starts(of: second) == 1)
    probe.end(second, status: 429, head: "Retry-After: 30\r\n")
    let others = (0..<5).map { probe.submit(.patient(), token: "\($0)") }
    #expect(others.allSatisfy { probe.starts(of: $0) == 0 })
    probe.advance(.seconds(30))
    #expect(others.allSatisfy { probe.starts(of: $0) == 1 })
  }

  @Test("a trial keeps to the target's other limits")
  func trialWithinLimits() {
    var probe = EngineProbe()
    var overrides = TargetOverrides()
    overrides.maxInFlight = 2
    probe.control(.configure(overrides))
    let refused = probe.submit(.patient(), token: "one")
    let running = probe.submit(.patient(), token: "one")
    probe.control(.pause)
    probe.end(refused, status: 429, head: "Retry-After: 30\r\n")
    let other = probe.submit(.patient(), token: "two")
    #expect(probe.starts(of: other) == 0 && probe.starts(of: running) == 1)
    probe.control(.resume)
    #expect(probe.starts(of: other) == 1)
    let third = probe.submit(.patient(), token: "two")
    #expect(probe.starts(of: third) == 0)
  }

  @Test("a refusal holds nobody if an attempt that began later has succeeded")
  func refusalOutdated() {
    var probe = EngineProbe()
    let refused = probe.submit(.patient())
    probe.advance(.milliseconds(10))
    probe.end(probe.submit(.patient()), status: 200)
    probe.end(refused, status: 429, head: "Retry-After: 30\r\n")
    let other = probe.submit(.patient())
    #expect(probe.starts(of: other) == 1 && probe.starts(of: refused) == 1)
  }

  @Test(
    "an exhausted quota that the answer to a success shows pauses the target, once it has refused after such an answer",
    arguments: [
      "RateLimit: \"default\";r=0;t=4;pk=:QXBw:\r\n", "RateLimit-Remaining: 0\r\nRateLimit-Reset: 4\r\n",
      "Date: Tue, 06 Nov 2035 08:49:33 GMT\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 2077951777\r\n",
    ], [429, 403])
  func exhaustedQuota(head: String, refusal: Int) {
    var probe = EngineProbe()
    probe.end(probe.submit(.patient()), status: 200, head: head)
    let refused = probe.submit(.patient())
    #expect(probe.starts(of: refused) == 1, "nothing shows yet that it is so")
    probe.end(refused, status: refusal, head: head)
    probe.advance(.seconds(5))
    for id in [refused, probe.submit(.patient())] { probe.end(id, status: 200, head: head) }
    let other = probe.submit(.patient())
    #expect(probe.wait(of: other) == .init(reason: .retryAfter, until: probe.now + .seconds(4)))
    probe.advance(.milliseconds(3999))
    #expect(probe.starts(of: other) == 0)
    probe.advance(.milliseconds(1))
    #expect(probe.starts(of: other) == 1)
  }

  @Test(
    "fields of a success that name no time, leave something, or whose policy ignores them hold nobody",
    arguments: ["RateLimit: \"a\";r=0\r\n", "RateLimit: \"a\";r=1;t=9\r\n", "X-RateLimit-Remaining: 0\r\n", "ignored"])
  func harmlessFields(head: String) {
    var probe = EngineProbe()
    var policy = RetryPolicy.patient()
    policy.retryAfter.isRespected = head != "ignored"
    let head = head == "ignored" ? "RateLimit: \"a\";r=0;t=9\r\n" : head
    for status in [200, 429, 200] { probe.end(probe.submit(policy), status: status, head: head) }
    let other = probe.submit(.patient())
    #expect(probe.starts(of: other) == 1)
  }

  @Test("a target that takes calls although its fields show an exhausted quota is never held")
  func unenforcedQuota() {
    var probe = EngineProbe()
    for round in 0..<50 {
      let id = probe.submit(.patient())
      #expect(probe.starts(of: id) == 1, "call \(round)")
      probe.end(id, status: round == 20 ? 503 : 200, head: "RateLimit: \"month\";r=0;t=40\r\n")
      if round == 20 { probe.advance(.seconds(50)) }
      probe.advance(.seconds(1))
    }
  }

  @Test("one Retry-After keeps everybody from its target no longer than the service allows")
  func longestHold() {
    var settings = EngineSettings()
    settings.maxRetryAfterPause = .seconds(10)
    var probe = EngineProbe(settings)
    var policy = RetryPolicy.patient()
    policy.retryAfter.maximum = .seconds(1800)
    let told = probe.submit(policy)
    probe.end(told, status: 503, head: "Retry-After: 1000\r\n")
    let other = probe.submit(.patient())
    #expect(probe.wait(of: other)?.until == probe.now + .seconds(10))
    probe.advance(.seconds(9.9))
    #expect(probe.starts(of: other) == 0)
    probe.advance(.milliseconds(100))
    #expect(probe.starts(of: other) == 1)
    #expect(probe.starts(of: told) == 1, "the call that was told waits for as long as it was told")
  }
}
