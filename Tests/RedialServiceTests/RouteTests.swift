import HTTPServer
import RedialCore
import RedialEngine
import RedialModel
import RedialStore
import Testing

@testable import RedialService

@Suite("Routes")
struct RouteTests {
  static let id = CallID(rawValue: 1_790_000_000_000 << 20)

  static let routes: [(HTTPMethod, String, String)] = [
    (.post, "/v1/calls", "submit"), (.get, "/v1/calls", "list"), (.head, "/v1/calls", "list"),
    (.get, "/v1/calls/\(id)", "call(\(id))"), (.get, "/v1/calls/\(id)/attempts", "attempts(\(id))"),
    (.post, "/v1/calls/\(id)/cancel", "cancel(\(id))"), (.post, "/v1/calls/\(id)/retry", "retry(\(id))"),
    (.get, "/v1/targets", "targets"), (.get, "/v1/targets/a%2Fb", "target(a/b)"),
    (.put, "/v1/targets/a", "configure(a)"), (.post, "/v1/targets/a%2Fb/pause", "pause(a/b)"),
    (.post, "/v1/targets/a/resume", "resume(a)"), (.post, "/v1/targets/a/trip", "trip(a)"),
    (.post, "/v1/targets/a/reset", "reset(a)"), (.post, "/v1/targets/a/release", "release(a)"),
    (.get, "/v1/targets/a/pause", "only POST"), (.post, "/v1/targets/a/start", "nothing"), (.get, "/healthz", "health"),
    (.get, "/readyz", "readiness"), (.get, "/metrics", "metrics"), (.get, "/openapi.yaml", "contract"),
    (.post, "/v1/calls/batch", "batch"),
    (.post, "/v1/forward/https%3A%2F%2Fa%2Fb%2520c%3Fd", "forward(https://a/b%20c?d)"),
    (.put, "/v1/forward/http://a/b//c", "forward(http://a/b//c)"),
    (.get, "/", "dashboard"), (.post, "/v1/policies/preview", "preview"), (.post, "/v1/simulations", "simulate"),
    (.post, "/healthz", "only GET, HEAD"), (.put, "/v1/calls", "only POST, GET, HEAD"),
    (.get, "/v1/calls/\(id)/cancel", "only POST"), (.delete, "/v1/calls/\(id)", "only GET, HEAD"),
    (.get, "//", "nothing"), (.get, "/v1/calls/", "nothing"), (.get, "/v1/calls/call_1", "nothing"),
    (.get, "/v1/calls/\(id)/", "nothing"), (.get, "/v1/calls/\(id)/attempts/1", "nothing"),
    (.get, "/v1/targets/", "nothing"), (.get, "/v1/targets/%", "nothing"), (.get, "/v1/targets/%FF", "nothing"),
    (.delete, "/v1/calls/\(id)/content", "erase(\(id))"), (.get, "/v1/calls/\(id)/content", "only DELETE"),
    (.get, "/v1/policies", "policies"), (.get, "/v1/policies/a.b-c_D", "policy(a.b-c_D)"),
    (.put, "/v1/policies/a", "putPolicy(a)"), (.delete, "/v1/policies/a", "removePolicy(a)"),
    (.get, "/v1/policies/preview", "only POST"), (.get, "/v1/policies/a%40b", "nothing"),
    (.get, "/v1/policies/a/b", "nothing"), (.get, "/v1/policies/", "nothing"),
    (.get, "/v1/operations", "operations"), (.post, "/v1/operations", "beginOperation"),
    (.get, "/v1/operations/op_0000000000001", "operation(op_0000000000001)"),
    (.post, "/v1/operations/op_0000000000001/cancel", "cancelOperation(op_0000000000001)"),
    (.get, "/v1/operations/call_0000000000001", "nothing"), (.get, "/v1/operations/op_1", "nothing"),
    (.get, "//v1/calls", "nothing"), (.options, "*", "nothing"),
    (.get, "/v1/webhook-secret", "webhookSecret"), (.post, "/v1/webhook-secret", "only GET, HEAD"),
  ]

  @Test("each method and path leads where it should", arguments: routes)
  func route(method: HTTPMethod, path: String, expected: String) {
    #expect(Route(method, path).words == expected)
  }

  @Test(
    "percent-encoding is undone, and what is none is refused",
    arguments: [
      ("plain", "plain"), ("a%20b", "a b"), ("%e2%82%AC", "€"), ("+", "+"), ("%", nil), ("%2", nil), ("%zz", nil),
      ("%ff", nil), ("%00", "\0"), ("", ""),
    ])
  func percent(text: String, expected: String?) {
    #expect(PercentEncoding.decode(text[...]) == expected)
  }

