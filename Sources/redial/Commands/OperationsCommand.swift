import Glibc
import RedialModel
import RedialJSON

extension Command {
  private static let actions = ["create", "list", "show", "watch", "cancel"]

  /// `redial ops`
  static let operations = Command(
    name: "ops", summary: "Retry, cancel, release, purge or replay many calls at once.",
    operands: "[list] | create retry|cancel|release|purge|replay | show ID | watch ID | cancel ID", operandCount: 1...2,
    words: [actions],
    operandValues: [
      OperandValues(kind: .bulkAction, after: [["create"]]),
      OperandValues(kind: .operation, after: [["show", "watch", "cancel"]]),
    ], usualOperands: ["list"],
    options: [
      Option(name: "--dry-run", summary: "create: only count the matching calls."),
      Option(
        name: "--yes", short: "-y", summary: "create: do not ask for confirmation on a terminal."),
      Option(name: "--no-wait", summary: "create: show the id of the accepted operation and exit."),
    ] + CallCondition.all.map(\.option) + [
      Option(name: "--label", form: "NAME=VALUE", summary: "Only those with this label.", repeats: true),
      Option(name: "--all", summary: "Act on all calls that the action applies to; needed if no condition is given."),
      Option(name: "--rate", form: "COUNT", summary: "Maximum number of calls per second [the setting operationRate]."),
      Option(name: "--by", form: "NAME", summary: "Your name; it is kept with the operation."),
      Option(name: "--reason", form: "TEXT", summary: "Why; it is kept with the operation."),
      Option(
        name: "--timeout", form: "DURATION", summary: "Stop watching after this time; the operation goes on [no limit]."
      ), asJSON,
    ] + page() + APIClient.options,
    notes: """
      create and watch show the progress on a terminal and exit when the operation ends: 0 if it completed, 1 if it was
      cancelled. purge needs --state. replay submits a new call like each that has ended, and leaves that as it is. If you stop the command or the service restarts, the operation goes on.
      """
  ) { arguments throws(CommandError) in
    try OperationsCommand(arguments).run()
  }
}

/// Bulk operations.
struct OperationsCommand {
  private static let path = "/v1/operations"

  private let arguments: Arguments
  private let client: APIClient

  init(_ arguments: Arguments) {
    self.arguments = arguments
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    let (action, rest) = (arguments.operands[0], arguments.operands.dropFirst().first)
    switch (action, rest) {
    case ("list", nil): arguments.showPage(try client.request("GET", Self.path + arguments.pageQuery()), Self.list)
    case ("show", let id?): arguments.show(try client.request("GET", try Self.path(id)), Self.line)
    case ("cancel", let id?): arguments.show(try client.request("POST", "\(try Self.path(id))/cancel"), Self.line)
    case ("watch", let id?): return try watch(id)
    case ("create", let action?): return try create(action)
    default:
      throw CommandError(
        code: .usage,
        message: "expected create retry|cancel|release|purge|replay, list, show ID, watch ID or cancel ID; see --help")
    }
    return .success
  }

  private static func path(_ id: String) throws(CommandError) -> String {
    guard let id = BulkOperationID(id) else {
      throw CommandError(code: .usage, message: "\(NamedID.operation.refusal(of: id)) `redial ops list` shows them.")
    }
    return "\(path)/\(id)"
  }

  // MARK: Creating

