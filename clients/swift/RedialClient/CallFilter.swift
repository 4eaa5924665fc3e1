public import Foundation
internal import RedialText

/// Which calls to list: those for which all conditions hold.
///
/// ```swift
/// let client = RedialClient(serviceURL)
/// let filter = CallFilter(state: [.failed], labels: ["team": "payments"], status: 500...599)
/// for try await call in client.calls(filter) { print(call.id, call.url) }
/// ```
///
/// The service finds state, a target, a label, an issue, times and an idempotency key by an index. It reads the row of each
/// call for `attempts`, `waitingOn` and `nextAttemptBefore`. For the other conditions, and for a label together with
/// others, it looks up call after call, and such a list takes longer.
public struct CallFilter: Sendable, Hashable {
  /// Only calls in one of these state; empty for all.
  public var state: [RedialCall.State]
  /// Only calls of this target.
  public var target: String?
  /// Only calls with all of these labels.
  public var labels: [String: String]
  /// Only calls that were accepted then or later. Sent to the microsecond.
  public var createdAfter: Date?
  /// Only calls that were accepted earlier. Sent to the microsecond.
  public var createdBefore: Date?
  /// Only calls that were accepted at least so long ago, by the clock of the service. Sent to the microsecond.
  public var olderThan: Duration?
  /// Only calls of which at least so many attempts have begun, 1 to 1,000,000,000.
  public var attempts: Int?
  /// Only calls that wait for this.
  public var waitingOn: RedialCall.WaitReason?
  /// Only waiting calls whose next attempt may begin earlier, as far as that is known. Sent to the microsecond.
  public var nextAttemptBefore: Date?
  /// Only calls whose last attempt had a response with one of these statuses, within 100...999.
  public var status: ClosedRange<Int>?
  /// Only calls whose last attempt had this outcome.
  public var outcome: RedialCallAttempt.Outcome?
  /// Only calls that failed for this reason.
  public var failureReason: RedialCall.FailureReason?
  /// Only failed calls of the issue with this id.
  public var issue: String?
  /// Only calls whose URL contains this text, in upper or lower case; 1 to 2048 bytes. Redacted values are not found.
  public var url: String?
  /// Only the call that was accepted under this key, while the service remembers the key.
  public var idempotencyKey: String?
  /// Calls of clients, or deliveries of webhooks; nil for calls of clients.
  public var kind: RedialCall.Kind?

  /// Creates a filter; omitted conditions hold for every call.
  public init(
    state: [RedialCall.State] = [], target: String? = nil, labels: [String: String] = [:], createdAfter: Date? = nil,
    createdBefore: Date? = nil, olderThan: Duration? = nil, attempts: Int? = nil,
    waitingOn: RedialCall.WaitReason? = nil, nextAttemptBefore: Date? = nil, status: ClosedRange<Int>? = nil,
    outcome: RedialCallAttempt.Outcome? = nil,
    failureReason: RedialCall.FailureReason? = nil, issue: String? = nil, url: String? = nil,
    idempotencyKey: String? = nil,
    kind: RedialCall.Kind? = nil
  ) {
    self.state = state
    self.target = target
    self.labels = labels
    self.createdAfter = createdAfter
    self.createdBefore = createdBefore
    self.olderThan = olderThan
    self.attempts = attempts
    self.waitingOn = waitingOn
    self.nextAttemptBefore = nextAttemptBefore
    self.status = status
    self.outcome = outcome
    self.failureReason = failureReason
    self.issue = issue
    self.url = url
    self.idempotencyKey = idempotencyKey
    self.kind = kind
  }

  /// The parameters of a list.
  ///
  /// - Throws: `UnsupportedByService` for a time that the service cannot read, or a label with a `=` in its name.
  func query() throws -> [(name: String, value: String)] {
    var query: [(name: String, value: String)] = []
    func add(_ name: String, _ value: String?) {
      if let value { query.append((name, value)) }
    }
    add("state", state.isEmpty ? nil : state.map(\.rawValue).joined(separator: ","))
    add("target", target)
    for (name, value) in labels.sorted(by: { $0.key < $1.key }) {
      // The service would read another label.
      guard !name.contains("=") else { throw UnsupportedByService("labels", "\(name) has a = in its name") }
      add("label", "\(name)=\(value)")
    }
    add("createdAfter", try createdAfter.map { try WireTime.text($0, part: "createdAfter") })
    add("createdBefore", try createdBefore.map { try WireTime.text($0, part: "createdBefore") })
    add("olderThan", olderThan.map(DurationText.format))
    add("attempts", attempts.map(String.init))
    add("waitingOn", waitingOn?.rawValue)
    add("nextAttemptBefore", try nextAttemptBefore.map { try WireTime.text($0, part: "nextAttemptBefore") })
    add("status", status.map(PolicyVocabulary.text))
    add("outcome", outcome?.rawValue)
    add("failureReason", failureReason?.rawValue)
    add("issue", issue)
    add("url", url)
    add("idempotencyKey", idempotencyKey)
    add("kind", kind?.rawValue)
    return query
  }
}
