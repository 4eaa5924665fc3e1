import RedialJSON
import RedialModel
import RedialText

extension Command {
  private static let named = ["show", "set", "test", "silence", "unsilence", "delete"]

  /// `redial alerts`
  static let alerts = Command(
    name: "alerts", summary: "Say who is notified of issues, such as outages and failed calls; silence them.",
    operands: "[list] | \(named.joined(separator: "|")) NAME", operandCount: 1...2, words: [["list"] + named],
    operandValues: [OperandValues(kind: .alert, after: [named])], usualOperands: ["list"],
    options: [
      Option(name: "--slack", form: "URL", summary: "set: send to this incoming webhook of Slack."),
      Option(name: "--teams", form: "URL", summary: "set: send to this workflow of Microsoft Teams."),
      Option(
        name: "--pager-duty", form: "KEY",
        summary: "set: send to the PagerDuty service with this integration key (Events API v2)."),
      Option(name: "--pager-duty-url", form: "URL", summary: "set: where PagerDuty takes events, such as in the EU."),
      Option(name: "--endpoint", form: "ID", summary: "set: send to this webhook endpoint.", values: .webhook),
      Option(
        name: "--kind", form: "WORD,...", summary: "set: only these kinds of issues [all].", repeats: true,
        values: .issueKind),
      Option(
        name: "--target", form: "KEY", summary: "set: only this target.", repeats: true, values: .target),
      Option(
        name: "--after", form: "DURATION", summary: "set: how long an issue has to be there [1m to 30m, by its kind]."),
      Option(
        name: "--until", form: "TIME",
        summary: "silence [1h]: until then, or for a time such as 8h."),
      Option(name: "--by", form: "NAME", summary: "Your name; it is kept."),
      Option(name: "--reason", form: "TEXT", summary: "Why; it is kept."),
      asJSON,
    ] + page() + APIClient.options,
    notes: """
      An alert notifies once when an issue begins, and once when it is over: see redial issues. One that is acknowledged there
      is not reported again. Each message is a call: redial list --kind webhook --target webhook:alert:NAME shows them. set
      replaces the alert; without a destination, the messages go where they went before. URLs and the key are secrets: - reads
      one from standard input, @FILE from a file.
      """
  ) { arguments throws(CommandError) in
    try AlertsCommand(arguments).run()
  }
}

/// Alerts.
struct AlertsCommand {
  private let arguments: Arguments
  private let client: APIClient

  init(_ arguments: Arguments) {
    self.arguments = arguments
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    let (action, operand) = (arguments.operands[0], arguments.operands.dropFirst().first)
    switch (action, operand) {
    case ("list", nil): arguments.showPage(try client.request("GET", "/v1/alerts" + arguments.pageQuery()), Self.list)
    case ("show", let name?): arguments.show(try client.request("GET", Self.path(name)), Self.full)
    case ("set", let name?):
      arguments.show(try client.request("PUT", Self.path(name), json: try draft()), Self.full)
    case ("test", let name?): arguments.show(try client.request("POST", Self.path(name) + "/test"), CallText.full)
    case ("silence", let name?): arguments.show(try silence(name, true), Self.full)
    case ("unsilence", let name?): arguments.show(try silence(name, false), Self.full)
    case ("delete", let name?):
      _ = try client.request("DELETE", Self.path(name))
      if !arguments.has("--json") { Terminal.write("\(PlainText.escaped(name)) is deleted\n") }
    default:
      throw CommandError(
        code: .usage, message: "expected list, or another action and a name; see --help")
    }
    return .success
  }

  private static func path(_ name: String) -> String { "/v1/alerts/\(PercentCoding.encode(name))" }

  private func silence(_ name: String, _ isOn: Bool) throws(CommandError) -> APIClient.Answer {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("silenced", isOn)
    for (option, name) in [("--until", "until"), ("--by", "by"), ("--reason", "reason")] {
      guard let value = arguments.value(option) else { continue }
      writer.key(name)
      writer.string(value)
    }
    writer.endObject()
    return try client.request("PATCH", Self.path(name), json: writer.bytes)
  }

