public import RedialCore
internal import RedialText

/// Selects calls: those for which all given conditions hold.
public struct CallFilter: Sendable, Hashable {
  /// Only calls of this namespace; clients cannot set it.
  public var namespace = Namespace.default
  /// Only those of this kind.
  public var kind: CallKind
  /// Only those in one of these states; all of them when it is empty.
  public var states: Set<CallState>
  /// Only those of this target of the namespace, by its unqualified key.
  public var target: String?
  /// Only those that have all of these labels.
  public var labels: [CallSpec.Label]
  /// Only those that were accepted then or later, to the millisecond.
  public var createdAfter: Timestamp?
  /// Only those that were accepted earlier, to the millisecond.
  public var createdBefore: Timestamp?
  /// Only those of which at least so many attempts have begun.
  public var attempts: Int?
  /// Only those that wait for this, as they are shown.
  public var waitingOn: WaitReason?
  /// Only those that wait, and whose next attempt may begin earlier. The deadlines of calls are not considered.
  public var nextAttemptBefore: Timestamp?
  /// Only those whose last attempt was answered with one of these statuses.
  public var statuses: ClosedRange<Int>?
  /// Only those whose last attempt had this outcome.
  public var outcome: OutcomeClass?
  /// Only those that failed for this reason.
  public var failure: StopReason?
  /// Only those that failed and belong to this group.
  public var issue: IssueID?
  /// Only those whose URL, as it is shown, contains this text; ASCII letters match in either case.
  public var urlPart: String?
  /// Only the call that was accepted under this idempotency key, as its client sent it.
  public var idempotencyKey: String?
  /// Only those that had ended by then; only bulk operations set it.
  public var endedBy: Timestamp?

  /// Whether it has a condition besides the kind and the namespace.
  var hasConditions: Bool {
    var unconditional = CallFilter(kind: kind)
    unconditional.namespace = namespace
    return self != unconditional
  }

  /// Maximum number of labels in a filter.
  public static let maximumLabels = 8
  /// The maximum length of a part of a URL in a filter, in bytes.
  public static let longestURLPart = 2048
  /// The numbers of attempts that a filter may ask for.
  public static let attemptCounts = 1...1_000_000_000

  /// Creates a filter; without arguments, it selects all calls of clients.
  public init(
    kind: CallKind = .call, state: CallState? = nil, target: String? = nil, labels: [CallSpec.Label] = [],
    createdAfter: Timestamp? = nil, createdBefore: Timestamp? = nil, statuses: ClosedRange<Int>? = nil,
    outcome: OutcomeClass? = nil, failure: StopReason? = nil, endedBy: Timestamp? = nil
  ) {
    self.kind = kind
    states = state.map { [$0] } ?? []
    self.target = target
    self.labels = labels
    self.createdAfter = createdAfter
    self.createdBefore = createdBefore
    self.statuses = statuses
    self.outcome = outcome
    self.failure = failure
    self.endedBy = endedBy
  }

  /// Whether an index finds exactly these calls. Otherwise calls are examined.
  public var isIndexed: Bool { !readsRows && !looksUp }

  /// Whether the row of each call has to be read, in the order of an index.
  public var readsRows: Bool { attempts != nil || asksForWaits }

  /// Whether it depends on how targets stand.
  public var asksForWaits: Bool { waitingOn != nil || nextAttemptBefore != nil }

  /// Whether more of a call has to be looked up than its row.
  public var looksUp: Bool {
    statuses != nil || outcome != nil || failure != nil || endedBy != nil || urlPart != nil || idempotencyKey != nil
      || !labels.isEmpty
        && (labels.count > 1 || !states.isEmpty || asksForWaits || target != nil || kind != .call)
      || issue != nil && (target != nil || !labels.isEmpty)
  }

  /// The states in the store of the calls that it selects.
  public var storedStates: [StoredState] {
    StoredState.allCases.filter { state in
      (states.isEmpty || states.contains(state.visible)) && (!asksForWaits || state.visible == .scheduled)
        && (issue == nil || state == .failed)
    }
  }

  /// The condition that no call meets because of its states, if there is one.
  public var contradiction: String? {
    guard asksForWaits, !states.isEmpty, !states.contains(.scheduled) else { return nil }
    return waitingOn != nil ? "waitingOn" : "nextAttemptBefore"
  }

  /// The lowest id of a call that was accepted late enough.
  public var firstID: CallID { createdAfter.map(CallID.first) ?? CallID(rawValue: 0) }

  /// The lowest id of a call that was accepted too late.
  public var endID: CallID { createdBefore.map(CallID.first) ?? CallID(rawValue: .max) }

