import RedialModel
import RedialJSON
import RedialText

extension Command {
  private static let actions = [
    "list", "create", "show", "rotate", "test", "deliveries", "redeliver", "enable", "disable", "delete",
  ]

  /// `redial webhooks`
  static let webhooks = Command(
    name: "webhooks", summary: "Register webhook endpoints, test them, and see their deliveries.",
    operands: "[list] | create URL | show|rotate|test|deliveries|enable|disable|delete ID | redeliver CALL",
    operandCount: 1...2, words: [actions],
    operandValues: [
      OperandValues(
        kind: .webhook, after: [["show", "rotate", "test", "deliveries", "enable", "disable", "delete"]]),
      OperandValues(kind: .delivery, after: [["redeliver"]]),
    ], usualOperands: ["list"],
    options: [
      Option(
        name: "--event", form: "EVENT,...", summary: "create: send only these events [all].", repeats: true,
        values: .webhookEvent),
      Option(
        name: "--target", form: "KEY", summary: "create: send only events of this target.", repeats: true,
        values: .target),
      Option(name: "--description", form: "TEXT", summary: "create: a description of the endpoint."),
      Option(
        name: "--overlap", form: "DURATION",
        summary: "rotate: how long webhooks are signed with the old secret, too [1d]."),
      Option(name: "--state", form: "STATE", summary: "deliveries: only those in this state.", values: .callState),
      asJSON,
    ] + page(.calls, of: "list, deliveries") + APIClient.options,
    notes: """
      create and rotate show the secret that webhooks are signed with. It is shown only once. A delivery is a call itself:
      `redial get CALL` shows its attempts, and redeliver sends it again. To send all failed deliveries of an endpoint again:
      redial ops create retry --kind webhook --target webhook:ID
      """
  ) { arguments throws(CommandError) in
    try WebhooksCommand(arguments).run()
  }
}

/// Webhook endpoints and their deliveries.
struct WebhooksCommand {
  private static let path = "/v1/webhook-endpoints"

  private let arguments: Arguments
  private let client: APIClient

  init(_ arguments: Arguments) {
    self.arguments = arguments
    client = APIClient(arguments)
  }

  func run() throws(CommandError) -> ExitCode {
    let action = arguments.operands[0]
    switch (action, arguments.operands.dropFirst().first) {
    case ("list", nil): arguments.showPage(try client.request("GET", Self.path + arguments.pageQuery()), Self.list)
    case ("create", let url?):
      arguments.show(try client.request("POST", Self.path, json: draft(url)), Self.full)
    case ("show", let id?): arguments.show(try client.request("GET", Self.path(id)), Self.full)
    case ("rotate", let id?):
      var writer = JSONWriter()
      writer.beginObject()
      if let overlap = arguments.value("--overlap") { writer.field("overlap", overlap) }
      writer.endObject()
      arguments.show(try client.request("POST", Self.path(id) + "/rotate-secret", json: writer.bytes), Self.full)
    case ("test", let id?): arguments.show(try client.request("POST", Self.path(id) + "/test"), CallText.full)
    case ("deliveries", let id?):
      let query = arguments.pageQuery(["--state": "state"])
      arguments.show(try client.request("GET", Self.path(id) + "/deliveries" + query), CallText.list)
    case ("redeliver", let id?):
      guard let call = CallID(id) else {
        throw CommandError(
          code: .usage, message: "\"\(id)\" is not a delivery; `redial webhooks deliveries ID` shows them")
      }
      arguments.show(try client.request("POST", "/v1/calls/\(call)/retry"), CallText.full)
    case ("enable", let id?): arguments.show(try set(id, enabled: true), Self.full)
    case ("disable", let id?): arguments.show(try set(id, enabled: false), Self.full)
    case ("delete", let id?):
      _ = try client.request("DELETE", Self.path(id))
      if !arguments.has("--json") { Terminal.write("\(id) is deleted\n") }
    default:
      throw CommandError(
        code: .usage,
        message:
          "expected list, create URL, redeliver CALL, or one of show, rotate, test, deliveries, enable, disable, "
          + "delete and an ID; see --help")
    }
    return .success
  }

  private static func path(_ id: String) -> String { "\(path)/\(PercentCoding.encode(id))" }

  private func draft(_ url: String) -> [UInt8] {
    let events = arguments.all("--event").flatMap { $0.split(separator: ",").map(String.init) }
    return Self.draft(
      url: url, description: arguments.value("--description"), events: events.isEmpty ? nil : events,
      targets: arguments.all("--target"))
  }

  private static func draft(
    url: String, description: String?, events: [String]?, targets: [String], enabled: Bool? = nil
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("url", url)
    if let description { writer.field("description", description) }
    for (name, texts) in [("events", events), ("targets", targets.isEmpty ? nil : targets)] {
      guard let texts else { continue }
      writer.key(name)
      writer.beginArray()
      for text in texts { writer.string(text) }
      writer.endArray()
    }
    if let enabled { writer.field("enabled", enabled) }
    writer.endObject()
    return writer.bytes
  }

  /// The endpoint unchanged, except whether it is enabled.
  private func set(_ id: String, enabled: Bool) throws(CommandError) -> APIClient.Answer {
    let endpoint = try client.request("GET", Self.path(id)).json
    let draft = Self.draft(
      url: endpoint["url"].text ?? "", description: endpoint["description"].text,
      events: endpoint["events"].elements.compactMap(\.text), targets: endpoint["targets"].elements.compactMap(\.text),
      enabled: enabled)
    return try client.request("PUT", Self.path(id), json: draft)
  }

  // MARK: Text

  private static func state(_ endpoint: JSONValue) -> String {
    guard !endpoint["enabled"].isTrue else { return "enabled" }
    return "disabled"
  }

  private static func list(_ answer: JSONValue) -> String {
    var table = Table("endpoint", "state", "events", "url", "")
    for endpoint in answer["data"].elements {
      let failing =
        endpoint["failingSince"].escapedText.map { "fails since \($0)" } ?? endpoint["description"].escapedText
      table.add(
        Table.Cell(endpoint["id"].escapedText), .state(state(endpoint)), .number(endpoint["events"].elements.count),
        Table.Cell(endpoint["url"].escapedText),
        Table.Cell(failing, endpoint["failingSince"].escapedText == nil ? .soft : .bad))
    }
    return table.text(none: "No endpoint is registered; `redial webhooks create URL` registers one.")
  }

  private static func full(_ endpoint: JSONValue) -> String {
    let state = state(endpoint)
    var text =
      "\(endpoint["id"].escapedText ?? "")  \(Terminal.styled(state, Style(of: state)))  \(endpoint["url"].escapedText ?? "")\n"
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { text += "  \(Terminal.styled(RedialTool.padded(name, 13), .soft))\(value)\n" }
    }
    add("description", endpoint["description"].escapedText)
    add("events", endpoint["events"].elements.compactMap(\.escapedText).joined(separator: ", "))
    add("targets", endpoint["targets"].elements.compactMap(\.escapedText).joined(separator: ", "))
    add("because", endpoint["disabledReason"].escapedText)
    add("disabled at", endpoint["disabledAt"].escapedText)
    add("fails since", endpoint["failingSince"].escapedText)
    for secret in endpoint["secrets"].elements {
      let until = secret["expiresAt"].escapedText.map { ", signs until \($0)" } ?? ""
      add("secret", "\(secret["id"].escapedText ?? "") of \(secret["createdAt"].escapedText ?? "")\(until)")
    }
    if let secret = endpoint["secret"].escapedText { text += "The new secret, which is not shown again:\n\(secret)\n" }
    return text
  }
}
