import RedialCore
@testable import RedialEngine
import RedialModel
import RedialTransport
import Testing

@testable import RedialService

@Suite("Webhook endpoints and the results of their deliveries")
struct WebhookEndpointsTests {
  private let now = Timestamp(microseconds: 1_790_000_000_000_000)

  private func draft(_ url: String, isEnabled: Bool = true) -> WebhookEndpointDraft {
    var draft = WebhookEndpointDraft()
    (draft.url, draft.isEnabled) = (url, isEnabled)
    return draft
  }

  private func endpoint(_ url: String) throws -> WebhookEndpoint {
    let secret = try #require(WebhookSecret(WebhookTests.text))
    return WebhookEndpoint(CallID(rawValue: 1), draft(url), in: .default, secret: secret, at: now)
  }

  private func result(_ status: Int) -> AttemptResult {
    AttemptResult(outcome: .answered, status: status, duration: .zero)
  }

  private func text(_ findings: [WebhookEndpoints.Finding]) -> [String] {
    findings.map { finding in
      switch finding {
      case .recovered(let delivery): "recovered \(delivery.url)"
      case .failing(let delivery): "failing \(delivery.url)"
      case .unfit(let delivery, let why): "\(why) \(delivery.url)"
      }
    }
  }

  @Test("only answers of the current URL count, whatever they are", arguments: [200, 410, 500])
  func earlierURL(status: Int) throws {
    let endpoints = WebhookEndpoints(limit: 1, disableAfter: .zero)
    var endpoint = try endpoint("http://old.test/")
    endpoint.failingSince = status == 200 ? now : nil
    let target = endpoint.asSubscription.target
    endpoints.set(endpoint)
    endpoints.began(1, to: target, at: "http://old.test/")
    endpoint.url = "http://new.test/"
    endpoints.set(endpoint)
    endpoints.began(2, to: target, at: "http://new.test/")
    let findings = endpoints.ended([(1, result(status)), (2, result(status))], at: now)
    let word = [200: "recovered", 410: "gone", 500: "failing"][status] ?? ""
    #expect(text(findings) == ["\(word) http://new.test/"])
  }

  @Test("a webhook goes to the URL that its endpoint has at the attempt, a callback to its own")
  func currentURL() throws {
    let endpoints = WebhookEndpoints(limit: 1, disableAfter: .zero)
    let headers = AttemptHeaders(secret: WebhookSecret(WebhookTests.text), endpoints: endpoints)
    var endpoint = try endpoint("http://old.test/")
    func url(of target: TargetKey, _ kind: CallKind = .webhook) -> String? {
      let spec = CallSpec(
        url: "http://old.test/", method: "POST", headers: [], target: target, policy: .service, captureLimit: 0)
      let call = CallRecord(
        id: CallID(rawValue: 7), kind: kind, spec: spec, body: [], createdAt: now,
        progress: CallProgress(state: .running, due: now, roundStartedAt: now))
      let start = AttemptStart(call: call, number: 1, timeout: .seconds(1), startBefore: .distantFuture)
      return try? headers.head(of: start, at: now).url
    }
    let target = endpoint.asSubscription.target
    endpoints.set(endpoint)
    #expect(url(of: target) == "http://old.test/")
    endpoint.url = "http://new.test/"
    endpoints.set(endpoint)
    #expect(url(of: target) == "http://new.test/")
    #expect(url(of: target, .call) == "http://old.test/")
    #expect(url(of: "webhook:http://old.test") == "http://old.test/")
    endpoints.remove(endpoint.id)
    #expect(url(of: target) == nil)
  }

  @Test("an endpoint with another URL starts without the failures of the earlier one", arguments: [true, false])
  func anew(isEnabled: Bool) throws {
    var endpoint = try endpoint("http://old.test/")
    endpoint.failingSince = now
    endpoint.update(draft("http://old.test/", isEnabled: isEnabled), at: now)
    #expect(endpoint.failingSince == now)
    endpoint.update(draft("http://new.test/", isEnabled: isEnabled), at: now)
    #expect(endpoint.failingSince == nil)
  }
}
