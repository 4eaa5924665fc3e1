import RedialCore
import RedialModel
import RedialText

/// What the value of an option or an operand is, as far as its values are known: by the service, or by the contract.
enum ValueKind: Sendable, Equatable {
  // Known by the service.
  case target
  case call
  case policy
  case apiKey
  case webhook
  case delivery
  case operation
  case issue
  case alert
  case credential
  case namespace
  // Known by the contract.
  case callState
  case outcome
  case failureReason
  case waitReason
  case callKind
  case eventType
  case webhookEvent
  case scope
  case bulkAction
  case issueState
  case issueKind
  case words([String])

  /// A kind with the words of a form such as `true or false`; nil for any other form.
  init?(form: String) {
    var words: [String] = []
    let parts = form.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    for (index, word) in parts.enumerated() {
      if index % 2 == 1 {
        guard word == "or" else { return nil }
      } else {
        guard Self.isWord(word) || Self.isVersion(word) else { return nil }
        words.append(word)
      }
    }
    guard words.count > 1, parts.count % 2 == 1 else { return nil }
    self = .words(words)
  }

  /// Such as `json`, but not a placeholder such as `PATH`.
  private static func isWord(_ text: String) -> Bool {
    guard let first = text.utf8.first, (0x61...0x7A).contains(first) else { return false }
    return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || $0 == 0x2D }
  }

  /// Such as `1.2`.
  private static func isVersion(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Whether several values can be given, with commas between them.
  var isList: Bool {
    switch self {
    case .callState, .eventType, .webhookEvent, .scope, .issueState, .issueKind: true
    default: false
    }
  }

  /// The values; nil if only the service knows them.
  var words: [String]? {
    switch self {
    case .target, .call, .policy, .apiKey, .webhook, .delivery, .operation, .issue, .alert, .credential, .namespace:
      nil
    case .callState: CallState.allCases.map(\.rawValue)
    case .outcome: OutcomeClass.allCases.map { "\($0.name)" }
    case .waitReason: WaitReason.allCases.map { "\($0.name)" }
    case .failureReason: StopReason.allCases.map { "\($0.name)" }
    case .callKind: CallKind.allCases.map(\.name)
    case .eventType: EventType.streamed.map(\.rawValue)
    case .webhookEvent: EventType.subscribable.map(\.rawValue)
    case .scope: APIScope.allCases.map(\.rawValue)
    case .bulkAction: BulkOperation.Action.allCases.map(\.name)
    case .issueState: CallIssue.State.allCases.map(\.rawValue)
    case .issueKind: IssueKind.allCases.map(\.rawValue)
    case .words(let words): words
    }
  }

  /// The path of the API that lists the values; nil if the contract knows them.
  ///
  /// - Parameter prefix: What has been typed of the value.
  func path(prefix: String) -> String? {
    switch self {
    // Sorted by key, and the cursor is one: so those that begin with the prefix come first.
    case .target: "/v1/targets?limit=250" + (prefix.isEmpty ? "" : "&cursor=" + PercentCoding.encode(prefix))
    case .call: "/v1/calls?limit=100"
    case .delivery: "/v1/calls?kind=webhook&limit=100"
    case .policy: "/v1/policies"
    case .apiKey, .namespace: "/v1/keys"
    case .webhook: "/v1/webhook-endpoints"
    case .operation: "/v1/operations"
    case .issue: "/v1/issues?limit=100"
    case .alert: "/v1/alerts"
    case .credential: "/v1/credentials"
    default: nil
    }
  }

  /// The values that an answer of the service has, each with what it is, for people.
  func values(in answer: JSONValue) -> [CompletedValue] {
    let all = answer["data"].elements
    switch self {
    case .target: return all.compactMap { CompletedValue($0["key"].text, $0["state"].text) }
    case .call, .delivery:
      return all.compactMap {
        CompletedValue($0["id"].text, [$0["state"], $0["method"], $0["url"]].compactMap(\.text).joined(separator: " "))
      }
    case .policy: return all.compactMap { CompletedValue($0["name"].text, nil) }
    // The list has ids and names, and never a key itself.
    case .apiKey:
      return all.compactMap { $0["revokedAt"].text == nil ? CompletedValue($0["id"].text, $0["name"].text) : nil }
    case .namespace:
      let names = Set(all.compactMap { $0["namespace"].text })
      return names.sorted().compactMap { CompletedValue($0, nil) }
    case .webhook: return all.compactMap { CompletedValue($0["id"].text, $0["url"].text) }
    case .operation:
      return all.compactMap {
        CompletedValue($0["id"].text, [$0["action"], $0["state"]].compactMap(\.text).joined(separator: ", "))
      }
    case .issue:
      return all.compactMap {
        CompletedValue($0["id"].text, [$0["target"], $0["error"]].compactMap(\.text).joined(separator: ": "))
      }
    case .alert: return all.compactMap { CompletedValue($0["name"].text, nil) }
    case .credential: return all.compactMap { CompletedValue($0["name"].text, $0["type"].text) }
    default: return []
    }
  }
}

/// A value that a shell offers.
struct CompletedValue: Sendable, Equatable {
  var text: String
  /// What it is, for shells that show that.
  var description: String

  /// - Returns: Nil for no value, and for one that a shell could not show on one line.
  init?(_ text: String?, _ description: String?) {
    guard let text, !text.isEmpty, !PlainText.needsEscapes(text) else { return nil }
    self.text = text
    self.description = PlainText.escaped(description ?? "")
  }
}
