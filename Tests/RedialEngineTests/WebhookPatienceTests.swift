import RedialCore
import Testing

@testable import RedialEngine
@testable import RedialModel

@Suite("Patience of webhooks")
struct WebhookPatienceTests {
  /// Header fields by which a receiver asks for a long wait.
  private static let heads = [
    "Retry-After: 7200\r\n", "Retry-After: 3601\r\n", "Retry-After: 100000\r\n", "Retry-After: 999999999999999\r\n",
    "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "RateLimit: \"hour\";r=0;t=7200\r\n",
    "RateLimit: \"year\";r=0;t=31536000\r\n", "RateLimit-Remaining: 0\r\nRateLimit-Reset: 7200\r\n",
    "X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 500000\r\n",
  ]

  @Test("a receiver that asks for a long wait gets its webhook later, for about three days", arguments: heads)
  func longWaits(head: String) {
    let policy = EngineSettings.webhooks
    let response = CapturedResponse(head: HeaderBlock(bytes: Array(head.utf8)), body: [], truncated: false)
    for status in [413, 429, 503] {
      var random = SystemRandomNumberGenerator()
      let start = Timestamp(microseconds: 1_800_000_000_000_000)
      var (now, attempts, waits) = (start, 0, WaitHistory.none)
      while attempts < policy.maxAttempts {
        attempts += 1
        let asked = response.askedWait(status: status, at: now)
        let end = AttemptEnd(
          outcome: .answered, status: status, retryAfter: asked, attempts: attempts, startedAt: start, waits: waits)
        let decision = policy.decide(end, at: now, using: &random)
        guard case .retry(let wait) = decision.action else { break }
        #expect(wait >= min(asked ?? .zero, .seconds(86_400)), "\(status), attempt \(attempts)")
        #expect(wait < .seconds(2 * 86_400))
        (now, waits) = (now + wait, decision.waits)
      }
      #expect(attempts >= 3 && now - start >= .seconds(36 * 3600), "\(status): \(attempts) in \(now - start)")
    }
  }

  @Test("each call that the service makes of itself waits like this", arguments: ["Retry-After: 7200\r\n"])
  func own(head: String) throws {
    var probe = EngineProbe()
    probe.hear(
      .subscriptions([WebhookSubscription(id: "whe_1", url: "http://hook.example/", events: [.callFailed])]))
    probe.end(probe.submit(callback: true), status: 404)
    #expect(probe.webhooks.count == 2)
    for webhook in probe.webhooks {
      #expect(probe.starts(of: webhook.id) == 1)
      probe.end(webhook.id, status: 429, head: head)
      let progress = try #require(probe.progress(webhook.id))
      #expect(progress.state == .scheduled && progress.waiting == .retryAfter)
      #expect(progress.due - probe.now >= .seconds(7200))
    }
  }
}
