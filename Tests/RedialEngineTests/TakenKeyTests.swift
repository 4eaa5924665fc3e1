@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("A key that another instance was first with")
struct TakenKeyTests {
  private static let key = IdempotencyKey("k", fingerprint: [1])
  /// What the other instance has accepted.
  private static let earlier = CallID(rawValue: 1 << 40)

  /// What the store says of a commit that has the call under the key.
  private func failure(of requests: [StoreRequest], fingerprint: [UInt8] = [1]) -> StoreError {
    var taken: [TakenKey] = []
    for case .commit(let writes, _) in requests.map(\.body) {
      for case .key(let record) in writes {
        var earlier = record
        earlier.call = Self.earlier
        earlier.key.fingerprint = fingerprint
        taken.append(TakenKey(submitted: record, earlier: earlier))
      }
    }
    return StoreError(kind: .keyTaken, message: "somebody was first", taken: taken)
  }

  /// An engine that has accepted a call under the key, and whose store does not know it yet.
  private func contending(_ probe: inout EngineProbe, key: IdempotencyKey = Self.key) -> ReplyToken<SubmissionReply> {
    let reply = asking(&probe, key: key)
    answerLookups(&probe)
    return reply
  }

  /// A submission under a key that the store has not looked up yet.
  private func asking(_ probe: inout EngineProbe, key: IdempotencyKey) -> ReplyToken<SubmissionReply> {
    var descriptor = EngineProbe.descriptor()
    descriptor.key = key
    let reply = probe.token(for: SubmissionReply.self)
    probe.hear(.submit(descriptor, reply))
    return reply
  }

  @Test("a submission is known by the digest that is stored today, and by that of an earlier version")
  func former() {
    for (stored, isKnown) in [([2], true), ([1], true), ([3], false)] as [([UInt8], Bool)] {
      var probe = EngineProbe()
      let reply = asking(&probe, key: IdempotencyKey("k", fingerprint: [2], former: [1]))
      let asked = probe.requests
      probe.requests = []
      for case .findKey(let submission, _) in asked.map(\.body) {
        let record = KeyRecord(
          key: IdempotencyKey("k", fingerprint: stored), call: Self.earlier, createdAt: probe.now, expiresAt: probe.now)
        probe.hear(.foundKey(submission, record))
      }
      probe.commit()
      #expect((probe.refusal(of: reply)?.code == .idempotencyKeyReused) == !isKnown)
    }
  }

  private func answerLookups(_ probe: inout EngineProbe) {
    let asked = probe.requests
    probe.requests.removeAll { if case .findKey = $0.body { true } else { false } }
    for case .findKey(let submission, _) in asked.map(\.body) { probe.hear(.foundKey(submission, nil)) }
  }

  /// The store fails in all that it was asked, since somebody was first with the keys of it.
  private func fail(_ probe: inout EngineProbe, fingerprint: [UInt8] = [1]) {
    let failed = probe.requests
    let failure = failure(of: failed, fingerprint: fingerprint)
    probe.requests = []
    probe.hear(failed.map { .storeFailed($0, failure) })
    // Requests from before the engine knew come back behind it.
    let more = probe.requests
    probe.requests = []
    probe.hear(more.map { .storeFailed($0, failure) })
  }

  private func expectEarlier(_ probe: EngineProbe, _ reply: ReplyToken<SubmissionReply>) {
    guard case .replayed(Self.earlier) = probe.reply(to: reply) else {
      Issue.record("it was answered with \(String(describing: probe.reply(to: reply)))")
      return
    }
  }

  private func accepted(_ probe: EngineProbe, _ reply: ReplyToken<SubmissionReply>) -> CallID? {
    guard case .accepted(let record) = probe.reply(to: reply) else { return nil }
    return record.id
  }

  @Test("only its submission is not accepted, and gets the other's call; all others are, at once and once")
  func others() {
    var probe = EngineProbe()
    let before = probe.submitOnly(after: .seconds(60))
    let keyed = contending(&probe)
    let running = probe.submitOnly()
    fail(&probe)
    #expect(probe.wakeAt == probe.now)
    #expect(probe.report()?.storeFailing == false, "the store is well")
    probe.commit()
    expectEarlier(probe, keyed)
    #expect(accepted(probe, before) != nil)
    let id = accepted(probe, running)
    #expect(id != nil)
    #expect(probe.starts.map(\.call.id) == [id])
    #expect(probe.starts.map(\.number) == [1])
    #expect(probe.report()?.unfinished == 2)
    #expect(!probe.notices.contains { if case .storeFailed = $0 { true } else { false } })
    #expect(!probe.written.contains { if case .key = $0 { true } else { false } })
  }