  private func create(_ action: String) throws(CommandError) -> ExitCode {
    if arguments.has("--dry-run") {
      arguments.show(try client.request("POST", Self.path, json: try request(action, isDryRun: true)), Self.count)
      return .success
    }
    if isatty(STDIN_FILENO) == 1, !arguments.has("--yes") {
      let counted = try client.request("POST", Self.path, json: try request(action, isDryRun: true)).json
      Terminal.error("\(Self.count(counted).dropLast()). Go on? [y/N] ")
      guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
        throw CommandError(code: .unsuccessful, message: "nothing was done")
      }
    }
    let accepted = try client.request("POST", Self.path, json: try request(action, isDryRun: false))
    guard let id = accepted.json["id"].escapedText else {
      throw CommandError(code: .unreachable, message: "\(client.base) does not answer like Redial")
    }
    if arguments.has("--no-wait") {
      arguments.show(accepted) { _ in id + "\n" }
      return .success
    }
    if !arguments.has("--json") { Terminal.write("accepted as \(id)\n") }
    return try watch(id)
  }

  /// The request from the options; the service checks it.
  private func request(_ action: String, isDryRun: Bool) throws(CommandError) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("action", action)
    writer.key("filter")
    writer.beginObject()
    for condition in CallCondition.all {
      if let value = arguments.value(condition.option.name) { writer.field(condition.name, value) }
    }
    try arguments.writeLabels(to: &writer)
    writer.endObject()
    if let rate = try arguments.number("--rate", in: BulkOperation.rates) { writer.field("ratePerSecond", rate) }
    if let by = arguments.value("--by") { writer.field("by", by) }
    if let reason = arguments.value("--reason") { writer.field("reason", reason) }
    if isDryRun { writer.field("dryRun", true) }
    if arguments.has("--all") { writer.field("all", true) }
    writer.endObject()
    return writer.bytes
  }

  // MARK: Watching

  private func watch(_ id: String) throws(CommandError) -> ExitCode {
    var progress = ProgressLine()
    defer { progress.end() }
    var following = Following(client, try Self.path(id), id: id, within: try CallCommand.timeout(arguments))
    let answer = try following.end { operation in
      guard !["completed", "cancelled"].contains(operation["state"].text) else { return true }
      progress.show(Self.progress(operation))
      return false
    } summary: {
      String(Self.line($0).dropLast())
    }
    progress.end()
    arguments.show(answer, Self.line)
    return answer.json["state"].text == "completed" ? .success : .unsuccessful
  }

  private static func progress(_ operation: JSONValue) -> String {
    let (matched, done) = (operation["matched"].integer ?? 0, operation["done"].integer ?? 0)
    if operation["state"].text == "counting" { return "counting: \(matched) calls so far" }
    let skipped = operation["skipped"].integer ?? 0
    return "\(ProgressLine.bar(done + skipped, of: matched))  \(done) of \(matched) calls"
      + (skipped > 0 ? ", \(skipped) skipped" : "")
  }

  // MARK: Text

  private static func count(_ answer: JSONValue) -> String {
    let matched = answer["matched"].integer ?? 0
    let calls = "\(matched) call\(matched == 1 ? "" : "s")"
    let bound = answer["isComplete"].isTrue ? calls : "\(calls) and more"
    return "\(answer["action"].escapedText ?? "") would act on \(bound): \(conditions(answer["filter"]))"
      + skipped(answer["skipped"], of: matched) + "\n"
  }

  /// How many of the calls that a dry run counted would be left as they are, and why; nothing if none is known.
  private static func skipped(_ skipped: JSONValue, of matched: Int) -> String {
    guard let count = skipped["calls"].integer, count > 0 else { return "" }
    let checked = skipped["checked"].integer ?? 0
    let words = [
      "contentErased": "erased", "callDamaged": "damaged", "ordered": "ordered", "stateChanged": "changed meanwhile",
    ]
    let reasons = skipped["reasons"].members.map { name, value in
      "\(value.integer ?? 0) \(words[name] ?? PlainText.escaped(name))"
    }
    return "; \(count) of \(checked < matched ? "the newest \(checked)" : "them") would be skipped: "
      + reasons.joined(separator: ", ")
  }

  /// The conditions of a filter: what a count counts.
  private static func conditions(_ filter: JSONValue) -> String {
    let state = ([filter["state"]] + filter["state"].elements).compactMap(\.escapedText).joined(separator: " or ")
    let others = filter.members.filter { $0.name != "state" }.map { name, value in
      if name == "labels" {
        return value.members.map { PlainText.escaped("\($0.name)=\($0.value.text ?? "")") }.joined(separator: ", ")
      }
      return PlainText.escaped("\(name) \(value.text ?? value.integer.map(String.init) ?? "")")
    }
    return ([state] + others).joined(separator: ", ")
  }

  private static func line(_ operation: JSONValue) -> String {
    let state = operation["state"].escapedText ?? "?"
    var text = "\(operation["id"].escapedText ?? "")  \(operation["action"].escapedText ?? "")  "
    text += Terminal.styled(state, Style(of: state))
    text += ": \(operation["done"].integer ?? 0) of \(operation["matched"].integer ?? 0) calls done"
    if let skipped = operation["skipped"].integer, skipped > 0 { text += ", \(skipped) skipped" }
    return text + "\n"
  }

  private static func list(_ answer: JSONValue) -> String {
    var table = Table("operation", "action", "state", "done", "of", "by", "reason")
    for operation in answer["data"].elements {
      table.add(
        Table.Cell(operation["id"].escapedText), Table.Cell(operation["action"].escapedText),
        .state(operation["state"].escapedText),
        .number(operation["done"].integer), .number(operation["matched"].integer),
        Table.Cell(operation["by"].escapedText),
        Table.Cell(operation["reason"].escapedText))
    }
    return table.text(none: "There are no operations; `redial ops create retry` makes one.")
  }
}
