import Glibc
import RedialModel
import RedialJSON
import RedialText

extension Command {
  /// `redial call`
  static let call = Command(
    name: "call", summary: "Submit a call, wait for its end, and show its attempts as they happen.",
    operands: "URL", operandCount: 1...1,
    options: descriptorOptions + followOptions + APIClient.options
  ) { arguments throws(CommandError) in
    try CallCommand(arguments).run("/v1/calls", url: arguments.operands[0])
  }

  /// `redial replay`
  static let replay = Command(
    name: "replay", summary: "Submit a call like an earlier one, with changes, and show its attempts as they happen.",
    operands: "ID", operandCount: 1...1, operandValues: [OperandValues(kind: .call)],
    options: [Option(name: "--to", form: "URL", summary: "Another URL [the original's].")] + descriptorOptions
      + followOptions + APIClient.options,
    notes: """
      Each option replaces what the original has; what is not named stays. Another URL, method, header or body takes a key
      with the scope payloads. Secret header fields do not go to another origin: name all headers again.
      """
  ) { arguments throws(CommandError) in
    guard let id = CallID(arguments.operands[0]) else {
      throw CommandError(
        code: .usage, message: "\(NamedID.call.refusal(of: arguments.operands[0])) `redial list` shows them.")
    }
    return try CallCommand(arguments).run("/v1/calls/\(id)/replay", url: arguments.value("--to"))
  }

  private static let descriptorOptions = [
    Option(
      name: "--method", short: "-X", form: "METHOD", summary: "Method [GET, or POST with a body].",
      values: .words(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])),
    Option(
      name: "--header", short: "-H", form: "'NAME: VALUE'", summary: "A header field of the request.", repeats: true),
    Option(
      name: "--data", short: "-d", form: "TEXT",
      summary: "Request body; @FILE reads it from a file. If it is JSON, it is sent as application/json."),
    Option(name: "--not-idempotent", summary: "Do not repeat the request once it may have been executed."),
    Option(
      name: "--policy", form: "JSON|NAME", summary: "The policy, as in a call descriptor, or a stored one.",
      values: .policy),
    Option(
      name: "--credential", form: "NAME",
      summary: "The stored credential that proves to the target who sends the call.",
      values: .credential),
    Option(
      name: "--sign", form: "NAME", summary: "The stored credential that signs each attempt.", values: .credential),
    Option(name: "--delay", form: "DURATION", summary: "Wait this long before the first attempt."),
    Option(name: "--start-at", form: "TIME", summary: "When to make the first attempt, such as 2026-12-01T09:00:00Z."),
    Option(
      name: "--target", form: "KEY", summary: "Target whose breaker and limits the call shares [the URL's origin].",
      values: .target),
    Option(
      name: "--priority", form: "NUMBER",
      summary: "0 to 9; of the due calls of a target the highest goes first [\(CallSpec.defaultPriority)]."),
    Option(
      name: "--ordering-key", form: "KEY",
      summary: "Run one at a time, in their order, with the target's other calls of this key."),
    Option(
      name: "--idempotency-key", form: "KEY",
      summary:
        "For a day, the same call under the same key is submitted once; it runs again if it failed or was cancelled."),
    Option(
      name: "--on-repeat", form: "RULE",
      summary: "What the same key does once the call has failed: rerun or answer [the service's setting onRepeat].",
      values: .words(RepetitionRule.allCases.map(\.rawValue))),
    Option(
      name: "--sensitive",
      summary: "Show nobody its header fields, bodies and query, and erase them when it ends; see docs/payloads.md."),
    Option(
      name: "--redact", form: "POINTER", summary: "A member of JSON bodies that nobody sees, such as /card/number.",
      repeats: true),
    Option(name: "--description", form: "TEXT", summary: "What the call is for, for people."),
    Option(name: "--label", form: "NAME=VALUE", summary: "A label of the call.", repeats: true),
    Option(name: "--callback", form: "URL", summary: "URL that gets a webhook when the call ends."),
  ]

  private static let followOptions = [
    Option(name: "--no-wait", summary: "Show the id of the accepted call and exit."),
    Option(
      name: "--timeout", form: "DURATION", summary: "Stop waiting after this time; the call goes on [no limit]."),
    Option(name: "--json", summary: "Show only the ended call, as JSON."),
  ]
}

/// Submits a call and follows it.
struct CallCommand {
  private let arguments: Arguments
  private let client: APIClient

  init(_ arguments: Arguments) {
    self.arguments = arguments
    client = APIClient(arguments)
  }

  /// Submits the call that the options describe.
  ///
  /// - Parameters:
  ///   - path: The API path for the submission.
  ///   - url: Its URL; nil for that of the replayed call.
  func run(_ path: String, url: String?) throws(CommandError) -> ExitCode {
    let limit = try Self.timeout(arguments)
    let key = arguments.value("--idempotency-key").map { [HeaderField("idempotency-key", $0)] } ?? []
    let accepted = try client.request("POST", path, json: try descriptor(url), headers: key)
    guard let id = accepted.json["id"].escapedText else {
      throw CommandError(code: .unreachable, message: "\(client.base) does not answer like Redial")
    }
    if arguments.has("--no-wait") {
      if arguments.has("--json") { Terminal.write(json: accepted.body) } else { Terminal.write(id + "\n") }
      return .success
    }
    if !arguments.has("--json") { Terminal.write(Self.words(accepted, id)) }
    return try follow(id, within: limit)
  }

