package import RedialCore
package import RedialModel

/// Calls for tests, with as few arguments as the test needs.
package enum Sample {
  package static let start = Timestamp(microseconds: 1_790_000_000_123_456)

  package static func time(_ seconds: Int) -> Timestamp { start + .seconds(seconds) }

  /// The policy of the calls.
  package static let policy = RetryPolicy(maxAttempts: 25, deadline: .seconds(900), onTrip: .wait)

  package static func id(_ number: Int) -> CallID {
    CallID(rawValue: (start.microseconds / 1000) << 20 + Int64(number))
  }

  package static func spec(
    target: TargetKey = "https://example.com", callback: Callback? = nil, priority: Int = CallSpec.defaultPriority,
    orderingKey: String? = nil, labels: [CallSpec.Label] = []
  ) -> CallSpec {
    CallSpec(
      url: "https://example.com/charges", method: "POST", headers: [HeaderField("content-type", "text/plain")],
      target: target, policy: policy, captureLimit: 65_536
    ) {
      $0.labels = labels
      $0.callback = callback
      $0.priority = priority
      $0.orderingKey = orderingKey
    }
  }

  package static func call(
    _ number: Int, _ state: StoredState = .scheduled, due: Timestamp = start, target: TargetKey = "https://example.com",
    kind: CallKind = .call, callback: Callback? = nil, body: [UInt8] = Array("hello".utf8),
    priority: Int = CallSpec.defaultPriority, orderingKey: String? = nil, labels: [CallSpec.Label] = []
  ) -> CallRecord {
    CallRecord(
      id: id(number), kind: kind,
      spec: spec(target: target, callback: callback, priority: priority, orderingKey: orderingKey, labels: labels),
      body: body,
      createdAt: start,
      progress: CallProgress(
        state: state, due: due,
        waits: WaitHistory(previous: .milliseconds(700), total: .seconds(2 + number)), roundStartedAt: start,
        finishedAt: state.isFinal ? time(60) : nil,
        failure: state == .failed ? .notRetryable : nil))
  }

  package static func attempt(_ number: Int, body: [UInt8]? = nil) -> AttemptRecord {
    var figures = ExchangeFigures(phase: .response)
    (figures.connected, figures.remoteAddress, figures.version) = (number, IPAddress(canonical: "::1"), .http11)
    var held = HeldTimes(before: .ordering)
    held.add(.pace, .milliseconds(1500))
    return AttemptRecord(
      number: number, startedAt: time(number), duration: .microseconds(12_345), outcome: .answered, status: 503,
      decision: AttemptDecision(.retry(after: .seconds(1)), held: held),
      response: CapturedResponse(
        head: HeaderBlock(bytes: Array("retry-after: 3\r\n".utf8)), body: body ?? [UInt8(number)], truncated: false),
      figures: figures)
  }
}

/// All comparable parts of a call, so that a failed expectation shows the difference.
package struct ComparableCall: Equatable {
  package var id: CallID
  package var kind: CallKind
  package var createdAt: Timestamp
  package var body: [UInt8]
  package var progress: CallProgress
  package var history: [AttemptRecord]
  package var url: String
  package var method: String
  package var headers: [HeaderField]
  package var target: TargetKey
  package var policy: RetryPolicy
  package var idempotent: Bool
  package var labels: [CallSpec.Label]
  package var callback: Callback?
  package var captureLimit: Int
  package var priority: Int
  package var orderingKey: String?

  init(_ call: CallRecord) {
    id = call.id
    kind = call.kind
    createdAt = call.createdAt
    body = call.body
    progress = call.progress
    history = call.history
    url = call.spec.url
    method = call.spec.method
    headers = call.spec.headers
    target = call.spec.target
    policy = call.spec.policy
    idempotent = call.spec.idempotent
    labels = call.spec.labels
    callback = call.spec.callback
    captureLimit = call.spec.captureLimit
    priority = call.spec.priority
    orderingKey = call.spec.orderingKey
  }
}

extension ComparableCall {
  /// As a look-up returns it: a large body stays in the store, and is read in pieces.
  package var shown: Self {
    var shown = self
    if body.count > 32 << 10 { shown.body = [] }
    return shown
  }
}
