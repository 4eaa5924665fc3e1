@testable import RedialCore
@testable import RedialEngine
@testable import RedialModel
import Testing

@Suite("Submissions that are forwarded to the owner of their target")
struct ForwardingTests: LeaseScene {
  private static let patience = Duration.seconds(1)

  private func member(_ shards: ShardSet = .all) -> EngineProbe {
    var settings = Self.settings
    settings.forwarding = ForwardingSettings(largestBody: 10, patience: Self.patience)
    var probe = EngineProbe(settings)
    probe.grant(shards)
    return probe
  }

  /// What another instance sends.
  private func forwarded(
    _ number: Int64 = 1, at createdAt: Timestamp, key: IdempotencyKey? = nil, after delay: Duration = .zero,
    isOfPeer: Bool = true
  ) -> CallDescriptor {
    var descriptor = EngineProbe.descriptor(after: delay)
    descriptor.identity = GivenIdentity(
      id: CallID(rawValue: number << 40), createdAt: createdAt, isOfPeer: isOfPeer)
    descriptor.key = key
    return descriptor
  }

  private func submit(_ descriptor: CallDescriptor, to probe: inout EngineProbe) -> ReplyToken<SubmissionReply> {
    let reply = probe.token(for: SubmissionReply.self)
    probe.hear(.submit(descriptor, reply))
    return reply
  }

  private func accepted(_ probe: EngineProbe, _ reply: ReplyToken<SubmissionReply>) -> CallRecord? {
    guard case .accepted(let record) = probe.reply(to: reply) else { return nil }
    return record
  }

  private func forwards(_ probe: EngineProbe) -> [CallDescriptor] {
    probe.actions.compactMap { if case .forward(let descriptor, _) = $0 { descriptor } else { nil } }
  }

  /// The store fails in all that it was asked: others have stored these calls first.
  private func fail(_ probe: inout EngineProbe, stored: StoredFirst) {
    for _ in 0..<2 {
      let failed = probe.requests
      probe.requests = []
      probe.hear(
        failed.map { .storeFailed($0, StoreError(kind: .callStored, message: "others were first", stored: stored)) })
    }
  }

  // MARK: Whoever is asked

  @Test("a call for a target of somebody else gets its identity, and is stored by nobody yet")
  func forwards() throws {
    var probe = member(everythingElse)
    let reply = submit(EngineProbe.descriptor(), to: &probe)
    probe.commit()
    let call = try #require(forwards(probe).first?.identity)
    #expect(call.createdAt == probe.now && !call.isOfPeer)
    #expect(probe.written.isEmpty && probe.reply(to: reply) == nil)
    // A key is looked up by the owner.
    var keyed = EngineProbe.descriptor()
    keyed.key = IdempotencyKey("k", fingerprint: [1])
    _ = submit(keyed, to: &probe)
    #expect(forwards(probe).count == 2 && Set(forwards(probe).map(\.identity?.id)).count == 2)
    #expect(!probe.requests.contains { if case .findKey = $0.body { true } else { false } })
  }

  @Test("its own, ordered and large calls are not forwarded")
  func keeps() {
    var probe = member(everythingElse)
    _ = submit(EngineProbe.descriptor(to: target(otherThan: EngineProbe.target)), to: &probe)
    _ = submit(EngineProbe.descriptor(orderingKey: "a"), to: &probe)
    var large = EngineProbe.descriptor()
    large.body = [UInt8](repeating: 1, count: 11)
    _ = submit(large, to: &probe)
    probe.commit()
    #expect(forwards(probe).isEmpty)
    #expect(probe.written.count { if case .insert = $0 { true } else { false } } == 3)
  }

  @Test("an instance that accepts nothing forwards nothing")
  func refuses() {
    var probe = member(everythingElse)
    probe.hear(.drain)
    let reply = submit(EngineProbe.descriptor(), to: &probe)
    #expect(probe.refusal(of: reply)?.code == .draining && forwards(probe).isEmpty)
  }