  /// How the submission was answered, as a line.
  private static func words(_ accepted: APIClient.Answer, _ id: String) -> String {
    switch accepted.repetition {
    case "repeated": "repeated: \(id) was submitted before\n"
    case "rerun": "runs again: \(id) was submitted before\n"
    case "notRerun": "not run again: \(id) was submitted before, and cannot run again; submit under another key\n"
    default: "accepted as \(id)\n"
    }
  }

  /// How long to wait; nil for no limit.
  static func timeout(_ arguments: Arguments) throws(CommandError) -> Duration? {
    guard let text = arguments.value("--timeout") else { return nil }
    guard let limit = DurationText.parse(text) else {
      throw CommandError(code: .usage, message: "--timeout: \"\(text)\" is not a duration such as 30s")
    }
    return limit
  }

  private func follow(_ id: String, within limit: Duration?) throws(CommandError) -> ExitCode {
    let isQuiet = arguments.has("--json")
    var shown = 0
    var following = Following(client, "/v1/calls/\(id)", id: id, within: limit)
    let answer = try following.end { call in
      if !isQuiet {
        let attempts = call["attempts"].elements
        for (index, attempt) in attempts.enumerated().dropFirst(shown) {
          Terminal.write(CallText.line(attempt, lastOf: index == attempts.count - 1 ? call : .null))
        }
        shown = attempts.count
      }
      return CallText.hasEnded(call)
    } summary: {
      CallText.summary($0)
    }
    let call = answer.json
    if isQuiet { Terminal.write(json: answer.body) } else { Terminal.write(CallText.summary(call)) }
    return call["state"].text == "succeeded" ? .success : .unsuccessful
  }

  /// The call descriptor from the options; the service checks it.
  private func descriptor(_ url: String?) throws(CommandError) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    if let url { writer.field("url", url) }
    if let method = arguments.value("--method") { writer.field("method", method) }
    try writeHeaders(&writer)
    if let data = arguments.value("--data") {
      let bytes = try body(data)
      if (try? JSONValue(parsing: bytes)) != nil {
        // Sent byte for byte, as application/json unless a header says otherwise.
        writer.key("json")
        writer.raw(bytes)
      } else if let text = String(validating: bytes, as: UTF8.self) {
        writer.field("body", text)
      } else {
        writer.field("bodyBase64", Base64.encode(bytes))
      }
    }
    if arguments.has("--sensitive") { writer.field("sensitive", true) }
    let pointers = arguments.all("--redact")
    if !pointers.isEmpty {
      writer.key("redact")
      writer.beginArray()
      for pointer in pointers { writer.string(pointer) }
      writer.endArray()
    }
    if arguments.has("--not-idempotent") { writer.field("idempotent", false) }
    if let rule = arguments.value("--on-repeat") { writer.field("onRepeat", rule) }
    try writePolicy(&writer)
    if let name = arguments.value("--credential") { writer.field("credential", name) }
    if let name = arguments.value("--sign") { writer.field("sign", name) }
    if let delay = arguments.value("--delay") { writer.field("delay", delay) }
    if let time = arguments.value("--start-at") { writer.field("startAt", time) }
    if let target = arguments.value("--target") { writer.field("target", target) }
    if let priority = try arguments.number("--priority", in: CallSpec.priorities) { writer.field("priority", priority) }
    if let key = arguments.value("--ordering-key") { writer.field("orderingKey", key) }
    if let text = arguments.value("--description") { writer.field("description", text) }
    try arguments.writeLabels(to: &writer)
    if let callback = arguments.value("--callback") {
      writer.key("callback")
      writer.beginObject()
      writer.field("url", callback)
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  private func writeHeaders(_ writer: inout JSONWriter) throws(CommandError) {
    var names: [String] = []
    var values: [String: [String]] = [:]
    for text in arguments.all("--header") {
      guard let colon = text.firstIndex(of: ":") else {
        throw CommandError(code: .usage, message: "--header: \"\(text)\" is not NAME: VALUE")
      }
      let name = String(text[..<colon])
      let value = text[text.index(after: colon)...].drop { $0 == " " }
      if values[name] == nil { names.append(name) }
      values[name, default: []].append(String(value))
    }
    guard !names.isEmpty else { return }
    writer.key("headers")
    writer.beginObject()
    for name in names {
      writer.key(name)
      writer.beginArray()
      for value in values[name] ?? [] { writer.string(value) }
      writer.endArray()
    }
    writer.endObject()
  }

  /// A policy in JSON, or the bare name of a stored one.
  private func writePolicy(_ writer: inout JSONWriter) throws(CommandError) {
    guard let policy = arguments.value("--policy") else { return }
    let bytes = Array(policy.utf8)
    do throws(JSONError) {
      _ = try JSONValue(parsing: bytes)
      writer.key("policy")
      writer.raw(bytes)
    } catch {
      guard let first = policy.first, first.isLetter || first.isNumber else {
        throw CommandError(
          code: .usage,
          message: "--policy is neither JSON nor the name of a stored policy: at byte \(error.offset): \(error.reason)")
      }
      writer.field("policy", policy)
    }
  }

  private func body(_ data: String) throws(CommandError) -> [UInt8] {
    guard data.hasPrefix("@") else { return Array(data.utf8) }
    let path = String(data.dropFirst())
    guard let bytes = FileReading.read(path) else {
      throw CommandError(code: .usage, message: "--data: cannot read \(path): \(String(cString: strerror(errno)))")
    }
    return bytes
  }
}