  /// Sets a condition from its text in a query.
  ///
  /// - Parameters:
  ///   - name: The condition's name; that of a label is `label`, and its text `NAME=VALUE`.
  ///   - now: From when durations count.
  /// - Returns: What is wrong with the text, as a clause; nil if the condition is set.
  public mutating func set(_ name: String, to text: String, at now: Timestamp) -> String? {
    switch name {
    case "kind":
      guard let kind = CallKind.allCases.first(where: { $0.name == text }) else { return "must be call or webhook" }
      self.kind = kind
    case "state":
      for word in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let state = CallState(rawValue: String(word)) else {
          return Self.oneOf(CallState.allCases.map(\.rawValue)) + ", or several, separated by commas"
        }
        states.insert(state)
      }
    case "target": target = text
    case "createdAfter", "createdBefore":
      guard let time = TimestampText.parse(text) else { return "must be an RFC 3339 time such as 2026-12-01T09:00:00Z" }
      if name == "createdAfter" { createdAfter = time } else { accept(before: time) }
    case "olderThan":
      guard let age = DurationText.parse(text) else { return "must be a duration such as 15m" }
      accept(before: Timestamp(microseconds: now.microseconds - age.wholeMicroseconds))
    case "waitingOn":
      guard let reason = WaitReason.allCases.first(where: { "\($0.name)" == text }) else {
        return Self.oneOf(WaitReason.allCases.map { "\($0.name)" })
      }
      waitingOn = reason
    case "nextAttemptBefore":
      guard let time = TimestampText.parse(text) ?? DurationText.parse(text).map({ now + $0 }) else {
        return "must be a time such as 2026-12-01T14:00:00Z, or a duration from now such as 10m"
      }
      nextAttemptBefore = time
    case "attempts":
      guard let least = Int(text), Self.attemptCounts.contains(least) else {
        return "must be a whole number from 1 to \(Self.attemptCounts.upperBound): at least so many attempts"
      }
      attempts = least
    case "status":
      guard let range = PolicyVocabulary.statusRange(text) else {
        return "must be a status from 100 to 999 or a range such as 500-599"
      }
      statuses = range
    case "outcome":
      guard let outcome = OutcomeClass.allCases.first(where: { "\($0.name)" == text }) else {
        return Self.oneOf(OutcomeClass.allCases.map { "\($0.name)" })
      }
      self.outcome = outcome
    case "failureReason":
      guard let failure = StopReason.allCases.first(where: { "\($0.name)" == text }) else {
        return Self.oneOf(StopReason.allCases.map { "\($0.name)" })
      }
      self.failure = failure
    case "issue":
      guard let issue = IssueID(text) else { return "must be the id of an issue, such as issue_0123456789ab01" }
      guard issue.failure != nil else {
        return "is of calls that are late; its filter names the target and what they wait for"
      }
      self.issue = issue
    case "url":
      guard (1...Self.longestURLPart).contains(text.utf8.count) else {
        return "must be a part of a URL, of 1 to \(Self.longestURLPart) bytes"
      }
      urlPart = text
    case "idempotencyKey":
      guard (1...IdempotencyKey.longest).contains(text.utf8.count) else {
        return "must be an idempotency key, of 1 to \(IdempotencyKey.longest) bytes"
      }
      idempotencyKey = text
    case "label":
      guard let label = CallSpec.Label(text) else { return CallSpec.Label.fault }
      return add(label)
    default: return "is not a condition"
    }
    return nil
  }

  /// The conditions that may be given once; those on labels are separate.
  public static let names = [
    "kind", "state", "target", "createdAfter", "createdBefore", "olderThan", "attempts", "waitingOn",
    "nextAttemptBefore", "status", "outcome", "failureReason", "issue", "url", "idempotencyKey",
  ]

  /// Of several times by which calls must have been accepted, the earliest counts.
  private mutating func accept(before time: Timestamp) { createdBefore = min(time, createdBefore ?? time) }

  /// Adds a label that calls must have. Returns what is wrong with it, as a clause.
  mutating func add(_ label: CallSpec.Label) -> String? {
    guard !label.name.isEmpty else { return "names no label" }
    // No call has such a label. In a list it would be another one.
    guard !label.name.contains("=") else { return "must have no = in its name: a label is written as NAME=VALUE" }
    if labels.contains(where: { $0.name == label.name }) { return "names the label \(label.name) twice" }
    guard labels.count < Self.maximumLabels else { return "is one label too many; \(Self.maximumLabels) may be given" }
    labels.append(label)
    return nil
  }

  private static func oneOf(_ words: [String]) -> String { "must be one of \(words.joined(separator: ", "))" }
}

extension CallID {
  /// The lowest id that a call accepted at a time, to the millisecond, can have.
  fileprivate static func first(at time: Timestamp) -> CallID {
    let milliseconds = min(max(0, time.microseconds), 8_796_093_022_206_000) / 1000
    return CallID(rawValue: milliseconds << 20)
  }
}
