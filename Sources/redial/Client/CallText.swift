/// Calls and attempts as lines for people.
enum CallText {
  /// One attempt: number, what came of it, how long it took, what follows.
  static func line(_ attempt: JSONValue) -> String {
    let number = attempt["number"].integer.map(String.init) ?? "?"
    let outcome =
      attempt["status"].integer.map { "status \($0)" } ?? attempt["error"]["code"].text ?? attempt["outcome"].text
    var line = "attempt \(number): \(outcome ?? "?") in \(attempt["duration"].text ?? "?")"
    let decision = attempt["decision"]
    switch decision["action"].text {
    case "retry": line += ", next in \(decision["after"].text ?? "?") (\(decision["because"].text ?? ""))"
    case "stop": line += ", no more (\(decision["because"].text ?? ""))"
    default: break
    }
    return line + "\n"
  }

  /// How a call ended, or what it waits for.
  static func summary(_ call: JSONValue) -> String {
    let attempts = call["attemptCount"].integer ?? 0
    let count = "\(attempts) attempt\(attempts == 1 ? "" : "s")"
    switch call["state"].text {
    case "succeeded": return "succeeded after \(count)\n"
    case "failed": return "failed after \(count): \(call["failureReason"].text ?? "")\n"
    case "cancelled": return "cancelled after \(count)\n"
    case let state:
      let waiting = call["waitingOn"].text.map { ", waiting on \($0)" } ?? ""
      let until = call["nextAttemptAt"].text.map { " until \($0)" } ?? ""
      return "\(state ?? "?") after \(count)\(waiting)\(until)\n"
    }
  }

  /// A call with its attempts.
  static func full(_ call: JSONValue) -> String {
    var text = "\(call["id"].text ?? "") \(call["method"].text ?? "") \(call["url"].text ?? "")\n"
    for attempt in call["attempts"].elements { text += line(attempt) }
    return text + summary(call)
  }

  /// Whether a call has ended.
  static func hasEnded(_ call: JSONValue) -> Bool {
    ["succeeded", "failed", "cancelled"].contains(call["state"].text)
  }
}