  @Test("another payload under it is refused as such")
  func otherPayload() {
    var probe = EngineProbe()
    let keyed = contending(&probe)
    fail(&probe, fingerprint: [2])
    #expect(probe.refusal(of: keyed)?.code == .idempotencyKeyReused)
  }

  @Test("its repetitions here get the other's call, too")
  func repetitions() {
    var probe = EngineProbe()
    var descriptor = EngineProbe.descriptor()
    descriptor.key = Self.key
    let replies = [probe.token(for: SubmissionReply.self), probe.token(for: SubmissionReply.self)]
    for reply in replies { probe.hear(.submit(descriptor, reply)) }
    answerLookups(&probe)
    fail(&probe)
    for reply in replies { expectEarlier(probe, reply) }
  }

  @Test("what comes while the others are written again waits for that, and is then done")
  func meanwhile() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(4))
    _ = contending(&probe)
    // Asked for behind the commit, and not served.
    let lookup = asking(&probe, key: IdempotencyKey("other", fingerprint: [1]))
    fail(&probe)
    let submission = probe.submitOnly()
    let cancel = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, id, reply: cancel)))
    let pause = probe.token(for: TargetCommand.Reply.self)
    probe.hear(.targetCommand(TargetCommand(.pause, "http://other.example", reply: pause)))
    #expect(probe.reply(to: lookup) == nil && probe.reply(to: submission) == nil)
    #expect(probe.reply(to: cancel) == nil && probe.reply(to: pause) == nil)
    probe.hear()
    probe.commit()
    answerLookups(&probe)
    probe.commit()
    #expect(accepted(probe, submission) != nil && accepted(probe, lookup) != nil)
    #expect(probe.isDone(cancel))
    guard case .done = probe.reply(to: pause) else {
      Issue.record("the target was not paused")
      return
    }
  }

  // Found by the simulation: clients waited for as long as the store could not be reached.
  @Test("should the store be lost while the others are written again, what waited is refused, and so is what comes")
  func thenIsLost() {
    var probe = EngineProbe()
    let id = probe.submit(after: .seconds(4))
    let keyed = contending(&probe)
    let lookup = asking(&probe, key: IdempotencyKey("other", fingerprint: [1]))
    fail(&probe)
    let submission = probe.submitOnly()
    let cancel = probe.token(for: CallCommand.Reply.self)
    probe.hear(.command(CallCommand(.cancel, id, reply: cancel)))
    #expect(probe.reply(to: submission) == nil && probe.reply(to: cancel) == nil)
    probe.hear()
    probe.hear(.storeInDoubt("the connection was lost"))
    let late = probe.submitOnly()
    for reply in [lookup, submission, late] { #expect(probe.refusal(of: reply)?.code == .storageUnavailable) }
    #expect(probe.refusal(of: cancel)?.code == .storageUnavailable)
    #expect(probe.report()?.storeFailing == true)
    probe.hear(.storeInDoubt(nil))
    probe.commit()
    #expect(probe.report()?.storeFailing == false && probe.report()?.unfinished == 1)
    expectEarlier(probe, keyed)
  }

  @Test("whoever was refused at the same time for another reason keeps that answer")
  func tooLate() {
    var probe = EngineProbe()
    let id = probe.submit()
    let cancel = probe.command(.cancel, id)
    probe.end(id, status: 200, thenCommit: false)
    _ = contending(&probe)
    fail(&probe)
    probe.hear()
    probe.commit()
    #expect(probe.refusal(of: cancel)?.code == .callEnded)
  }

  @Test("should the store fail when the others are written again, they are refused, and so is what waited")
  func thenFails() {
    var probe = EngineProbe()
    let other = probe.submitOnly()
    let keyed = contending(&probe)
    fail(&probe)
    let waiting = probe.submitOnly()
    probe.hear()
    probe.fail(isFull: true)
    #expect(probe.refusal(of: other)?.status == 507)
    #expect(probe.refusal(of: waiting)?.status == 507)
    #expect(probe.refusal(of: keyed) == nil)
    #expect(probe.report()?.storeFailing == true)
    probe.advance(.seconds(1))
    #expect(probe.report()?.storeFailing == false && probe.report()?.unfinished == 0)
    #expect(probe.starts.isEmpty)
  }
}
