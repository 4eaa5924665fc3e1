import RedialCore
@testable import RedialEngine
import RedialModel
import Testing

@testable import RedialService

@Suite("Webhooks and the header fields of attempts")
struct WebhookTests {
  static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  @Test("a signature equals the example that the standard's libraries share")
  func signature() throws {
    let secret = try #require(WebhookSecret(Self.text))
    #expect(
      secret.signature(
        id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, payload: Array(#"{"test": 2432232314}"#.utf8))
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test(
    "a secret is whsec_ and the base 64 of 24 to 64 bytes",
    arguments: [
      "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8=", "whsec_%%%%", "WHSEC_" + text.dropFirst(6),
    ])
  func refused(text: String) {
    #expect(WebhookSecret(text) == nil)
  }

  @Test("each new secret differs and can be read again")
  func random() throws {
    let made = try (0..<10).map { _ in try #require(WebhookSecret.random()).text }
    #expect(Set(made).count == 10)
    #expect(made.allSatisfy { WebhookSecret($0) != nil })
  }

  private func start(_ kind: CallKind, headers: [HeaderField] = [], target: TargetKey = "t") -> AttemptStart {
    let now = Timestamp(microseconds: 1_790_000_000_000_000)
    return AttemptStart(
      call: CallRecord(
        id: CallID(rawValue: 1_790_000_000_000 << 20), kind: kind,
        spec: CallSpec(
          url: "http://127.0.0.1/", method: "POST", headers: headers, target: target, policy: .service,
          captureLimit: 0), body: Array("{}".utf8), createdAt: now,
        progress: CallProgress(state: .running, due: now, roundStartedAt: now)), number: 3, timeout: .seconds(1),
      startBefore: .distantFuture)
  }

  private func fields(_ start: AttemptStart, sampling: TraceSampling? = nil) throws -> [String: String] {
    let headers = AttemptHeaders(
      secret: WebhookSecret(Self.text),
      endpoints: WebhookEndpoints(limit: 1, disableAfter: .seconds(1)), sampling: sampling)
    let fields = try headers.head(of: start, at: Timestamp(microseconds: 1_614_265_330_999_999)).fields
    return Dictionary(fields.map { ($0.name, $0.value) }) { "\($0), \($1)" }
  }

  @Test("a call's attempt names the call, the attempt and a stable key, unless the client gave one")
  func call() throws {
    let start = start(.call)
    let id = start.call.id.description
    #expect(try fields(start) == ["Idempotency-Key": id, "Redial-Attempt": "3"])
    let keyed = try fields(self.start(.call, headers: [HeaderField("idempotency-KEY", "mine")]))
    #expect(keyed == ["idempotency-KEY": "mine", "Redial-Call-Id": id, "Redial-Attempt": "3"])
  }

  @Test("a call's attempt has a trace of its own only if calls are traced")
  func ownTrace() throws {
    let start = start(.call)
    let all = TraceSampling(share: 1)
    let trace = TraceContext.field(of: start.call.id, attempt: 3, given: nil, sampling: all)
    #expect(try fields(start, sampling: all)["traceparent"] == trace && trace.hasSuffix("-01"))
    #expect(try fields(start)["traceparent"] == nil)
  }

  @Test("an attempt has its own ids once, whatever header a call of an earlier version has")
  func named() throws {
    let start = start(
      .call,
      headers: [
        HeaderField("redial-call-ID", "call_forged"), HeaderField("X", "1"), HeaderField("Redial-Attempt", "9"),
        HeaderField("REDIAL-ATTEMPT", "8"), HeaderField("traceparent", "00-a"), HeaderField("Traceparent", "00-b"),
      ])
    let fields = try fields(start)
    #expect(Set(fields.keys) == ["X", "Idempotency-Key", "Redial-Attempt", "traceparent"])
    #expect(fields["Idempotency-Key"] == start.call.id.description && fields["Redial-Attempt"] == "3")
    #expect(fields["traceparent"]?.contains(",") == false)
  }

  @Test("a call's attempt continues its client's trace")
  func trace() throws {
    let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    let fields = try fields(self.start(.call, headers: [HeaderField("Traceparent", given)]))
    #expect(fields["traceparent"] == nil)
    let trace = try #require(fields["Traceparent"])
    #expect(trace.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") && trace != given)
  }

  @Test("a webhook has id, time in whole seconds, signature and hops, and no fields of a call")
  func webhook() throws {
    let fields = try fields(start(.webhook, headers: [HeaderField("content-type", "application/json")]))
    #expect(
      Set(fields.keys) == ["content-type", "webhook-id", "webhook-timestamp", "webhook-signature", "Redial-Hops"])
    #expect(fields["webhook-timestamp"] == "1614265330")
    let secret = try #require(WebhookSecret(Self.text))
    let id = try #require(fields["webhook-id"])
    #expect(id.hasPrefix("msg_"))
    #expect(
      fields["webhook-signature"] == secret.signature(id: id, timestamp: 1_614_265_330, payload: Array("{}".utf8)))
  }

  @Test("each namespace has a secret of its own, and the default one that of the service")
  func namespaces() throws {
    let secret = try #require(WebhookSecret(Self.text))
    let (acme, other) = (try #require(Namespace("acme")), try #require(Namespace("acme-2")))
    #expect(secret.derived(for: .default).text == Self.text)
    let texts = [acme, other].map { secret.derived(for: $0).text }
    #expect(Set(texts + [Self.text]).count == 3)
    #expect(secret.derived(for: acme) == WebhookSecret(texts[0]), "what people are shown is what signs")
    let signed = try fields(start(.webhook, target: TargetKey("webhook:http://a", in: acme)))
    let id = try #require(signed["webhook-id"])
    func signature(_ secret: WebhookSecret) -> String {
      secret.signature(id: id, timestamp: 1_614_265_330, payload: Array("{}".utf8))
    }
    #expect(signed["webhook-signature"] == signature(secret.derived(for: acme)))
    #expect(signed["webhook-signature"] != signature(secret))
  }

  @Test("a delivery to a deleted endpoint has no signature, and is not sent")
  func gone() throws {
    let headers = AttemptHeaders(
      secret: WebhookSecret(Self.text), endpoints: WebhookEndpoints(limit: 1, disableAfter: .seconds(1)))
    let target: TargetKey = "\(WebhookSubscription.targetPrefix)\(WebhookSubscription.idPrefix)0000000000001"
    let start = start(.webhook, target: target)
    #expect(throws: HeadFault.endpointGone) { try headers.head(of: start, at: Timestamp(microseconds: 1)) }
    _ = try headers.head(of: self.start(.call, target: target), at: Timestamp(microseconds: 1))
    let result = AttemptResult(.endpointGone)
    #expect(result.outcome == .localFault && result.failure?.code == "webhookEndpointGone")
  }

  @Test("a callback without a secret is not sent unsigned, and a call is sent")
  func unsigned() throws {
    let headers = AttemptHeaders(secret: nil, endpoints: WebhookEndpoints(limit: 1, disableAfter: .seconds(1)))
    #expect(throws: HeadFault.noWebhookSecret) { try headers.head(of: start(.webhook), at: Timestamp(microseconds: 1)) }
    _ = try headers.head(of: start(.call), at: Timestamp(microseconds: 1))
  }

  @Test("an endpoint is read back from the store as it was, also one of an earlier build, and not without its secrets")
  func stored() throws {
    let (secret, acme) = (try #require(WebhookSecret(Self.text)), try #require(Namespace("acme")))
    let now = Timestamp(microseconds: 1_600_000_000_000_000)
    var endpoint = WebhookEndpoint(CallID(rawValue: 1), WebhookEndpointDraft(), in: acme, secret: secret, at: now)
    (endpoint.url, endpoint.failingSince) = ("http://h.example", now)
    endpoint.rotate(to: try #require(WebhookSecret.random()), overlap: .seconds(60), at: now)
    endpoint.disable(.gone, at: now)
    #expect(WebhookEndpoint(document: endpoint.document.content) == endpoint)
    let older = """
      {"id":"whe_1","url":"http://h.example","description":"","events":["call.failed"],"targets":[],\
      "createdAt":"2020-09-13T12:26:40.000Z","switches":1,"settledSwitches":1,\
      "secrets":[{"id":"1","secret":"\(Self.text)","createdAt":"2020-09-13T12:26:40.000Z"}]}
      """
    let read = try #require(WebhookEndpoint(document: Array(older.utf8)))
    #expect(read.createdAt == now && read.signing(at: now) == [secret] && read.namespace == .default && read.isEnabled)
    for (place, value) in [(Self.text, ""), ("whe_1", ""), (#""secrets""#, #""others""#), (#""secret":"#, #""text":"#)]
    {
      let damaged = older.replacing(place, with: value)
      #expect(damaged != older && WebhookEndpoint(document: Array(damaged.utf8)) == nil, "\(damaged)")
    }
  }
}
