import RedialModel

/// Calls and attempts as lines for people.
enum CallText {
  /// One attempt: number, result, duration, decision.
  ///
  /// - Parameter call: The call, for its last attempt. If it has ended, for example by a cancel, no next attempt is
  ///   announced.
  static func line(_ attempt: JSONValue, lastOf call: JSONValue = .null) -> String {
    let number = attempt["number"].integer.map(String.init) ?? "?"
    let outcome =
      attempt["status"].integer.map { "status \($0)" } ?? attempt["error"]["code"].escapedText
      ?? attempt["outcome"].escapedText
    let decision = attempt["decision"]
    let style: Style =
      decision["action"].escapedText == "succeed" ? .good : decision["action"].escapedText == "stop" ? .bad : .warning
    var line =
      "attempt \(number): \(Terminal.styled(outcome ?? "?", style)) in \(attempt["duration"].escapedText ?? "?")"
    let waited = attempt["waited"].members.map { "\($0.value.escapedText ?? "?") for \(PlainText.escaped($0.name))" }
    if !waited.isEmpty { line += ", after \(waited.joined(separator: ", "))" }
    switch decision["action"].escapedText {
    case "retry" where hasEnded(call), "park" where hasEnded(call):
      line += ", no more (\(call["failureReason"].escapedText ?? call["state"].escapedText ?? ""))"
    case "retry": line += ", next in \(decision["after"].escapedText ?? "?") (\(decision["because"].escapedText ?? ""))"
    case "park": line += ", next at \(decision["until"].escapedText ?? "?") (\(decision["because"].escapedText ?? ""))"
    case "stop": line += ", no more (\(decision["because"].escapedText ?? ""))"
    default: break
    }
    return line + "\n"
  }