  @Test("a list takes state, target, kind, limit and cursor")
  func query() throws {
    let query = try CallQuery(parameters: "state=failed&target=http%3A%2F%2Fa&kind=webhook&limit=7&cursor=\(Self.id)")
    #expect(query.filter.states == [.failed])
    #expect(query.filter.target == "http://a")
    #expect(query.filter.kind == .webhook)
    #expect(query.limit == 7)
    #expect(query.before == Self.id)
  }

  @Test("a list takes labels, times, and how the last attempt came out")
  func conditions() throws {
    let filter = try CallQuery(
      parameters: "label=team:a%3Ab&label.x=&createdAfter=2026-12-01T09:00:00Z&createdBefore=2026-12-02T09:00:00Z"
        + "&status=500-599&outcome=answered&failureReason=tripped"
    ).filter
    #expect(Set(filter.labels) == [.init(name: "team", value: "a:b"), .init(name: "x", value: "")])
    #expect(filter.createdAfter == TimestampText.parse("2026-12-01T09:00:00Z"))
    #expect(filter.createdBefore == TimestampText.parse("2026-12-02T09:00:00Z"))
    for query in ["state=failed,cancelled", "state=failed&state=cancelled", "state=cancelled%2Cfailed"] {
      #expect(try CallQuery(parameters: query).filter.states == [.failed, .cancelled])
    }
    let other = try CallQuery(parameters: "url=charges%3Fa&idempotencyKey=order-7").filter
    #expect(other.urlPart == "charges?a" && other.idempotencyKey == "order-7" && !other.isIndexed)
    #expect(filter.statuses == 500...599 && filter.outcome == .answered && filter.failure == .tripped)
  }

  @Test(
    "a parameter that is unknown, repeated or out of range is a problem that names it",
    arguments: [
      ("state=done", "state"), ("state=failed,", "state"), ("url=", "url"), ("idempotencyKey=", "idempotencyKey"),
      ("limit=0", "limit"), ("limit=251", "limit"), ("limit=x", "limit"),
      ("cursor=abc", "cursor"), ("stat=failed", "stat"), ("limit=1&limit=2", "limit"), ("kind=x", "kind"),
      ("a=%", "a=%"), ("limit", "limit"),
      ("status=99", "status"), ("outcome=good", "outcome"), ("failureReason=no", "failureReason"), ("label=a", "label"),
      ("createdAfter=today", "createdAfter"), ("label.=a", "label."), ("label.a=b&label=a:c", "label.a"),
    ])
  func badQuery(query: String, name: String) {
    let problem = #expect(throws: Problem.self) { try CallQuery(parameters: query) }
    #expect(problem?.status == 400)
    #expect(problem?.code == "invalidParameter")
    #expect(problem?.errors.map(\.pointer) == [name])
  }
}

extension Route {
  fileprivate var words: String {
    switch self {
    case .submit: "submit"
    case .submitBatch: "batch"
    case .forward(let url): "forward(\(url))"
    case .list: "list"
    case .call(let id): "call(\(id))"
    case .attempts(let id): "attempts(\(id))"
    case .statistics: "statistics"
    case .replay(let id): "replay(\(id))"
    case .command(.cancel, let id): "cancel(\(id))"
    case .command(.retry, let id): "retry(\(id))"
    case .command(.erase, let id): "erase(\(id))"
    case .command(.purge, let id): "purge(\(id))"
    case .policies: "policies"
    case .policy(let name): "policy(\(name))"
    case .putPolicy(let name): "putPolicy(\(name))"
    case .removePolicy(let name): "removePolicy(\(name))"
    case .operations: "operations"
    case .beginOperation: "beginOperation"
    case .operation(let id): "operation(\(id))"
    case .cancelOperation(let id): "cancelOperation(\(id))"
    case .targets: "targets"
    case .target(let key): "target(\(key))"
    case .events: "events"
    case .webhooks(let route): "webhooks \(route)"
    case .keys(let route): "keys \(route)"
    case .webhookSecret: "webhookSecret"
    case .preview: "preview"
    case .simulate: "simulate"
    case .configure(let key): "configure(\(key))"
    case .control(let kind, let key): "\(kind)(\(key))"
    case .health: "health"
    case .readiness: "readiness"
    case .metrics: "metrics"
    case .contract: "contract"
    case .dashboard: "dashboard"
    case .wrongMethod(let allowed): "only \(allowed)"
    case .notFound: "nothing"
    }
  }
}