  @Test("without an answer it is stored here for its owner, under the same identity, and not forwarded again")
  func storesAfterAll() throws {
    var probe = member(everythingElse)
    let reply = submit(EngineProbe.descriptor(), to: &probe)
    let descriptor = try #require(forwards(probe).first)
    probe.advance(.seconds(2))
    probe.hear(.submit(descriptor, reply))
    probe.commit()
    let call = try #require(accepted(probe, reply))
    #expect(call.id == descriptor.identity?.id && call.createdAt == descriptor.identity?.createdAt)
    #expect(probe.state(call.id) == .scheduled && probe.starts.isEmpty && forwards(probe).count == 1)
  }

  @Test("under a key, the owner's own copy is no repetition")
  func findsItself() throws {
    var probe = member(everythingElse)
    let key = IdempotencyKey("k", fingerprint: [1])
    let descriptor = forwarded(at: probe.now, key: key, isOfPeer: false)
    let reply = submit(descriptor, to: &probe)
    let lookups = probe.requests.compactMap { if case .findKey(let one, _) = $0.body { one } else { nil } }
    let id = try #require(descriptor.identity?.id)
    let record = KeyRecord(key: key, call: id, createdAt: probe.now, expiresAt: probe.now + .seconds(9))
    probe.hear(.foundKey(try #require(lookups.first), record))
    probe.commit()
    #expect(accepted(probe, reply)?.id == id)
    #expect(!probe.written.contains { if case .insert = $0 { true } else { false } })
  }

  // MARK: The owner

  @Test("the owner accepts it as its own, in one write with its start")
  func accepts() throws {
    var probe = member()
    let before = probe.now
    let reply = submit(forwarded(at: before), to: &probe)
    probe.commit()
    let call = try #require(accepted(probe, reply))
    #expect(call.id == CallID(rawValue: 1 << 40) && call.createdAt == before)
    #expect(probe.starts.map(\.call.id) == [call.id])
    let writes = probe.written.filter { if case .insert = $0 { true } else { false } }
    #expect(writes.count == 1 && probe.state(call.id) == .running)
  }

  @Test("a clock that is a little ahead does not delay the start")
  func clocks() {
    var probe = member()
    _ = submit(forwarded(at: probe.now + .milliseconds(3)), to: &probe)
    probe.commit()
    #expect(probe.starts.count == 1)
  }

  @Test("one that comes too late, twice, or to somebody else is left to whoever has sent it")
  func declines() {
    var probe = member()
    let late = submit(forwarded(1, at: probe.now + (.zero - Self.patience - .milliseconds(1))), to: &probe)
    #expect(probe.refusal(of: late)?.code == .forwardedTooLate)
    let inTime = submit(forwarded(2, at: probe.now + (.zero - Self.patience)), to: &probe)
    let again = submit(forwarded(2, at: probe.now + (.zero - Self.patience)), to: &probe)
    probe.commit()
    #expect(accepted(probe, inTime) != nil && probe.refusal(of: again)?.code == .forwardedTooLate)
    var other = member(everythingElse)
    let wrong = submit(forwarded(at: other.now), to: &other)
    #expect(other.refusal(of: wrong)?.code == .ownedElsewhere && forwards(other).isEmpty)
  }

  @Test("what another has stored first is changed instead of inserted, and started once")
  func storedFirst() throws {
    var probe = member()
    let replies = (1...2).map { submit(forwarded($0, at: probe.now), to: &probe) }
    fail(&probe, stored: StoredFirst(waiting: [CallID(rawValue: 1 << 40)]))
    probe.hear()
    probe.commit()
    probe.advance(.zero)
    for reply in replies { #expect(accepted(probe, reply) != nil) }
    for number in 1...2 as ClosedRange<Int64> { #expect(probe.starts(of: CallID(rawValue: number << 40)) == 1) }
    let inserted = probe.written.compactMap { if case .insert(let record) = $0 { record.id } else { nil } }
    #expect(inserted == [CallID(rawValue: 2 << 40)])
    #expect(probe.written.contains { if case .update(CallID(rawValue: 1 << 40), _, _) = $0 { true } else { false } })
    #expect(!probe.notices.contains { if case .storeFailed = $0 { true } else { false } })
    #expect(probe.report()?.unfinished == 2)
  }

  @Test("what has been started or has ended meanwhile is not started, nor removed")
  func begun() {
    var probe = member()
    let id = CallID(rawValue: 1 << 40)
    let reply = submit(forwarded(1, at: probe.now), to: &probe)
    fail(&probe, stored: StoredFirst(begun: [id]))
    probe.hear()
    probe.commit()
    probe.advance(.seconds(2))
    #expect(accepted(probe, reply) != nil && probe.starts.isEmpty && probe.report()?.unfinished == 0)
    #expect(!probe.written.contains { if case .discard = $0 { true } else { false } })
  }

  @Test("a claim that has found the other's copy adds nothing, also when the commit then fails for another reason")
  func claimedMeanwhile() throws {
    for isStored in [true, false] {
      var probe = member()
      let id = CallID(rawValue: 1 << 40)
      probe.hear(.callsStored)
      #expect(probe.requests.contains { if case .claimDue = $0.body { true } else { false } })
      let reply = submit(forwarded(1, at: probe.now), to: &probe)
      probe.requests.removeAll { if case .claimDue = $0.body { true } else { false } }
      let found = EngineProbe.record(id: id, at: probe.now)
      probe.hear(.claimedDue(Claim(calls: [found], nextDue: nil)))
      if isStored { fail(&probe, stored: StoredFirst(waiting: [id])) } else { probe.fail() }
      probe.advance(.seconds(3))
      #expect(accepted(probe, reply) != nil, "it is on disk")
      #expect(probe.starts(of: id) == 1, "stored first: \(isStored)")
      #expect(!probe.written.contains { if case .insert = $0 { true } else { false } })
    }
  }

  @Test("one that was loaded from the store and has ended is left to whoever has sent it, and its end is kept")
  func endedBefore() {
    var probe = member()
    let id = CallID(rawValue: 1 << 40 | 5 << 10)
    #expect(id.instance == 5)
    var descriptor = forwarded(at: probe.now)
    descriptor.identity = GivenIdentity(id: id, createdAt: probe.now, isOfPeer: true)
    probe.hear(.callsStored)
    probe.requests.removeAll { if case .claimDue = $0.body { true } else { false } }
    probe.hear(.claimedDue(Claim(calls: [EngineProbe.record(id: id, at: probe.now)], nextDue: nil)))
    probe.commit()
    #expect(probe.starts(of: id) == 1)
    probe.end(id, status: 200, thenCommit: false)
    let reply = submit(descriptor, to: &probe)
    probe.commit()
    #expect(probe.refusal(of: reply)?.code == .forwardedTooLate)
    #expect(!probe.written.contains { if case .insert = $0 { true } else { false } })
  }

  @Test("a forwarded call that could not be stored here is not removed later: others may have stored it")
  func notDiscarded() {
    var probe = member()
    let reply = submit(forwarded(1, at: probe.now), to: &probe)
    probe.fail()
    #expect(probe.refusal(of: reply)?.code == .storageUnavailable)
    probe.advance(.seconds(3))
    #expect(!probe.written.contains { if case .discard = $0 { true } else { false } })
    #expect(probe.report()?.unfinished == 0 && probe.starts.isEmpty)
  }

  @Test("calls are remembered only as long as they would be accepted again, and only so many")
  func remembers() {
    var calls = ForwardedCalls()
    let start = Timestamp(microseconds: 1_000_000_000)
    func take(_ number: Int, at now: Timestamp) -> Bool {
      calls.take(GivenIdentity(id: CallID(rawValue: Int64(number)), createdAt: now), for: .seconds(1), at: now)
    }
    for number in 0..<ForwardedCalls.most { #expect(take(number, at: start)) }
    #expect(!take(ForwardedCalls.most, at: start), "no room")
    #expect(!take(5, at: start + .seconds(1)), "it came before")
    #expect(take(ForwardedCalls.most, at: start + .milliseconds(1001)))
  }
}
