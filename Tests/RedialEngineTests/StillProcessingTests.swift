@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

/// A target that loses the connection may go on executing the request, and answers 409 to the next attempt with the same
/// `Idempotency-Key`, as Stripe does and draft-ietf-httpapi-idempotency-key-header says.
@Suite("A 409 while the target is still processing an earlier attempt")
struct StillProcessingTests {
  private func decision(_ probe: EngineProbe, of id: CallID) -> AttemptDecision? {
    probe.written.compactMap { write -> AttemptDecision? in
      if case .update(id, _, let attempt) = write { attempt?.decision } else { nil }
    }.last
  }

  @Test(
    "after an attempt that may be processed is tried again",
    arguments: [
      (OutcomeClass.maybeSent, nil, "timeout", nil), (.maybeSent, nil, "responseIncomplete", nil),
      (.cancelled, nil, "cancelled", nil), (.localFault, nil, "bodyUnreadable", ExchangeFigures.Phase.request),
      (.answered, 504, "", nil), (.answered, 502, "", nil),
    ] as [(OutcomeClass, Int?, String, ExchangeFigures.Phase?)])
  func retried(outcome: OutcomeClass, status: Int?, code: String, phase: ExchangeFigures.Phase?) throws {
    var probe = EngineProbe()
    let id = probe.submit(.patient(attempts: 20))
    probe.end(id, outcome, status: status, code: code, phase: phase)
    // Neither a processed attempt nor an earlier 409 changes that.
    for status in [503, 409, 409] {
      probe.advance(.seconds(1))
      probe.end(id, status: status)
      #expect(probe.state(id) == .held, "\(status)")
    }
    let because = try #require(decision(probe, of: id)).because
    #expect(
      because == "status 409, and an earlier attempt may have been executed: the target may still be processing it")
    probe.advance(.seconds(1))
    probe.end(id, status: 200)
    #expect(probe.state(id) == .succeeded)
  }

  @Test(
    "after none that may be processed ends the call",
    arguments: [
      (OutcomeClass.notSent, nil, nil), (.answered, 503, nil), (.answered, 429, nil), (.localFault, nil, .connect),
      (.cancelled, nil, .connect),
    ] as [(OutcomeClass, Int?, ExchangeFigures.Phase?)])
  func ended(outcome: OutcomeClass, status: Int?, phase: ExchangeFigures.Phase?) throws {
    var probe = EngineProbe()
    let id = probe.submit(.patient(attempts: 20))
    probe.end(id, outcome, status: status, phase: phase)
    probe.advance(.seconds(1))
    probe.end(id, status: 409)
    #expect(probe.progress(id)?.failure == .notRetryable)
    #expect(decision(probe, of: id)?.because == "status 409 is not retryable")
  }

  @Test("as the first answer ends the call")
  func first() {
    var probe = EngineProbe()
    let id = probe.submit(.patient(attempts: 20))
    probe.end(id, status: 409)
    #expect(probe.progress(id)?.failure == .notRetryable)
  }

  @Test("is tried again only as the policy allows: stopOn, maxAttempts, and not for a call that is not idempotent")
  func policy() {
    var stopping = RetryPolicy.patient(attempts: 20)
    stopping.stopOn = StatusSet(statuses: [409])
    var careful = RetryPolicy.patient(attempts: 20)
    careful.retryOn = .nonIdempotent
    var short = RetryPolicy.patient(attempts: 20)
    short.maxAttempts = 2
    for (policy, reason) in [
      (stopping, StopReason.notRetryable), (careful, .notRetryable), (short, .attemptsExhausted),
    ] {
      var probe = EngineProbe()
      let id = probe.submit(policy)
      // An attempt that a crash cut off is repeated in any case.
      probe.end(id, policy == careful ? .cancelled : .maybeSent, code: "timeout")
      probe.advance(.seconds(1))
      probe.end(id, status: 409)
      #expect(probe.progress(id)?.failure == reason)
    }
  }

  @Test("waits as long as the target asks")
  func retryAfter() {
    var probe = EngineProbe()
    var policy = RetryPolicy.patient(attempts: 20)
    policy.retryOn.statusesWithRetryAfter = .none
    let id = probe.submit(policy)
    probe.end(id, .maybeSent, code: "timeout")
    probe.advance(.seconds(1))
    probe.end(id, status: 409, head: "Retry-After: 7\r\n")
    #expect(probe.progress(id)?.waiting == .retryAfter)
  }

  @Test("after a crash during an attempt is tried again, also by a later process")
  func restart() throws {
    let id = CallID(rawValue: 1_796_083_000_000 << 20)
    let began = Timestamp(microseconds: 1_796_083_199_000_000)
    func recovered(_ progress: CallProgress) -> EngineProbe {
      let call = CallRecord(
        id: id, kind: .call, spec: .test(.patient(attempts: 20)), body: [], createdAt: began, progress: progress)
      return EngineProbe(recovered: RecoveredState(running: [call], unfinished: 1, lastID: id))
    }
    func stored(_ probe: EngineProbe) -> CallProgress? {
      probe.written.compactMap { if case .update(id, let progress, _) = $0 { progress } else { nil } }.last
    }
    var probe = recovered(CallProgress(state: .held, due: began, attempts: 1, roundStartedAt: began))
    probe.advance(.seconds(1))
    probe.end(id, status: 503)
    var progress = try #require(stored(probe))
    #expect(progress.mayBeProcessing && progress.cutOffAttempts == 1 && progress.unprovenAttempts == 0)
    #expect(progress.chargedAttempts == 1)
    progress.attempts += 1
    var later = recovered(progress)
    later.advance(.seconds(1))
    later.end(id, status: 409)
    #expect(stored(later)?.state == .held)
  }

  @Test("of a call that runs again is about its earlier attempts, too")
  func rerun() {
    var probe = EngineProbe()
    var policy = RetryPolicy.patient(attempts: 20)
    policy.maxAttempts = 1
    let id = probe.submit(policy)
    probe.end(id, .maybeSent, code: "timeout")
    #expect(probe.state(id) == .failed)
    probe.command(.retry, id)
    let requests = probe.requests
    probe.requests = []
    for request in requests {
      if case .fetch(let operation) = request.body { probe.hear(.fetched(operation, probe.record(id))) }
    }
    probe.commit()
    #expect(probe.starts(of: id) == 2)
    probe.end(id, status: 409)
    // Not notRetryable: only the attempts are spent.
    #expect(probe.progress(id)?.failure == .attemptsExhausted)
  }
}
