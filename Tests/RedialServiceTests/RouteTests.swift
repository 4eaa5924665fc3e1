import HTTPServer
import RedialCore
import RedialEngine
import RedialModel
import RedialStore
import RedialText
import Testing

@testable import RedialService

@Suite("Routes")
struct RouteTests {
  static let id = CallID(rawValue: 1_790_000_000_000 << 20)

  /// By method and path, the path of the route and the parts that it leaves open.
  static let routes: [(HTTPMethod, String, String)] = [
    (.post, "/v1/calls", "POST /v1/calls"), (.get, "/v1/calls", "GET /v1/calls"), (.head, "/v1/calls", "GET /v1/calls"),
    (.get, "/v1/calls/a", "GET /v1/calls/{id} a"), (.get, "/v1/calls/a/attempts", "GET /v1/calls/{id}/attempts a"),
    (.post, "/v1/calls/a/cancel", "POST /v1/calls/{id}/cancel a"),
    (.post, "/v1/calls/a/retry", "POST /v1/calls/{id}/retry a"),
    (.post, "/v1/calls/a/replay", "POST /v1/calls/{id}/replay a"),
    (.delete, "/v1/calls/a/content", "DELETE /v1/calls/{id}/content a"),
    (.get, "/v1/targets", "GET /v1/targets"), (.get, "/v1/targets/a%2Fb", "GET /v1/targets/{key} a%2Fb"),
    (.put, "/v1/targets/a", "PUT /v1/targets/{key} a"), (.patch, "/v1/targets/a", "PATCH /v1/targets/{key} a"),
    (.post, "/v1/targets/a", "only GET, HEAD, PUT, PATCH"),
    (.post, "/v1/targets/a%2Fb/pause", "POST /v1/targets/{key}/pause a%2Fb"),
    (.post, "/v1/targets/a/resume", "POST /v1/targets/{key}/resume a"),
    (.post, "/v1/targets/a/trip", "POST /v1/targets/{key}/trip a"),
    (.post, "/v1/targets/a/reset", "POST /v1/targets/{key}/reset a"),
    (.post, "/v1/targets/a/release", "POST /v1/targets/{key}/release a"),
    (.get, "/v1/targets/a/pause", "only POST"), (.post, "/v1/targets/a/start", "nothing"),
    (.get, "/healthz", "GET /healthz"), (.get, "/readyz", "GET /readyz"), (.get, "/metrics", "GET /metrics"),
    (.get, "/openapi.yaml", "GET /openapi.yaml"), (.get, "/llms.txt", "GET /llms.txt"),
    (.get, "/v1/statistics", "GET /v1/statistics"),
    (.post, "/v1/calls/batch", "POST /v1/calls/batch"), (.get, "/v1/calls/batch", "only POST"),
    (.patch, "/v1/forward/https%3A%2F%2Fa%2Fb%2520c%3Fd", "* /v1/forward/* https%3A%2F%2Fa%2Fb%2520c%3Fd"),
    (.put, "/v1/forward/http://a/b//c", "* /v1/forward/* http://a/b//c"),
    (.get, "/", "GET /"), (.post, "/v1/policies/preview", "POST /v1/policies/preview"),
    (.get, "/v1/events", "GET /v1/events"),
    (.post, "/healthz", "only GET, HEAD"), (.put, "/v1/calls", "only POST, GET, HEAD"),
    (.get, "/v1/calls/a/cancel", "only POST"), (.delete, "/v1/calls/a", "only GET, HEAD"),
    (.get, "/v1/calls/a/content", "only DELETE"),
    (.get, "//", "nothing"), (.get, "/v1/calls/", "GET /v1/calls/{id} "),
    (.get, "/v1/calls/a/", "nothing"), (.get, "/v1/calls/a/attempts/1", "nothing"),
    (.get, "/v1/policies", "GET /v1/policies"), (.get, "/v1/policies/a.b-c_D", "GET /v1/policies/{name} a.b-c_D"),
    (.put, "/v1/policies/a", "PUT /v1/policies/{name} a"), (.delete, "/v1/policies/a", "DELETE /v1/policies/{name} a"),
    (.get, "/v1/policies/preview", "only POST"), (.get, "/v1/policies/a/b", "nothing"),
    (.get, "/v1/operations", "GET /v1/operations"), (.post, "/v1/operations", "POST /v1/operations"),
    (.get, "/v1/operations/a", "GET /v1/operations/{id} a"),
    (.post, "/v1/operations/a/cancel", "POST /v1/operations/{id}/cancel a"),
    (.get, "//v1/calls", "nothing"), (.options, "*", "nothing"), (.get, "v1/calls", "nothing"),
    (.get, "/v1/webhook-secret", "GET /v1/webhook-secret"), (.post, "/v1/webhook-secret", "only GET, HEAD"),
    (.put, "/v1/webhook-endpoints", "only GET, HEAD, POST"),
    (.post, "/v1/webhook-endpoints/a/rotate-secret", "POST /v1/webhook-endpoints/{id}/rotate-secret a"),
    (.get, "/v1/webhook-endpoints/a/deliveries", "GET /v1/webhook-endpoints/{id}/deliveries a"),
    (.get, "/v1/keys", "GET /v1/keys"), (.delete, "/v1/keys/a", "DELETE /v1/keys/{id} a"),
  ]

