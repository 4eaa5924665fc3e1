import RedialCore
import Synchronization
import Testing

@testable import RedialEngine
@testable import RedialModel

@Suite("Subscriptions")
struct SubscriptionTests {
  private static let all = Set(EventType.subscribable)

  private static func subscribed(
    _ settings: EngineSettings = EngineSettings(), to events: Set<EventType> = all, targets: Set<String> = [],
    count: Int = 1
  ) -> EngineProbe {
    var probe = EngineProbe(settings)
    probe.hear(
      .subscriptions(
        (1...count).map {
          WebhookSubscription(id: "whe_\($0)", url: "http://hook.example/\($0)", events: events, targets: targets)
        }))
    return probe
  }

  private static func told(_ probe: EngineProbe) -> [String] {
    probe.webhooks.compactMap { $0.spec.labels.first?.value }
  }

  /// Whether a target is shown as paused.
  private static func isPaused(_ target: TargetKey, in probe: inout EngineProbe) -> Bool? {
    (probe.ask { $0.describe(target, hasCalls: true) } ?? nil)?.isPaused
  }

  @Test("each subscriber gets the webhook of an end in the transaction that has it")
  func ends() throws {
    var probe = Self.subscribed(count: 2)
    let id = probe.submit(callback: true)
    probe.end(id, status: 200, thenCommit: false)
    let commit = try #require(
      probe.requests.compactMap { request -> [StoreWrite]? in
        if case .commit(let writes, _) = request.body { writes } else { nil }
      }.first)
    let targets = commit.compactMap { write -> TargetKey? in
      if case .insert(let record) = write { record.spec.target } else { nil }
    }
    #expect(Set(targets.suffix(2)) == ["webhook:whe_1", "webhook:whe_2"])
    #expect(targets.count == 3)
    guard case .update(id, let progress, _) = commit.first else {
      Issue.record("the end comes first")
      return
    }
    #expect(progress.state == .succeeded)
  }

  @Test("a subscriber receives only the events and targets that it asked for")
  func filters() {
    var probe = Self.subscribed(to: [.callSucceeded], targets: ["elsewhere"])
    probe.end(probe.submit(), status: 200)
    #expect(probe.webhooks.isEmpty)
    probe = Self.subscribed(to: [.callFailed])
    probe.end(probe.submit(), status: 200)
    #expect(probe.webhooks.isEmpty)
    probe.end(probe.submit(), status: 404)
    #expect(Self.told(probe) == ["call.failed"])
  }

  @Test("a breaker that opens is reported, but not that of a subscriber's own lane")
  func breakers() {
    var probe = Self.subscribed(.tripsAfterTwo(), to: [.targetOpened])
    for _ in 0..<2 { probe.end(probe.submit(), status: 500) }
    #expect(Self.told(probe) == ["target.opened"])
    var seen: Set<CallID> = []
    for _ in 0..<4 {
      guard let webhook = probe.starts.last(where: { $0.call.kind == .webhook && !seen.contains($0.call.id) }) else {
        break
      }
      seen.insert(webhook.call.id)
      probe.end(webhook.call.id, status: 500)
      probe.advance(.seconds(30))
    }
    #expect(Self.told(probe) == ["target.opened"])
  }

  @Test("what an operator does to a target is reported, but not of a subscriber's own lane")
  func controls() throws {
    var probe = Self.subscribed(to: [.targetControlled])
    _ = probe.control(.pause)
    _ = probe.control(.pause, "webhook:whe_1")
    #expect(Self.told(probe) == ["target.controlled"])
    let body = String(decoding: try #require(probe.webhooks.first?.body), as: UTF8.self)
    #expect(body.contains(#""action":"pause","paused":true"#))
  }

  @Test("a call whose insert failed takes the webhooks about its end with it, and no other")
  func dropped() {
    var probe = Self.subscribed(count: 3)
    let ended = probe.submit()
    var policy = RetryPolicy.test
    policy.deadline = .milliseconds(10)
    let refused = probe.submitOnly(policy, callback: true)
    probe.end(ended, status: 200, thenCommit: false)
    probe.now = probe.now + .milliseconds(10)
    probe.hear()
    probe.fail()
    #expect(probe.refusal(of: refused) != nil)
    probe.advance(.seconds(2))
    #expect(probe.state(ended) == .succeeded)
    #expect(Self.told(probe) == ["call.succeeded", "call.succeeded", "call.succeeded"])
    #expect(probe.report()?.unfinished == 3)
  }

  @Test("an announcement goes to one, or to those who asked for it, and one who waits gets the webhook's id")
  func announcements() {
    var probe = Self.subscribed(to: [.endpointDisabled], count: 2)
    probe.hear(.announce(Announcement(.endpointDisabled, data: Array("{}".utf8))))
    probe.commit()
    #expect(Self.told(probe) == ["endpoint.disabled", "endpoint.disabled"])
    let reply = probe.token(for: SubmissionReply.self)
    let only = WebhookSubscription(id: "whe_2", url: "http://hook.example/9", events: [])
    probe.hear(.announce(Announcement(.webhookTest, data: Array("{}".utf8), only: only, reply: reply)))
    probe.commit()
    #expect(Self.told(probe).last == "webhook.test")
    guard case .accepted(let record) = probe.reply(to: reply) else {
      Issue.record("no answer")
      return
    }
    #expect(record.spec.target == "webhook:whe_2")
  }

  @Test("a document and its webhook are made together, also by a store that fails first; or neither")
  func documents() throws {
    var probe = EngineProbe(EngineSettings(webhookPolicy: .test))
    let receiver = WebhookSubscription(id: "alert:a", url: "http://chat.example", events: [])
    let made = Mutex<[Bool]>([])
    func change() -> DocumentChange {
      let webhook = DocumentChange.Webhook(
        .alertOpened, body: Array("hello".utf8), to: receiver, labels: [], orderingKey: "inc_1")
      return DocumentChange([.put(StoredDocument(.notice, id: "1", [1]))], webhook, ofShard: 0) { isMade in
        made.withLock { $0.append(isMade) }
      }
    }
    func tell(_ probe: inout EngineProbe) {
      for case .answer(let tell) in probe.actions { tell() }
      probe.actions.removeAll { if case .answer = $0 { true } else { false } }
    }
    probe.hear(.change(change()))
    probe.fail()
    tell(&probe)
    #expect(made.withLock { $0 }.isEmpty && probe.webhooks.isEmpty)
    // While the store fails, nothing new is begun.
    probe.hear(.change(change()))
    tell(&probe)
    #expect(made.withLock { $0 } == [false])
    probe.advance(.seconds(10))
    tell(&probe)
    #expect(made.withLock { $0 } == [false, true])
    let webhook = try #require(probe.webhooks.first)
    #expect(probe.webhooks.count == 1 && webhook.spec.orderingKey == "inc_1")
    #expect(webhook.body == Array("hello".utf8) && webhook.spec.target == "webhook:alert:a")
    let documents = probe.written.count {
      if case .put(let document) = $0 { document.kind == .notice } else { false }
    }
    #expect(documents == 1)
  }

  @Test("a test makes one attempt at once, also while the breaker is open and other webhooks wait for it")
  func testsPassBreakers() throws {
    let endpoint = WebhookSubscription(id: "whe_1", url: "http://hook.example", events: Self.all)
    var probe = EngineProbe(EngineSettings(webhookPolicy: .test))
    probe.hear(.subscriptions([endpoint]))
    _ = probe.control(.trip, endpoint.target)
    probe.end(probe.submit(), status: 200)
    let waiting = try #require(probe.webhooks.last)
    #expect(probe.starts(of: waiting.id) == 0 && probe.wait(of: waiting.id)?.reason == .breaker)
    for (status, state) in [(503, StoredState.failed), (200, .succeeded)] {
      let reply = probe.token(for: SubmissionReply.self)
      probe.hear(.announce(Announcement(.webhookTest, data: Array("{}".utf8), only: endpoint, reply: reply)))
      probe.commit()
      let test = try #require(probe.webhooks.last)
      #expect(probe.starts(of: test.id) == 1)
      probe.end(test.id, status: status)
      probe.advance(.seconds(10))
      #expect(probe.state(test.id) == state && probe.starts(of: test.id) == 1)
      // What it has learned does not close a breaker that somebody holds open.
      #expect(probe.starts(of: waiting.id) == 0)
    }
    _ = probe.control(.reset, endpoint.target)
    #expect(probe.starts(of: waiting.id) == 1)
  }

  @Test("the webhooks of an endpoint wait while it is disabled, and for good once it is removed")
  func disabled() throws {
    let endpoint = WebhookSubscription(id: "whe_1", url: "http://hook.example", events: Self.all)
    var probe = EngineProbe(EngineSettings(webhookPolicy: .test))
    probe.hear(.subscriptions([endpoint]))
    probe.end(probe.submit(), status: 200)
    let first = try #require(probe.webhooks.last)
    #expect(probe.starts(of: first.id) == 1)
    probe.hear(.subscriptions([]))
    probe.end(first.id, status: 503)
    probe.advance(.seconds(10))
    #expect(probe.starts(of: first.id) == 1 && probe.wait(of: first.id)?.reason == .paused)
    probe.hear(.subscriptions([endpoint]))
    probe.advance(.seconds(10))
    #expect(probe.starts(of: first.id) == 2)
  }

  @Test(
    "the target of a disabled endpoint is paused also if it was not known, and one that an operator has paused stays so"
  )
  func pauses() throws {
    let endpoint = WebhookSubscription(id: "whe_1", url: "http://hook.example", events: Self.all)
    var probe = EngineProbe(EngineSettings())
    var isPaused = Self.isPaused(endpoint.target, in: &probe)
    #expect(isPaused == true)
    probe.hear(.subscriptions([endpoint]))
    isPaused = Self.isPaused(endpoint.target, in: &probe)
    #expect(isPaused == false)
    _ = probe.control(.pause, endpoint.target)
    #expect(probe.stored(of: endpoint.target)?.controls.isPaused == true)
    probe.hear(.subscriptions([]))
    _ = probe.control(.resume, endpoint.target)
    isPaused = Self.isPaused(endpoint.target, in: &probe)
    #expect(isPaused == true)
    #expect(probe.stored(of: endpoint.target)?.controls.isPaused == false)
    probe.hear(.subscriptions([endpoint]))
    isPaused = Self.isPaused(endpoint.target, in: &probe)
    #expect(isPaused == false)
    // Others are not concerned.
    isPaused = Self.isPaused("webhook:http://hook.example", in: &probe)
    #expect(isPaused == false)
  }
}
