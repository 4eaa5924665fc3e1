@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("A store that fails")
struct StoreTroubleTests {
  @Test("a call that could not be written is refused and forgotten", arguments: [false, true])
  func refuses(isFull: Bool) {
    var probe = EngineProbe()
    let reply = probe.submitOnly()
    probe.fail(isFull: isFull)
    #expect(probe.refusal(of: reply)?.status == (isFull ? 507 : 503))
    #expect(probe.report()?.unfinished == 0)
    #expect(probe.report()?.inFlight == 0)
    probe.advance(.seconds(5))
    #expect(probe.starts.isEmpty)
    #expect(probe.kept.isEmpty)
    // Its insert may have taken effect all the same: what was refused must not be found.
    #expect(probe.written.count == 1)
  }

  @Test("until it works again calls and operations are refused at once")
  func refusesMeanwhile() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(4))
    _ = probe.submitOnly()
    probe.fail()
    #expect(probe.report()?.storeFailing == true)
    #expect(probe.isReady() == false)
    let reply = probe.submitOnly()
    #expect(probe.refusal(of: reply)?.code == .storageUnavailable)
    let refused = probe.command(.cancel, id)
    #expect(probe.refusal(of: refused)?.code == .storageUnavailable)
    probe.advance(.seconds(1))
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
    #expect(probe.submit().rawValue > 0)
  }

  @Test("while the disk has no more than its reserve, new calls are refused and accepted ones go on")
  func shortOfRoom() {
    var probe = EngineProbe()
    let running = probe.submit()
    let waiting = probe.submit(after: .seconds(4))
    probe.hear(.room(isShort: true))
    let reply = probe.submitOnly()
    #expect(probe.refusal(of: reply)?.status == 507)
    #expect(probe.refusal(of: reply)?.code == .storageFull)
    #expect(probe.report()?.storeFailing == true)
    #expect(probe.isReady() == false)
    probe.end(running, status: 200)
    #expect(probe.state(running) == .succeeded)
    probe.advance(.seconds(5))
    #expect(probe.starts(of: waiting) == 1)
    probe.hear(.room(isShort: false))
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
    #expect(probe.submit().rawValue > 0)
  }

  @Test("while commits are in doubt their clients get no answer, and new requests are refused")
  func inDoubt() {
    var probe = EngineProbe()
    let waiting = probe.submit(after: .seconds(4))
    let submission = probe.submitOnly()
    let cancel = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, waiting, reply: cancel)))
    probe.hear(.storeInDoubt("the connection was lost"))
    #expect(probe.reply(to: submission) == nil && probe.reply(to: cancel) == nil)
    #expect(probe.report()?.storeFailing == true && probe.isReady() == false)
    #expect(probe.notices.contains(.storeFailed(message: "the connection was lost")))
    let late = probe.submitOnly()
    #expect(probe.refusal(of: late)?.code == .storageUnavailable && probe.refusal(of: late)?.retryAfter == 2)
    let lateRetry = probe.command(.retry, waiting)
    #expect(probe.refusal(of: lateRetry)?.code == .storageUnavailable)
    let latePause = probe.token(for: TargetCommand.Reply.self)
    probe.hear(.targetCommand(TargetCommand(.pause, EngineProbe.target, reply: latePause)))
    guard case .refused = probe.reply(to: latePause) else {
      Issue.record("the target was paused")
      return
    }
    // The ledger says that both were made.
    probe.commit()
    probe.hear(.storeInDoubt(nil))
    guard case .accepted(let record) = probe.reply(to: submission) else {
      Issue.record("the call was made, and its client was not told")
      return
    }
    #expect(probe.isDone(cancel) && probe.starts(of: record.id) == 1)
    #expect(probe.report()?.storeFailing == false && probe.isReady() == true)
    #expect(probe.submit().rawValue > 0)
  }

  @Test("what was in doubt and was not made is refused then, not before")
  func notMade() {
    var probe = EngineProbe()
    let submission = probe.submitOnly()
    probe.hear(.storeInDoubt("the connection was lost"))
    #expect(probe.refusal(of: submission) == nil)
    probe.hear(.storeInDoubt(nil))
    probe.fail()
    #expect(probe.refusal(of: submission)?.status == 503)
    #expect(probe.report()?.unfinished == 0)
  }

  @Test("of the calls that were refused on a shared store, one with a key stays: others may have answered with it")
  func discardsWithoutKeys() {
    for isShared in [false, true] {
      var settings = EngineSettings()
      if isShared { settings.leases = LeaseSettings() }
      var probe = EngineProbe(settings)
      if isShared { probe.join() }
      var descriptor = EngineProbe.descriptor()
      let bare = probe.token(for: SubmissionReply.self)
      probe.hear(.submit(descriptor, bare))
      descriptor.key = IdempotencyKey("k", fingerprint: [1])
      let keyed = probe.token(for: SubmissionReply.self)
      probe.hear(.submit(descriptor, keyed))
      let asked = probe.requests
      probe.requests.removeAll { if case .findKey = $0.body { true } else { false } }
      for case .findKey(let submission, _) in asked.map(\.body) { probe.hear(.foundKey(submission, nil)) }
      let ids = probe.requests.flatMap { request -> [CallID] in
        guard case .commit(let writes, _) = request.body else { return [] }
        return writes.compactMap { if case .insert(let record) = $0 { record.id } else { nil } }
      }
      #expect(ids.count == 2)
      probe.fail()
      #expect(probe.refusal(of: bare)?.status == 503 && probe.refusal(of: keyed)?.status == 503)
      probe.advance(.seconds(1))
      let discarded = probe.written.compactMap { if case .discard(let id) = $0 { id } else { nil } }
      #expect(discarded == (isShared ? [ids[0]] : ids), "shared: \(isShared)")
    }
  }

  @Test("while the store's files are not in their place, new calls are refused, and the service is not ready")
  func misplaced() {
    var probe = EngineProbe()
    let running = probe.submit()
    probe.hear(.storeMisplaced(true))
    let reply = probe.submitOnly()
    #expect(probe.refusal(of: reply)?.status == 503)
    #expect(probe.refusal(of: reply)?.code == .storageUnavailable)
    #expect(probe.report()?.storeFailing == true)
    #expect(probe.isReady() == false)
    probe.end(running, status: 200)
    #expect(probe.state(running) == .succeeded)
    probe.hear(.storeMisplaced(false))
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
    #expect(probe.submit().rawValue > 0)
  }

  @Test("the store is failing until what was kept has been written, and nothing is accepted while that is tried")
  func failsUntilWritten() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 200, thenCommit: false)
    probe.fail()
    for _ in 0..<3 {
      probe.now = probe.now + .seconds(1)
      probe.hear()
      #expect(!probe.requests.isEmpty)
      #expect(probe.report()?.storeFailing == true)
      #expect(probe.isReady() == false)
      let reply = probe.submitOnly()
      #expect(probe.refusal(of: reply)?.code == .storageUnavailable)
      probe.fail()
      #expect(probe.report()?.storeFailing == true)
      #expect(probe.isReady() == false)
      #expect(probe.state(id) == .running)
    }
    probe.advance(.seconds(1))
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
    #expect(probe.state(id) == .succeeded)
  }

  @Test("what is decided while the store is tried again is written behind what was kept")
  func writesInOrder() {
    var probe = EngineProbe()
    let ids = [probe.submit(), probe.submit()]
    probe.end(ids[0], status: 200, thenCommit: false)
    probe.fail()
    probe.now = probe.now + .seconds(1)
    probe.hear()
    let before = probe.written.count
    probe.end(ids[1], status: 200, thenCommit: false)
    probe.commit()
    let updated = probe.written[before...].compactMap { if case .update(let id, _, _) = $0 { id } else { nil } }
    #expect(updated == ids)
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
  }

  @Test("a claim that failed is over when something has been written, though nothing was kept")
  func provesByWriting() {
    var probe = EngineProbe()
    probe.submit(after: .seconds(60))
    probe.advance(.seconds(59))
    probe.fail()
    probe.now = probe.now + .seconds(1)
    probe.hear()
    #expect(probe.report()?.storeFailing == true)
    #expect(probe.isReady() == false)
    guard case .barrier = probe.requests.first?.body, probe.requests.count == 1 else {
      Issue.record("the store was not asked to write something, or for more")
      return
    }
    probe.commit()
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
    guard case .claimDue = probe.requests.first?.body else {
      Issue.record("what is due was not asked for again")
      return
    }
  }

  @Test("an attempt's end that could not be written is written when the store works again, and only then told")
  func keeps() {
    var probe = EngineProbe()
    let id = probe.submit(callback: true)
    probe.end(id, status: 200, thenCommit: false)
    probe.fail()
    #expect(probe.state(id) == .running)
    probe.advance(.seconds(1))
    #expect(probe.state(id) == .succeeded)
    #expect(probe.webhooks.count == 1)
    #expect(probe.starts.last?.call.id == probe.webhooks.first?.id)
  }

  // Found by the simulation: the start was kept as it was decided, and came when its deadline had passed or its
  // target was down.
  @Test("an attempt whose start could not be counted on disk is decided on anew")
  func takesBack() {
    var probe = EngineProbe()
    var policy = RetryPolicy.test
    policy.deadline = .seconds(3)
    let ids = [probe.submit(.test, after: .seconds(2)), probe.submit(policy, after: .seconds(2))]
    probe.now = probe.now + .seconds(2)
    probe.hear()
    probe.fail()
    #expect(probe.report()?.inFlight == 0)
    #expect(probe.starts.isEmpty)
    // The store goes on failing until the second call's time is up.
    for _ in 0..<4 {
      probe.now = probe.now + .seconds(1)
      probe.hear()
      probe.fail()
    }
    probe.advance(.seconds(1))
    #expect(probe.progress(ids[1])?.failure == .deadlineExceeded)
    #expect(probe.starts.map(\.call.id) == [ids[0]])
    #expect(probe.starts.map(\.number) == [1])
  }

  @Test("a running call that was to be cancelled when its start failed is cancelled once the store works")
  func takesBackCancelled() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(2))
    probe.now = probe.now + .seconds(2)
    probe.hear()
    let reply = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, id, reply: reply)))
    probe.fail()
    #expect(probe.reply(to: reply) == nil)
    probe.advance(.seconds(1))
    #expect(probe.isDone(reply))
    #expect(probe.state(id) == .cancelled)
    #expect(probe.starts.isEmpty)
  }

  @Test("a step that learns of the failure behind other news does not acknowledge what stands on it")
  func sameStep() {
    var probe = EngineProbe()
    let first = probe.submitOnly()
    let failed = probe.requests.map { EngineEvent.storeFailed($0, StoreError(kind: .unavailable, message: "")) }
    probe.requests = []
    let second = probe.token(for: SubmissionReply.self)
    probe.hear([.submit(EngineProbe.descriptor(), second)] + failed)
    probe.fail()
    #expect(probe.refusal(of: first) != nil)
    #expect(probe.refusal(of: second) != nil)
    probe.advance(.seconds(2))
    #expect(probe.starts.isEmpty)
  }

  @Test("what was decided of a call that turns out to be refused is not written")
  func dropsWhatFollowed() {
    var settings = EngineSettings()
    settings.target.maxInFlight = 1
    var probe = EngineProbe(settings)
    probe.submit()
    // Its insert is still to fail when its deadline passes.
    var policy = RetryPolicy.test
    policy.deadline = .milliseconds(10)
    let reply = probe.submitOnly(policy, callback: true)
    probe.now = probe.now + .milliseconds(10)
    probe.hear()
    let writes = probe.kept.count
    probe.fail()
    #expect(probe.refusal(of: reply) != nil)
    probe.advance(.seconds(2))
    #expect(probe.kept.count == writes)
    #expect(probe.report()?.unfinished == 1)
    #expect(probe.report()?.held == 1)
  }

  // Found by the simulation: the lookup that the step had still asked for failed as well, and with the second failure
  // all that was kept since the first was forgotten.
  @Test("a lookup that fails behind a failed write does not make the write be forgotten")
  func keepsAcrossFailures() {
    var probe = EngineProbe()
    let id = probe.submit(callback: true)
    let refused = probe.submitOnly()
    probe.end(id, status: 200, thenCommit: false)
    let failed = probe.requests.map { EngineEvent.storeFailed($0, StoreError(kind: .unavailable, message: "")) }
    probe.requests = []
    var keyed = EngineProbe.descriptor()
    keyed.key = IdempotencyKey("key", fingerprint: [1])
    let reply = probe.token(for: SubmissionReply.self)
    probe.hear([.submit(keyed, reply)] + failed)
    probe.fail(isFull: true)
    #expect(probe.refusal(of: reply)?.status == 507)
    #expect(probe.refusal(of: refused) != nil)
    #expect(probe.state(id) == .running)
    probe.advance(.seconds(1))
    #expect(probe.state(id) == .succeeded)
    #expect(probe.webhooks.count == 1)
    #expect(probe.written.contains { if case .discard = $0 { true } else { false } })
    #expect(probe.report()?.storeFailing == false)
    #expect(probe.isReady() == true)
  }

  @Test("a claim that failed is asked for again")
  func claims() {
    var probe = EngineProbe()
    probe.submit(after: .seconds(60))
    probe.advance(.seconds(59))
    #expect(probe.requests.count == 1)
    probe.fail()
    #expect(probe.requests.isEmpty)
    probe.advance(.seconds(1))
    guard case .claimDue = probe.requests.first?.body else {
      Issue.record("what is due was not asked for again")
      return
    }
  }

  // Found by the simulation: the second failure made the engine forget what the first had left unwritten.
  @Test("a lookup that fails after a commit has failed leaves what is to be written again as it is")
  func failsTwice() {
    var probe = EngineProbe()
    let id = probe.submit()
    probe.end(id, status: 200, thenCommit: false)
    var descriptor = EngineProbe.descriptor()
    descriptor.key = IdempotencyKey("k", fingerprint: [0])
    let failed = probe.requests
    probe.requests = []
    let failure = StoreError(kind: .unavailable, message: "the disk is gone")
    probe.hear([.submit(descriptor, probe.token())] + failed.map { .storeFailed($0, failure) })
    probe.fail()
    probe.advance(.seconds(1))
    #expect(probe.state(id) == .succeeded)
  }
}

extension EngineProbe {
  /// What was written and is to stay.
  fileprivate var kept: [StoreWrite] {
    written.filter { if case .discard = $0 { false } else { true } }
  }
}