  /// The router of a service with its default settings.
  static let router: Router = {
    do {
      let (settings, keys) = (ServiceSettings(), KeyRing(adminKey: nil))
      guard let secret = WebhookSecret.random() else { preconditionFailure("no random bytes") }
      let runtime = try Runtime(
        settings: settings, store: RecordingStore(), reader: EmptyReader(), secret: secret,
        endpoints: WebhookEndpoints(limit: 1, disableAfter: .seconds(1)),
        credentials: NamedCredentials(), log: Log(format: .text, level: .error))
      defer { runtime.abandon() }
      return Service.api(
        settings, runtime, keys, settings.descriptorLimits, StoredPolicies(limit: 1, maxVersions: 1),
        BulkRunner(BulkRunner.Surroundings(runtime, limits: settings.descriptorLimits))
      ).router
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  @Test("each method and path leads where it should", arguments: routes)
  func route(method: HTTPMethod, path: String, expected: String) {
    #expect(Self.router.match(method, path).words == expected)
  }

  @Test("what a path must name is checked: ids, targets and policies, each with a problem that says how it looks")
  func parts() throws {
    #expect(try Exchange.call(in: "\(Self.id)") == Self.id)
    #expect(try Exchange.operation(in: "op_0000000000001").description == "op_0000000000001")
    #expect(try Exchange.target(in: "a%2Fb") == "a/b")
    #expect(try Exchange.policy(in: "a.b-c_D") == "a.b-c_D")
    for text in ["call_1", "", "op_0000000000001"] {
      #expect(throws: Problem.self) { try Exchange.call(in: text[...]) }
    }
    for text in ["op_1", "call_0000000000001"] {
      #expect(throws: Problem.self) { try Exchange.operation(in: text[...]) }
    }
    for text in ["", "%", "%FF"] { #expect(throws: Problem.self) { try Exchange.target(in: text[...]) } }
    for text in ["", "a%40b", "%"] { #expect(throws: Problem.self) { try Exchange.policy(in: text[...]) } }
    let problem = #expect(throws: Problem.self) { try Exchange.call(in: "call_1") }
    #expect(problem?.status == 404 && problem?.detail.contains("call_01ARZ3NDEKTSV") == true)
  }

  private static let now = TimestampText.parse("2026-12-01T09:00:00Z") ?? .epoch

  @Test("a list takes state, target, kind, limit and cursor")
  func query() throws {
    let query = try CallQuery(
      parameters: "state=failed&target=http%3A%2F%2Fa&kind=webhook&limit=7&cursor=\(Self.id)", at: Self.now)
    #expect(query.filter.states == [.failed])
    #expect(query.filter.target == "http://a")
    #expect(query.filter.kind == .webhook)
    #expect(query.limit == 7)
    #expect(query.before == Self.id)
  }

  @Test("a list takes labels, times, and how the last attempt came out")
  func conditions() throws {
    let filter = try CallQuery(
      parameters: "label=team=a%3Ab&label=x=&createdAfter=2026-12-01T09:00:00Z&createdBefore=2026-12-02T09:00:00Z"
        + "&status=500-599&outcome=answered&failureReason=tripped", at: Self.now
    ).filter
    #expect(Set(filter.labels) == [.init(name: "team", value: "a:b"), .init(name: "x", value: "")])
    #expect(filter.createdAfter == TimestampText.parse("2026-12-01T09:00:00Z"))
    #expect(filter.createdBefore == TimestampText.parse("2026-12-02T09:00:00Z"))
    for query in ["state=failed,cancelled", "state=failed&state=cancelled", "state=cancelled%2Cfailed"] {
      #expect(try CallQuery(parameters: query, at: Self.now).filter.states == [.failed, .cancelled])
    }
    let other = try CallQuery(parameters: "url=charges%3Fa&idempotencyKey=order-7", at: Self.now).filter
    #expect(other.urlPart == "charges?a" && other.idempotencyKey == "order-7" && !other.isIndexed)
    #expect(filter.statuses == 500...599 && filter.outcome == .answered && filter.failure == .tripped)
  }

  @Test("a list takes ages and numbers of attempts, and counts ages from now")
  func ages() throws {
    func filter(_ query: String) throws -> CallFilter { try CallQuery(parameters: query, at: Self.now).filter }
    #expect(try filter("olderThan=15m") == CallFilter(createdBefore: Self.now + .seconds(-900)))
    // The earliest of several times counts, in whatever order they come.
    #expect(try filter("olderThan=1h&createdBefore=2026-12-01T08:30:00Z").createdBefore == Self.now + .seconds(-3600))
    #expect(try filter("createdBefore=2026-12-01T07:00:00Z&olderThan=1h").createdBefore == Self.now + .seconds(-7200))
    let tried = try filter("attempts=3")
    #expect(try filter("waitingOn=breaker").waitingOn == .breaker)
    #expect(try filter("nextAttemptBefore=10m").nextAttemptBefore == Self.now + .seconds(600))
    #expect(try filter("nextAttemptBefore=2026-12-01T12:00:00+02:00").nextAttemptBefore == Self.now + .seconds(3600))
    #expect(try filter("waitingOn=pace&state=failed,scheduled").storedStates == [.scheduled, .queued, .held])
    #expect(tried.attempts == 3 && !tried.isIndexed && tried.readsRows && !tried.looksUp)
  }

  @Test(
    "a parameter that is unknown, repeated or out of range is a problem that names it",
    arguments: [
      ("state=done", "state"), ("state=failed,", "state"), ("url=", "url"), ("idempotencyKey=", "idempotencyKey"),
      ("limit=0", "limit"), ("limit=251", "limit"), ("limit=x", "limit"),
      ("cursor=abc", "cursor"), ("stat=failed", "stat"), ("limit=1&limit=2", "limit"), ("kind=x", "kind"),
      ("a=%", "a"), ("%=a", "%"), ("limit", "limit"),
      ("status=99", "status"), ("outcome=good", "outcome"), ("failureReason=no", "failureReason"), ("label=a", "label"),
      ("createdAfter=today", "createdAfter"), ("label.=a", "label."), ("attempts=0", "attempts"),
      ("attempts=x", "attempts"), ("olderThan=2026-12-01T09:00:00Z", "olderThan"), ("olderThan=-1m", "olderThan"),
      ("waitingOn=nothing", "waitingOn"), ("nextAttemptBefore=soon", "nextAttemptBefore"),
      ("waitingOn=breaker&state=failed", "waitingOn"), ("nextAttemptBefore=5m&state=running", "nextAttemptBefore"),
      ("label=a=b&label=a=c", "label"), ("label==a", "label"), ("label.a=b", "label.a"),
    ])
  func badQuery(query: String, name: String) {
    let problem = #expect(throws: Problem.self) { try CallQuery(parameters: query, at: Self.now) }
    #expect(problem?.status == 400)
    #expect(problem?.code == .invalidParameter)
    #expect(problem?.errors.map(\.parameter) == [name])
  }
}

extension Router.Match {
  fileprivate var words: String {
    switch self {
    case .found(let route, let parts):
      (["\(route.method?.text ?? "*") \(route.path)"] + parts.map(String.init)).joined(separator: " ")
    case .wrongMethod(let allowed): "only \(allowed)"
    case .notFound: "nothing"
    }
  }
}
