/// A kind of id. Answers and commands refuse a text that is not one in the same words.
public enum NamedID: String, Sendable {
  case call = "a call"
  case operation = "an operation"
  case issue = "an issue"

  private var example: String {
    switch self {
    case .call: "call_01ARZ3NDEKTSV"
    case .operation: "op_0CW4Z3NDEKTSV"
    case .issue: "issue_0123456789ab01"
    }
  }

  /// Says that a text is no such id.
  public func refusal(of text: some StringProtocol) -> String {
    "\"\(text)\" is not the id of \(rawValue); ids look like \(example)."
  }
}