  private func draft() throws(CommandError) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (option, name) in [("--kind", "kinds"), ("--target", "targets")] {
      let all = arguments.all(option)
      guard !all.isEmpty else { continue }
      // A target's key may have a comma.
      let words = option == "--kind" ? all.flatMap { $0.split(separator: ",").map { String($0) } } : all
      writer.key(name)
      writer.beginArray()
      for word in words { writer.string(word) }
      writer.endArray()
    }
    if let after = arguments.value("--after") { writer.field("after", after) }
    let destinations = [
      ("--slack", "slack"), ("--teams", "teams"), ("--pager-duty", "pagerDuty"), ("--endpoint", "endpoint"),
      ("--pager-duty-url", "url"),
    ].compactMap { option, name in arguments.value(option).map { (name, $0) } }
    if !destinations.isEmpty {
      writer.key("to")
      writer.beginObject()
      for (name, value) in destinations {
        writer.key(name)
        writer.string(try secret(value, name))
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  /// A value, or the first line of the file that it names.
  private func secret(_ value: String, _ name: String) throws(CommandError) -> String {
    guard value == "-" || value.hasPrefix("@") else { return value }
    let text = String(decoding: try arguments.content(value, of: "the value of \(name)"), as: UTF8.self)
    return String(text.prefix { !$0.isNewline })
  }

  // MARK: Text

  private static func list(_ answer: JSONValue) -> String {
    var table = Table("alert", "to", "kinds", "targets", "")
    for alert in answer["data"].elements {
      let (channel, address) = destination(of: alert)
      let count = alert["targets"].elements.count
      table.add(
        Table.Cell(alert["name"].escapedText), Table.Cell("\(channel) \(address)"),
        .number(alert["kinds"].elements.count), count == 0 ? Table.Cell("all") : .number(count),
        note(of: alert))
    }
    return table.text(none: "There is no alert; `redial alerts set NAME --slack URL` makes one.")
  }

  private static func note(of alert: JSONValue) -> Table.Cell {
    if let problem = alert["problem"].escapedText { return Table.Cell(problem, .bad) }
    return Table.Cell(alert["silence"]["until"].escapedText.map { "silent until \($0)" }, .soft)
  }

  private static func destination(of alert: JSONValue) -> (channel: String, address: String) {
    for channel in Alert.Channel.allCases {
      guard let address = alert["to"][channel.rawValue].escapedText else { continue }
      return (channel.rawValue, channel == .pagerDuty ? alert["to"]["url"].escapedText ?? "" : address)
    }
    return ("?", "")
  }

  private static func full(_ alert: JSONValue) -> String {
    let (channel, address) = destination(of: alert)
    var text = "\(alert["name"].escapedText ?? "")  to \(channel) \(address)\n"
    text += "kinds: \(alert["kinds"].elements.compactMap(\.escapedText).joined(separator: ", "))\n"
    let targets = alert["targets"].elements.compactMap(\.escapedText)
    text += "targets: \(targets.isEmpty ? "all" : targets.joined(separator: ", "))\n"
    text += "after: \(alert["after"].escapedText ?? "the usual time of each")\n"
    let silence = alert["silence"]
    if let until = silence["until"].escapedText { text += "silent until \(until)\(attribution(silence))\n" }
    if let target = alert["filter"]["target"].text {
      text += "its messages: redial list --kind webhook --target \(ShellWord.plain(PlainText.escaped(target)))\n"
    }
    if let problem = alert["problem"].escapedText { text += Terminal.styled(problem, .bad) + "\n" }
    return text
  }

  private static func attribution(_ statement: JSONValue) -> String {
    (statement["by"].escapedText.map { ", by \($0)" } ?? "") + (statement["reason"].escapedText.map { ": \($0)" } ?? "")
  }
}
