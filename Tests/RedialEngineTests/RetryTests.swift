@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("What follows from an attempt")
struct RetryTests {
  @Test("a success ends the call")
  func success() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 204)
    #expect(probe.state(id) == .succeeded)
    #expect(probe.progress(id)?.finishedAt == probe.now)
    #expect(probe.report()?.unfinished == 0)
  }

  @Test("a failure worth a retry is tried again after the backoff, until the attempts are spent")
  func backoff() {
    var probe = EngineProbe()
    let id = probe.submit()
    for attempt in 1...2 {
      probe.end(id, status: 503)
      #expect(probe.state(id) == .held)
      #expect(probe.progress(id)?.waiting == .backoff)
      probe.advance(.milliseconds(999))
      #expect(probe.starts(of: id) == attempt)
      probe.advance(.milliseconds(1))
      #expect(probe.starts(of: id) == attempt + 1)
    }
    probe.end(id, status: 503)
    #expect(probe.state(id) == .failed)
    #expect(probe.progress(id)?.failure == .attemptsExhausted)
  }

  @Test("a call that gets a Retry-After does not come back before")
  func retryAfter() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 503, head: "Retry-After: 4\r\n")
    #expect(probe.progress(id)?.waiting == .retryAfter)
    probe.advance(.milliseconds(3999))
    #expect(probe.starts(of: id) == 1)
    probe.advance(.milliseconds(1))
    #expect(probe.starts(of: id) == 2)
  }

  @Test("Retry-After of a status for which it has no meaning changes nothing, and the decision says so")
  func meaninglessRetryAfter() throws {
    var probe = EngineProbe()
    var policy = RetryPolicy.test
    policy.retryAfter = RetryAfterRule()
    let id = probe.submit(policy)
    probe.end(id, status: 500, head: "Retry-After: 40\r\n")
    #expect(probe.progress(id)?.waiting == .backoff)
    let decisions = probe.written.compactMap { write -> AttemptDecision? in
      if case .update(id, _, let attempt) = write { attempt?.decision } else { nil }
    }
    let text = try #require(decisions.last).because
    #expect(text.contains("status 500 is retryable; the policy ignores its Retry-After of 40s"), "\(text)")
    probe.advance(.seconds(1))
    #expect(probe.starts(of: id) == 2)
  }

  @Test("a target that asks for no wait, or names a date that has passed, gets the backoff, and the decision says so")
  func passedRetryAfter() throws {
    for field in ["0", "Sun, 06 Nov 1994 08:49:37 GMT"] {
      var probe = EngineProbe()
      let id = probe.submit()
      probe.end(id, status: 503, head: "Retry-After: \(field)\r\n")
      #expect(probe.progress(id)?.waiting == .backoff)
      let decisions = probe.written.compactMap { write -> AttemptDecision? in
        if case .update(id, _, let attempt) = write { attempt?.decision } else { nil }
      }
      let text = try #require(decisions.last).because
      #expect(text.contains("status 503 is retryable; the backoff is longer than its Retry-After of 0"), "\(text)")
      probe.advance(.milliseconds(100))
      #expect(probe.starts(of: id) == 1)
    }
  }

  @Test("an exhausted quota that the target reports is waited for, where it says that it has had too much")
  func rateLimit() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 429, head: "RateLimit: \"default\";r=0;t=4\r\n")
    #expect(probe.progress(id)?.waiting == .retryAfter)
    probe.advance(.milliseconds(3999))
    #expect(probe.starts(of: id) == 1)
    probe.advance(.milliseconds(1))
    probe.end(id, status: 500, head: "RateLimit: \"default\";r=0;t=4\r\n")
    #expect(probe.progress(id)?.waiting == .backoff)
  }

  @Test("a target's own word stops a call, and has one tried again that would not be")
  func directive() {
    var probe = EngineProbe()
    let stopped = probe.submit()
    probe.end(stopped, status: 503, head: "Redial-Retry: stop\r\n")
    #expect(probe.state(stopped) == .failed && probe.progress(stopped)?.failure == .notRetryable)
    let retried = probe.submit()
    probe.end(retried, status: 404, head: "redial-retry: retry\r\n")
    #expect(probe.progress(retried)?.waiting == .backoff)
  }

  @Test("a long wait between attempts is spent in the store")
  func longWait() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 503, head: "Retry-After: 40\r\n")
    #expect(probe.state(id) == .scheduled)
    #expect(probe.report()?.held == 0)
  }

  @Test("a retry that would start past the deadline is not waited for")
  func deadlineNear() {
    var probe = EngineProbe()
    var policy = RetryPolicy.test
    policy.deadline = .milliseconds(900)
    let id = probe.submit(policy)
    probe.end(id, status: 503)
    #expect(probe.progress(id)?.failure == .deadlineExceeded)
  }

  @Test("an attempt is not begun if the store needed until the deadline of its call to count it")
  func deadlineWhileCounting() throws {
    var probe = EngineProbe()
    let accepted = probe.now
    var hasty = RetryPolicy.test
    hasty.deadline = .seconds(3)
    let id = probe.submit(hasty)
    let start = try #require(probe.starts.last)
    #expect(start.startBefore == accepted + .seconds(3))
    probe.now = accepted + .seconds(3)
    probe.hear(.attemptTooLate(id, number: start.number))
    probe.commit()
    let progress = try #require(probe.progress(id))
    #expect(progress.state == .failed && progress.failure == .deadlineExceeded && progress.attempts == 0)
    #expect(probe.starts(of: id) == 1)
  }

  @Test("a call that waits for room until its deadline ends there")
  func deadlineWhileReady() {
    var probe = EngineProbe(EngineSettings(maxInFlightPerTarget: 1))
    probe.submit()
    var policy = RetryPolicy.test
    policy.deadline = .seconds(2)
    let id = probe.submit(policy)
    #expect(probe.progress(id)?.waiting == .concurrency)
    probe.advance(.milliseconds(1999))
    #expect(probe.state(id) == .held)
    probe.advance(.milliseconds(1))
    #expect(probe.progress(id)?.failure == .deadlineExceeded)
    #expect(probe.starts(of: id) == 0)
  }

  @Test("a failure not worth a retry ends the call at once", arguments: [400, 404, 410])
  func notRetryable(status: Int) {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: status)
    #expect(probe.progress(id)?.failure == .notRetryable)
  }

  @Test("an attempt that this side cut off is not charged, and such attempts come to an end")
  func interruptions() {
    var probe = EngineProbe(EngineSettings(maxInterruptions: 5))
    let id = probe.submit()
    for count in 1...4 {
      probe.end(id, .cancelled)
      #expect(probe.progress(id)?.chargedAttempts == 0)
      #expect(probe.progress(id)?.cutOffAttempts == count)
      probe.advance(.seconds(1))
    }
    #expect(probe.starts(of: id) == 5)
    probe.end(id, .cancelled)
    #expect(probe.progress(id)?.failure == .attemptsExhausted)
  }

  @Test("the end of an attempt that was reported before, or is none of the call's, changes nothing")
  func lateResults() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 503)
    let writes = probe.written.count
    probe.end(id, status: 200)
    probe.hear(.attemptEnded(CallID(rawValue: 1), number: 1, AttemptResult(outcome: .notSent, duration: .zero)))
    probe.commit()
    #expect(probe.written.count == writes)
  }

  @Test("a call's end and the webhook about it are one transaction")
  func webhook() {
    var probe = EngineProbe()
    let id = probe.submit(callback: true)
    probe.end(id, status: 200, thenCommit: false)
    guard case .commit(let writes, _) = probe.requests.first?.body else {
      Issue.record("nothing was to be written")
      return
    }
    #expect(writes.count == 2)
    probe.commit()
    #expect(probe.webhooks.map(\.spec.target) == ["webhook:http://receiver.example"])
    #expect(probe.starts.last?.call.id == probe.webhooks[0].id)
    let text = String(decoding: probe.webhooks[0].body, as: UTF8.self)
    #expect(text.contains("call.succeeded") && text.contains(id.description))
  }
}
