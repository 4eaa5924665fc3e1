import RedialJSON
import RedialModel
import RedialText

extension Command {
  private static let actions = ["acknowledge", "resolve", "reopen", "show"]

  /// `redial issues`
  static let issues = Command(
    name: "issues",
    summary: "List what is wrong: targets that are down or held, late and failed calls; acknowledge one.",
    operands: "[list] | \(actions.joined(separator: " ID | ")) ID", operandCount: 1...2,
    words: [["list"] + actions], operandValues: [OperandValues(kind: .issue, after: [actions])],
    usualOperands: ["list"],
    options: [
      Option(
        name: "--state", form: "STATE", summary: "list: only open, acknowledged or resolved ones; or several.",
        values: .issueState),
      Option(name: "--target", form: "KEY", summary: "list: only those of this target.", values: .target),
      Option(
        name: "--until", form: "TIME",
        summary: "acknowledge: until then, or for a time such as 8h [7d]."),
      Option(name: "--by", form: "NAME", summary: "Your name; it is kept with the issue."),
      Option(name: "--reason", form: "TEXT", summary: "Why; it is kept with the issue."),
      asJSON,
    ] + page(.issues) + APIClient.options,
    notes: """
      Calls that failed for one reason with one error are one issue; so is a target that is down, held, or has calls that are late
      by a minute or more or fail again and again. An issue is resolved when it is over; `redial ops create retry --issue ID` runs
      all failed calls of one again. Alerts report no issue that is acknowledged.
      """
  ) { arguments throws(CommandError) in
    let client = APIClient(arguments)
    let action = arguments.operands[0]
    let id = arguments.operands.count > 1 ? arguments.operands[1] : nil
    switch (action, id) {
    case ("list", nil):
      let query = arguments.pageQuery(["--state": "state", "--target": "target"])
      let none = query.isEmpty ? "Nothing is wrong." : "No issue is like that."
      arguments.showPage(try client.request("GET", "/v1/issues" + query)) { IssueText.list($0, none) }
    case ("show", let id?):
      arguments.show(try client.request("GET", try IssueText.path(of: id)), IssueText.full)
    case ("acknowledge", let id?):
      arguments.show(try mark(id, "acknowledged", client, arguments), IssueText.full)
    case ("resolve", let id?): arguments.show(try mark(id, "resolved", client, arguments), IssueText.full)
    case ("reopen", let id?): arguments.show(try mark(id, "open", client, arguments), IssueText.full)
    default:
      throw CommandError(
        code: .usage, message: "expected list, or one of \(actions.joined(separator: ", ")) and an id; see --help")
    }
    return .success
  }

  private static func mark(
    _ id: String, _ state: String, _ client: APIClient, _ arguments: Arguments
  ) throws(CommandError) -> APIClient.Answer {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("state", state)
    for (option, name) in [("--until", "until"), ("--by", "by"), ("--reason", "reason")] {
      guard let value = arguments.value(option) else { continue }
      writer.key(name)
      writer.string(value)
    }
    writer.endObject()
    return try client.request("PATCH", try IssueText.path(of: id), json: writer.bytes)
  }
}

/// Issues as text.
enum IssueText {
  static func path(of id: String) throws(CommandError) -> String {
    guard IssueID(id) != nil else {
      throw CommandError(code: .usage, message: "\(NamedID.issue.refusal(of: id)) `redial issues` shows them.")
    }
    return "/v1/issues/\(id)"
  }

  static func list(_ answer: JSONValue, _ none: String) -> String {
    var table = Table("issue", "state", "calls", "target", "what happened", "last", "error")
    for issue in answer["data"].elements {
      table.add(
        Table.Cell(issue["id"].escapedText), state(issue), .number(issue["calls"].integer),
        Table.Cell(issue["target"].escapedText), Table.Cell(happened(issue)), Table.Cell(last(issue)),
        Table.Cell(issue["error"].text))
    }
    return table.text(none: none)
      + (answer["isComplete"].isTrue ? "" : "there are more than are counted: name a target\n")
  }

  /// One issue, with what can be done about it.
  static func full(_ issue: JSONValue) -> String {
    let id = issue["id"].escapedText ?? ""
    var text = "\(id)  \(Terminal.styled(issue["state"].escapedText ?? "?", state(issue).style))\n"
    let count = issue["calls"].integer ?? 0
    text += "\(count) \(count == 1 ? "call" : "calls")\(issue["target"].escapedText.map { " to \($0)" } ?? ""): "
    text += "\(happened(issue))\n"
    if let error = issue["error"].text { text += "error: \(PlainText.escaped(error))\n" }
    text += "first: \(issue["firstAt"].escapedText ?? "")\nlast: \(issue["lastAt"].escapedText ?? "")\n"
    let mark = issue["mark"]
    if let state = mark["state"].escapedText {
      text += "\(state) \(mark["at"].escapedText ?? "")"
      if let by = mark["by"].text { text += " by \(PlainText.escaped(by))" }
      if let until = mark["until"].escapedText { text += " until \(until)" }
      text += (mark["reason"].text.map { ": \(PlainText.escaped($0))" } ?? "") + "\n"
    }
    guard issue["calls"].integer ?? 0 > 0 else { return text }
    text += affected(issue["affected"])
    if let example = issue["example"].escapedText { text += "an example: redial get \(example)\n" }
    if issue["kind"].text == "stuck" {
      text += "more: redial doctor\n"
    } else if issue["kind"].text == "failed" {
      let kind = issue["filter"]["kind"].text == "webhook" ? " --kind webhook" : ""
      text += "run all of them again: redial ops create retry\(kind) --issue \(id)\n"
      if kind.isEmpty { text += "send new calls like them: redial ops create replay --issue \(id)\n" }
    } else {
      text += "their target: redial targets \(ShellWord.plain(issue["target"].text ?? ""))\n"
    }
    return text
  }

  /// Whom it concerns: its calls by path and by label; nothing if the answer does not say it.
  private static func affected(_ affected: JSONValue) -> String {
    guard let counted = affected["counted"].integer else { return "" }
    let whole = affected["isComplete"].isTrue ? "all \(counted)" : "the newest \(counted)"
    func sums(_ name: String, _ all: [JSONValue], _ words: (JSONValue) -> String) -> String {
      guard !all.isEmpty else { return "" }
      let lines = all.map { "  \(RedialTool.padded("\($0["calls"].integer ?? 0)", 6))\(words($0))\n" }
      return "by \(name), of \(whole):\n" + lines.joined()
    }
    return sums("path", affected["paths"].elements) { $0["path"].escapedText ?? "" }
      + sums("label", affected["labels"].elements) {
        "\($0["name"].escapedText ?? "")=\($0["value"].escapedText ?? "")"
      }
  }

  private static func state(_ issue: JSONValue) -> Table.Cell {
    let word = issue["state"].escapedText
    // The word "open" is also that of a breaker, which is worse.
    return Table.Cell(word, word == "open" ? .bad : word == "resolved" ? .good : .soft)
  }

  private static func happened(_ issue: JSONValue) -> String {
    let kind = issue["kind"].escapedText ?? "?"
    guard let reason = issue["reason"].escapedText else { return kind }
    return kind == "failed" ? "failed, \(reason)" : "\(kind), wait for \(reason)"
  }

  /// When the last of its calls failed; nothing for those that only wait.
  private static func last(_ issue: JSONValue) -> String? {
    issue["kind"].text == "failed" || issue["kind"].text == "failing" ? issue["lastAt"].escapedText : nil
  }
}