  /// One attempt with all details.
  static func everything(of attempt: JSONValue, lastOf call: JSONValue = .null) -> String {
    var text = line(attempt, lastOf: call)
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { text += "  \(Terminal.styled(RedialTool.padded(name, 11), .soft))\(value)\n" }
    }
    add("began", attempt["startedAt"].escapedText)
    add("error", attempt["error"]["message"].escapedText)
    let decision = attempt["decision"]
    var draw: [String] = []
    if let computed = decision["computed"].escapedText { draw.append("computed \(computed)") }
    if let jitter = decision["jitterFactor"].number { draw.append("jitter × \(jitter)") }
    let bounds = decision["clampedBy"].elements.compactMap(\.escapedText)
    if !bounds.isEmpty { draw.append("limited by \(bounds.joined(separator: ", "))") }
    add("wait", draw.joined(separator: ", "))
    let exchange = attempt["exchange"]
    let times = ["resolved", "connected", "secured", "firstByte"].compactMap { name in
      exchange[name].escapedText.map { "\(name) \($0)" }
    }
    add("exchange", (times + [exchange["remoteAddress"].escapedText].compactMap { $0 }).joined(separator: ", "))
    for (name, values) in attempt["response"]["headers"].members {
      for value in values.elements.compactMap(\.escapedText) { add("", "\(PlainText.escaped(name)): \(value)") }
    }
    if attempt["response"]["withheld"].text != nil {
      add("body", withheld)
    } else if let body = attempt["response"]["body"].text {
      // It keeps its lines, but stays in its column: no line can look like an attempt.
      var lines = PlainText.escaped(body, keepsLines: true).split(separator: "\n", omittingEmptySubsequences: false)
      if lines.last?.isEmpty == true { lines.removeLast() }
      add("body", lines.joined(separator: "\n" + String(repeating: " ", count: 13)))
    }
    return text
  }

  /// How a call ended, or why it waits.
  static func summary(_ call: JSONValue) -> String {
    let attempts = call["attemptCount"].integer ?? 0
    let count = "\(attempts) attempt\(attempts == 1 ? "" : "s")"
    let state = call["state"].escapedText ?? "?"
    let styled = Terminal.styled(state, Style(of: state))
    switch state {
    case "failed": return "\(styled) after \(count): \(call["failureReason"].escapedText ?? "")\n"
    case "succeeded", "cancelled": return "\(styled) after \(count)\n"
    default:
      let waiting = call["waitingOn"].escapedText.map { ", waiting on \($0)" } ?? ""
      let until = call["nextAttemptAt"].escapedText.map { " until \($0)" } ?? ""
      return "\(styled) after \(count)\(waiting)\(until)\n"
    }
  }

  /// A call with its attempts.
  static func full(_ call: JSONValue) -> String {
    var text = "\(call["id"].escapedText ?? "") \(call["method"].escapedText ?? "") \(call["url"].escapedText ?? "")\n"
    if call["sensitive"].isTrue { text += "sensitive: its payloads are not shown, and are erased when it ends\n" }
    if let original = call["replayOf"].escapedText { text += "repeats \(original)\n" }
    if case .object = call["request"] { text += request(call["request"]) }
    let attempts = call["attempts"].elements
    for attempt in attempts.dropLast() { text += line(attempt) }
    if let last = attempts.last { text += line(last, lastOf: call) }
    for retry in call["retries"].elements {
      let by = retry["by"].escapedText.map { " by \($0)" } ?? ""
      let reason = retry["reason"].escapedText.map { ": \($0)" } ?? ""
      text += "run again \(retry["at"].escapedText ?? "")\(by)\(reason)\n"
    }
    return text + summary(call)
  }

  /// The body of a call with members that nobody sees, if these cannot be found in it.
  private static var withheld: String {
    Terminal.styled("(the body is not shown: it is not whole, or not JSON, and has members to hide)", .soft)
  }

  /// The header fields and the body of a request.
  private static func request(_ request: JSONValue) -> String {
    if let time = request["erasedAt"].escapedText { return "its request was erased \(time)\n" }
    if request["withheld"].text == "sensitive" { return "its request is not shown, since it is sensitive\n" }
    var text = ""
    for (name, values) in request["headers"].members {
      for value in values.elements {
        text += "  " + Terminal.styled("\(PlainText.escaped(name)): ", .soft) + (value.escapedText ?? "") + "\n"
      }
    }
    let body = request["body"].text ?? ""
    if request["withheld"].text != nil { text += "  \(withheld)\n" }
    if !body.isEmpty {
      let encoding = request["encoding"].text == "base64" ? ", as base 64" : ""
      text += "  " + Terminal.styled("body, \(request["size"].integer ?? 0) bytes\(encoding):", .soft) + "\n"
      for line in PlainText.escaped(body, keepsLines: true).split(separator: "\n", omittingEmptySubsequences: false) {
        text += "  \(line)\n"
      }
      if request["truncated"].isTrue { text += "  " + Terminal.styled("(cut off)", .soft) + "\n" }
    }
    return text
  }

  /// A page of calls, one per line.
  static func list(_ page: JSONValue) -> String {
    var text = ""
    let widest = page["data"].elements.map { lastAnswer($0).count }.max() ?? 0
    for call in page["data"].elements {
      let state = call["state"].escapedText ?? ""
      let reason = call["failureReason"].escapedText ?? call["waitingOn"].escapedText ?? ""
      text += "\(call["id"].escapedText ?? "")  " + Terminal.styled(state, Style(of: state))
      text += String(repeating: " ", count: max(1, 10 - state.count)) + RedialTool.padded(reason, 18)
      text += RedialTool.padded("\(call["attemptCount"].integer ?? 0)", 4)
      if widest > 0 { text += RedialTool.padded(lastAnswer(call), widest + 2) }
      text += "\(call["method"].escapedText ?? "") \(call["url"].escapedText ?? "")\n"
    }
    text += Arguments.more(page)
    return text
  }

  /// What the last attempt of a call in a list came to; empty without one.
  private static func lastAnswer(_ call: JSONValue) -> String {
    call["lastStatus"].integer.map(String.init) ?? call["lastError"].escapedText ?? ""
  }

  /// Whether a call has ended.
  static func hasEnded(_ call: JSONValue) -> Bool {
    ["succeeded", "failed", "cancelled"].contains(call["state"].escapedText)
  }
}
