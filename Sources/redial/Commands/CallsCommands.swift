import RedialModel

extension Command {
  private static let json = Option(name: "--json", summary: "Show the service's answer as it is.")

  /// `redial get`
  static let get = Command(
    name: "get", summary: "Show a call and its attempts.", operands: "ID", operandCount: 1...1,
    options: [json] + APIClient.options
  ) { arguments throws(CommandError) in
    try show("GET", "", arguments)
  }

  /// `redial cancel`
  static let cancel = Command(
    name: "cancel", summary: "Cancel a call.", operands: "ID", operandCount: 1...1, options: [json] + APIClient.options
  ) { arguments throws(CommandError) in
    try show("POST", "/cancel", arguments)
  }

  /// `redial retry`
  static let retry = Command(
    name: "retry", summary: "Run a call now, or again if it has ended.", operands: "ID", operandCount: 1...1,
    options: [json] + APIClient.options
  ) { arguments throws(CommandError) in
    try show("POST", "/retry", arguments)
  }

  /// `redial list`
  static let list = Command(
    name: "list", summary: "List calls, newest first.",
    options: [
      Option(name: "--state", form: "STATE", summary: "Only scheduled, running, succeeded, failed or cancelled ones."),
      Option(name: "--target", form: "KEY", summary: "Only those of this target."),
      Option(name: "--kind", form: "KIND", summary: "call or webhook [call]."),
      Option(name: "--limit", form: "COUNT", summary: "How many, from 1 to 250 [50]."),
      Option(name: "--cursor", form: "CURSOR", summary: "Where to go on; the end of a list shows it."), json,
    ] + APIClient.options
  ) { arguments throws(CommandError) in
    var query: [String] = []
    for name in ["state", "target", "kind", "limit", "cursor"] {
      if let value = arguments.value("--\(name)") { query.append("\(name)=\(URLText.encoded(value))") }
    }
    let path = "/v1/calls" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    let answer = try APIClient(arguments).request("GET", path)
    if arguments.has("--json") {
      Terminal.write(String(decoding: answer.body, as: UTF8.self) + "\n")
      return .success
    }
    for call in answer.json["data"].elements {
      let reason = call["failureReason"].text ?? call["waitingOn"].text ?? ""
      Terminal.write(
        "\(call["id"].text ?? "")  \(RedialTool.padded(call["state"].text ?? "", 10))"
          + "\(RedialTool.padded(reason, 18))\(RedialTool.padded("\(call["attemptCount"].integer ?? 0)", 4))"
          + "\(call["method"].text ?? "") \(call["url"].text ?? "")\n")
    }
    if let cursor = answer.json["nextCursor"].text { Terminal.write("more: --cursor \(cursor)\n") }
    return .success
  }

  /// Asks the service something about the call that the operand names, and shows the call that it answers with.
  private static func show(_ method: String, _ suffix: String, _ arguments: Arguments) throws(CommandError) -> ExitCode
  {
    guard let id = CallID(arguments.operands[0]) else {
      throw CommandError(
        code: .usage, message: "\"\(arguments.operands[0])\" is not the id of a call; `redial list` shows ids")
    }
    let answer = try APIClient(arguments).request(method, "/v1/calls/\(id)\(suffix)")
    Terminal.write(
      arguments.has("--json") ? String(decoding: answer.body, as: UTF8.self) + "\n" : CallText.full(answer.json))
    return .success
  }
}
