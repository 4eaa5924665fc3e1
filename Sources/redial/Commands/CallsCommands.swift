import RedialModel
import RedialJSON

extension Command {
  /// `redial get`
  static let get = Command(
    name: "get", summary: "Show a call and its attempts.", operands: "ID", operandCount: 1...1,
    operandValues: [OperandValues(kind: .call)],
    options: [
      Option(name: "--request", summary: "Show its request, too; that takes a key with the scope payloads."),
      Option(name: "--curl", summary: "Show only its request, as a command line of curl."), asJSON,
    ] + APIClient.options
  ) { arguments throws(CommandError) in
    guard arguments.has("--curl") else {
      return try show("GET", arguments.has("--request") ? "?include=request" : "", arguments)
    }
    let answer = try APIClient(arguments).request("GET", "/v1/calls/\(try id(arguments))?include=request")
    let request = answer.json["request"]
    if let time = request["erasedAt"].escapedText {
      throw CommandError(code: .refused, message: "the call's content was erased \(time)")
    }
    if request["withheld"].text == "sensitive" {
      throw CommandError(code: .refused, message: "the call is sensitive, so that nobody may see its request")
    }
    for gap in CurlText.gaps(request) { Terminal.error(PlainText.escaped(gap) + "\n") }
    Terminal.write(CurlText.command(request) + "\n")
    return .success
  }

  /// `redial cancel`
  static let cancel = Command(
    name: "cancel", summary: "Cancel a call.", operands: "ID", operandCount: 1...1,
    operandValues: [OperandValues(kind: .call)],
    options: [asJSON] + APIClient.options
  ) { arguments throws(CommandError) in
    try show("POST", "/cancel", arguments)
  }

  /// `redial retry`
  static let retry = Command(
    name: "retry", summary: "Run a call now, or again if it has ended.", operands: "ID", operandCount: 1...1,
    operandValues: [OperandValues(kind: .call)],
    options: [
      Option(name: "--by", form: "NAME", summary: "Your name; it is kept with the call."),
      Option(name: "--reason", form: "TEXT", summary: "Why; it is kept with the call."), asJSON,
    ] + APIClient.options
  ) { arguments throws(CommandError) in
    var writer = JSONWriter()
    writer.beginObject()
    if let by = arguments.value("--by") { writer.field("by", by) }
    if let reason = arguments.value("--reason") { writer.field("reason", reason) }
    writer.endObject()
    return try show("POST", "/retry", arguments, json: writer.bytes)
  }

  /// `redial erase`
  static let erase = Command(
    name: "erase", summary: "Erase the payloads of a call that has ended.", operands: "ID", operandCount: 1...1,
    operandValues: [OperandValues(kind: .call)],
    options: [Option(name: "--labels", summary: "Erase its labels, too."), asJSON] + APIClient.options,
    notes: """
      Erased are header fields, bodies and the query of the URL. The history of the attempts stays. This cannot be undone,
      and the call cannot be retried afterwards.
      """
  ) { arguments throws(CommandError) in
    try show("DELETE", arguments.has("--labels") ? "/content?labels=true" : "/content", arguments)
  }

  /// `redial attempts`
  static let attempts = Command(
    name: "attempts", summary: "Show each attempt of a call: its time, result, decision and reason.",
    operands: "ID", operandCount: 1...1, operandValues: [OperandValues(kind: .call)],
    options: [
      Option(name: "--body", summary: "Show the stored response bodies, too."), asJSON,
    ] + page(.attempts, of: nil) + APIClient.options
  ) { arguments throws(CommandError) in
    let page = arguments.pageQuery()
    let query = arguments.has("--body") ? (page.isEmpty ? "?" : page + "&") + "include=body" : page
    let (client, path) = (APIClient(arguments), "/v1/calls/\(try id(arguments))")
    let answer = try client.request("GET", "\(path)/attempts\(query)")
    // Only the call itself shows whether another attempt follows the last.
    let call = arguments.has("--json") ? .null : try client.request("GET", path).json
    arguments.show(answer) { answer in
      let attempts = answer["data"].elements
      let end = answer["nextCursor"].text == nil ? call : .null
      let last = attempts.last.map { CallText.everything(of: $0, lastOf: end) } ?? ""
      return attempts.dropLast().map { CallText.everything(of: $0) }.joined() + last + Arguments.more(answer)
    }
    return .success
  }

  /// `redial list`
  static let list = Command(
    name: "list", summary: "List calls, newest first.",
    options: CallCondition.all.map(\.option) + [
      Option(name: "--label", form: "NAME=VALUE", summary: "Only those with this label.", repeats: true),
      Option(name: "--idempotency-key", form: "KEY", summary: "Only the call that was accepted under this key."),
      asJSON,
    ] + page(.calls, of: nil) + APIClient.options
  ) { arguments throws(CommandError) in
    var query = arguments.pageQuery(["--idempotency-key": "idempotencyKey"], after: CallCondition.all)
    for label in try arguments.labelParameters() { query += (query.isEmpty ? "?" : "&") + label }
    arguments.show(try APIClient(arguments).request("GET", "/v1/calls" + query), CallText.list)
    return .success
  }

  /// Sends a request about the call of the operand, and shows the call in the answer.
  private static func show(
    _ method: String, _ suffix: String, _ arguments: Arguments, json: [UInt8]? = nil
  ) throws(CommandError) -> ExitCode {
    let answer = try APIClient(arguments).request(method, "/v1/calls/\(try id(arguments))\(suffix)", json: json)
    arguments.show(answer, CallText.full)
    return .success
  }

  /// The call of the operand.
  private static func id(_ arguments: Arguments) throws(CommandError) -> CallID {
    guard let id = CallID(arguments.operands[0]) else {
      throw CommandError(
        code: .usage, message: "\(NamedID.call.refusal(of: arguments.operands[0])) `redial list` shows them.")
    }
    return id
  }
}
