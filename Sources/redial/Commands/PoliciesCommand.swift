import RedialModel
import RedialText

extension Command {
  private static let actions = ["list", "show", "put", "versions", "delete"]

  /// `redial policies`
  static let policies = Command(
    name: "policies", summary: "List, show, store or delete named policies.",
    operands: "[list] | show NAME | put NAME JSON | versions NAME | delete NAME", operandCount: 1...3, words: [actions],
    operandValues: [OperandValues(kind: .policy, after: [["show", "put", "versions", "delete"]])],
    usualOperands: ["list"],
    options: [
      Option(name: "--version", form: "NUMBER", summary: "The version to show [the current one]."),
      Option(
        name: "--if-version", form: "NUMBER",
        summary:
          "Change the policy only if this is its current version, so that two authors do not overwrite each other; "
          + "0: only if there is none."),
      asJSON,
    ] + page() + APIClient.options,
    notes: """
      JSON is the policy as in a call descriptor; @FILE reads it from a file, - from standard input. Each change makes a new
      version. A call keeps the version that it was accepted with. `redial preview --policy JSON` shows what a policy does.
      """
  ) { arguments throws(CommandError) in
    try PoliciesCommand(arguments: arguments, client: APIClient(arguments)).run()
  }
}

/// Policies that are stored in the service under names.
struct PoliciesCommand {
  let arguments: Arguments
  let client: APIClient

  func run() throws(CommandError) -> ExitCode {
    let (action, rest) = (arguments.operands[0], Array(arguments.operands.dropFirst()))
    switch (action, rest.count) {
    case ("list", 0): arguments.showPage(try client.request("GET", "/v1/policies" + arguments.pageQuery()), Self.list)
    case ("show", 1):
      let version = arguments.query(["--version": "version"])
      arguments.show(try client.request("GET", Self.path(rest[0]) + version), Self.full)
    case ("versions", 1):
      arguments.show(try client.request("GET", Self.path(rest[0])), Self.versions)
    case ("put", 2):
      let json = try arguments.json(rest[1], of: "the policy")
      let answer = try client.request("PUT", Self.path(rest[0]), json: json, headers: try conditions())
      arguments.show(answer) {
        "stored as \($0["name"].escapedText ?? "")@\($0["version"].integer ?? 0)\n" + Self.warnings($0)
      }
    case ("delete", 1):
      _ = try client.request("DELETE", Self.path(rest[0]), headers: try conditions())
      if !arguments.has("--json") {
        Terminal.write("\(rest[0]) is deleted; calls that were accepted with it keep it\n")
      }
    default:
      throw CommandError(
        code: .usage, message: "expected list, show NAME, put NAME JSON, versions NAME or delete NAME; see --help")
    }
    return .success
  }

  private static func path(_ name: String) -> String { "/v1/policies/\(PercentCoding.encode(name))" }

  private func conditions() throws(CommandError) -> [HeaderField] {
    guard let version = try arguments.number("--if-version", in: 0...Int(Int32.max)) else { return [] }
    return [version == 0 ? HeaderField("if-none-match", "*") : HeaderField("if-match", "\"\(version)\"")]
  }

  private static func list(_ answer: JSONValue) -> String {
    var table = Table("name", "version", "since")
    for policy in answer["data"].elements {
      table.add(
        Table.Cell(policy["name"].escapedText), .number(policy["version"].integer),
        Table.Cell(policy["createdAt"].escapedText))
    }
    return table.text(none: "No policy is stored; `redial policies put NAME JSON` stores one.")
  }

  private static func versions(_ policy: JSONValue) -> String {
    var table = Table("version", "since", "")
    let current = policy["version"].integer
    for version in policy["versions"].elements.reversed() {
      let number = version["version"].integer
      table.add(
        .number(number), Table.Cell(version["createdAt"].escapedText),
        Table.Cell(number == current ? "current" : "", .good))
    }
    return table.text(none: "It has no versions.")
  }

  private static func full(_ policy: JSONValue) -> String {
    var text =
      "\(policy["name"].escapedText ?? "")@\(policy["version"].integer ?? 0)  \(policy["createdAt"].escapedText ?? "")\n"
    text += PlainText.escaped(policy["policy"].indented(), keepsLines: true) + "\n"
    return text + warnings(policy)
  }

  private static func warnings(_ policy: JSONValue) -> String {
    policy["warnings"].elements.map { warning in
      Terminal.styled("warning \(warning["code"].escapedText ?? "")", .warning)
        + ": \(warning["detail"].escapedText ?? "")\n"
    }.joined()
  }
}
