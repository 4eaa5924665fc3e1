import RedialModel
import RedialText

extension Command {
  private static let named = ["show", "put", "delete"]

  /// `redial credentials`
  static let credentials = Command(
    name: "credentials", summary: "List, show, store or delete what proves to targets who sends a call, or signs it.",
    operands: "[list] | show NAME | put NAME JSON | delete NAME", operandCount: 1...3, words: [["list"] + named],
    operandValues: [OperandValues(kind: .credential, after: [named])], usualOperands: ["list"],
    options: [asJSON] + page() + APIClient.options,
    notes: """
      JSON is such as {"type": "bearer", "token": "...", "origins": ["https://api.example.com"]}; - reads it from standard
      input and @FILE from a file, so that no secret is in the list of processes. Types: \
      \(CredentialType.allCases.map(\.rawValue).joined(separator: ", ")). Nobody can read the secrets again. Calls use it with
      `redial call --credential NAME`, or `--sign NAME`.
      """
  ) { arguments throws(CommandError) in
    try CredentialsCommand(arguments: arguments, client: APIClient(arguments)).run()
  }
}

/// Credentials that are stored in the service under names.
struct CredentialsCommand {
  let arguments: Arguments
  let client: APIClient

  func run() throws(CommandError) -> ExitCode {
    let (action, rest) = (arguments.operands[0], Array(arguments.operands.dropFirst()))
    switch (action, rest.count) {
    case ("list", 0):
      arguments.showPage(try client.request("GET", "/v1/credentials" + arguments.pageQuery()), Self.list)
    case ("show", 1): arguments.show(try client.request("GET", Self.path(rest[0])), Self.full)
    case ("put", 2):
      let json = try arguments.json(rest[1], of: "the credential")
      arguments.show(try client.request("PUT", Self.path(rest[0]), json: json), Self.full)
    case ("delete", 1):
      _ = try client.request("DELETE", Self.path(rest[0]))
      if !arguments.has("--json") {
        Terminal.write("\(PlainText.escaped(rest[0])) is deleted; calls that name it wait until there is one again\n")
      }
    default:
      throw CommandError(
        code: .usage, message: "expected list, show NAME, put NAME JSON or delete NAME; see --help")
    }
    return .success
  }

  private static func path(_ name: String) -> String { "/v1/credentials/\(PercentCoding.encode(name))" }

  private static func list(_ answer: JSONValue) -> String {
    var table = Table("name", "type", "origins", "changed", "description")
    for credential in answer["data"].elements {
      table.add(
        Table.Cell(credential["name"].escapedText), Table.Cell(credential["type"].escapedText),
        Table.Cell(origins(credential)), Table.Cell(credential["changedAt"].escapedText),
        Table.Cell(credential["description"].escapedText))
    }
    return table.text(none: "No credential is stored; `redial credentials put NAME -` stores one.")
  }

  private static func full(_ credential: JSONValue) -> String {
    var lines = [
      "\(credential["name"].escapedText ?? "")  \(credential["type"].escapedText ?? "")",
      "origins      \(origins(credential))",
    ]
    if let description = credential["description"].escapedText { lines.append("description  \(description)") }
    lines.append("changed      \(credential["changedAt"].escapedText ?? "")")
    let token = credential["accessToken"]
    switch token["state"].text {
    case "valid": lines.append("token        valid until \(token["expiresAt"].escapedText ?? "")")
    case "failing":
      lines.append(
        "token        " + Terminal.styled("failing", .bad)
          + ", the next try at \(token["nextFetchAt"].escapedText ?? ""): "
          + (token["problem"].escapedText ?? ""))
    case let state?: lines.append("token        \(state)")
    case nil: break
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func origins(_ credential: JSONValue) -> String {
    credential["origins"].elements.compactMap(\.escapedText).joined(separator: ", ")
  }
}
