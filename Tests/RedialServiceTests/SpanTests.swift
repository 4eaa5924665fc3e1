import RedialCore
import RedialModel
import Testing

@testable import RedialService

@Suite("Spans")
struct SpanTests {
  private let call = CallID(rawValue: 1_234_567)

  private func spec(_ url: String = "https://api.example.com/a?key=hush", method: String = "GET") -> CallOutline {
    CallOutline(
      CallSpec(url: url, method: method, headers: [], target: "t", policy: .service, captureLimit: 0))
  }

  private func progress(_ state: StoredState, attempts: Int, before: Int = 0) -> CallProgress {
    CallProgress(
      state: state, due: .epoch, attempts: attempts, attemptsBefore: before,
      roundStartedAt: Timestamp(microseconds: 2_000_000), finishedAt: Timestamp(microseconds: 5_000_000),
      failure: state == .failed ? .attemptsExhausted : nil)
  }

  @Test("a retried call has a span for each round, the parent of that round's attempts")
  func rounds() {
    let context = TraceContext(of: call, given: nil, sampling: TraceSampling(share: 1))
    let (first, second) = (progress(.failed, attempts: 2), progress(.succeeded, attempts: 3, before: 2))
    let spans = [first, second].map { Span(of: call, spec(), $0, createdAt: .epoch, context) }
    #expect(spans[0].id != spans[1].id && spans[0].trace == spans[1].trace)
    #expect(spans[0].start == .epoch && spans[1].start == second.roundStartedAt)
    #expect(spans[0].error == "attemptsExhausted" && spans[1].error == nil)
    let attempt = AttemptRecord(
      number: 3, startedAt: Timestamp(microseconds: 3_000_000), duration: .milliseconds(5), outcome: .answered,
      status: 200)
    let span = Span(of: attempt, call, spec(), second, context, Redaction())
    #expect(span.parent == spans[1].id && span.end == Timestamp(microseconds: 3_005_000))
    #expect(span.id == TraceContext.span(of: call, attempt: 3))
    #expect(TraceContext.field(of: call, attempt: 3, given: nil).contains("-\(String(span.id, radix: 16))-"))
    #expect(span.attributes.contains(Span.Attribute("url.full", "https://api.example.com/a?key=REDACTED")))
    #expect(span.attributes.contains(Span.Attribute("http.request.resend_count", 2)))
  }

  @Test("an unknown method has OpenTelemetry's common name, and a redirect is not an error")
  func methods() {
    let context = TraceContext(of: call, given: nil)
    let attempt = AttemptRecord(number: 1, startedAt: .epoch, duration: .zero, outcome: .answered, status: 302)
    let span = Span(
      of: attempt, call, spec(method: "BREW"), progress(.succeeded, attempts: 1), context, Redaction())
    #expect(span.name == "HTTP" && span.error == nil)
    #expect(span.attributes.contains(Span.Attribute("http.request.method", "_OTHER")))
    #expect(span.attributes.contains(Span.Attribute("http.request.method_original", "BREW")))
    #expect(!span.attributes.contains { $0.name == "http.request.resend_count" })
  }

  @Test(
    "host and port are those of the origin",
    arguments: [
      ("http://Example.com/a:b", "example.com", 80), ("https://example.com?x=1:2", "example.com", 443),
      ("https://example.com:8443/", "example.com", 8443), ("http://[::1]:9/", "::1", 9),
      ("http://[2001:db8::1]/", "2001:db8::1", 80),
    ])
  func server(_ url: String, _ host: String, _ port: Int) {
    let address = ServerAddress(url: url)
    #expect(address.host == host && address.port == port)
  }

  @Test("a share of the traces is recorded, by their ids")
  func sampling() {
    let traces = (1...4000).map { TraceContext(of: CallID(rawValue: $0), given: nil).trace }
    for (share, range) in [(0.0, 0...0), (0.25, 850...1150), (1.0, 4000...4000)] {
      let sampling = TraceSampling(share: share)
      #expect(range.contains(traces.count { sampling.takes($0) }), "\(share)")
      // The same again.
      #expect(traces.count { TraceSampling(share: share).takes($0) } == traces.count { sampling.takes($0) })
    }
  }

  @Test("header fields are read in the form of the standard variable")
  func headers() {
    #expect(SpanSettings.headers("") == [])
    #expect(
      SpanSettings.headers("api-key=a%20b%2C, x=1=2") == [HeaderField("api-key", "a b,"), HeaderField("x", "1=2")])
    for text in ["x", "=1", "a=%0a", "a=%zz", "a:b=1"] { #expect(SpanSettings.headers(text) == nil, "\(text)") }
  }

  @Test("the path is added to a base and not twice")
  func url() {
    var settings = SpanSettings()
    #expect(settings.url == nil)
    for endpoint in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces"] {
      settings.endpoint = endpoint
      #expect(settings.url == "http://c:4318/v1/traces")
    }
  }

  @Test(
    "the number of refused spans is read from the collector's answer",
    arguments: [
      ("", 0), ("{}", 0), ("{\"partialSuccess\":{}}", 0), ("{\"partialSuccess\":{\"rejectedSpans\":\"7\"}}", 7),
      ("{\"x\":1,\"partialSuccess\":{\"errorMessage\":\"m\",\"rejectedSpans\":7}}", 7), ("no JSON", 0),
    ])
  func rejected(_ answer: String, _ count: Int) {
    #expect(SpanExporter.rejected(Array(answer.utf8)) == count)
  }

  @Test("the policy repeats what the protocol wants repeated, and nothing else")
  func policy() {
    var random = RandomSource(seed: 1)
    for status in [200, 400, 401, 404, 408, 413, 429, 500, 502, 503, 504] {
      let end = AttemptEnd(outcome: .answered, status: status, attempts: 1, startedAt: .epoch)
      let action = SpanExporter.policy.decide(end, at: .epoch, using: &random).action
      if case .retry = action {
        #expect([429, 502, 503, 504].contains(status))
      } else {
        #expect(![429, 502, 503, 504].contains(status))
      }
    }
    let asked = AttemptEnd(
      outcome: .answered, status: 429, retryAfter: .seconds(30), attempts: 1, startedAt: .epoch)
    guard case .retry(let wait) = SpanExporter.policy.decide(asked, at: .epoch, using: &random).action else {
      Issue.record("it gives up")
      return
    }
    #expect(wait >= .seconds(30))
  }
}
