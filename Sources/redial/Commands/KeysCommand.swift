import RedialModel
import RedialService
import RedialJSON

extension Command {
  /// `redial keys`
  static let keys = Command(
    name: "keys", summary: "Create, list or revoke API keys.", operands: "[list] | create | revoke ID",
    operandCount: 1...2,
    words: [["create", "list", "revoke"]], operandValues: [OperandValues(kind: .apiKey, after: [["revoke"]])],
    usualOperands: ["list"],
    options: [
      Option(name: "--name", form: "NAME", summary: "A name for the key."),
      Option(
        name: "--scope", form: "SCOPE,...", summary: "What the key allows: some of \(APIScope.names).", values: .scope),
      Option(name: "--quota", form: "COUNT", summary: "Maximum number of requests per minute [no limit]."),
      Option(name: "--json", summary: "Show the answer as JSON."),
      Option(
        name: "--store", form: "STORE",
        summary: "Work on the store directly: sqlite:PATH while no service runs on it, or postgresql://…"),
    ] + page() + APIClient.options,
    notes: """
      A key is shown once, when it is created. As soon as there is a key, every request needs one, except /healthz,
      /readyz, /openapi.yaml, /llms.txt and the dashboard's page. A service without keys listens only on this machine.
      """
  ) { arguments throws(CommandError) in
    let action = arguments.operands[0]
    let id = arguments.operands.count > 1 ? arguments.operands[1] : nil
    let body: [UInt8]
    switch (action, id) {
    case ("create", nil): body = try KeysCommand.create(arguments)
    case ("list", nil): body = try KeysCommand.list(arguments)
    case ("revoke", let id?): body = try KeysCommand.revoke(id, arguments)
    default: throw CommandError(code: .usage, message: "expected create, list, or revoke and an id; see --help")
    }
    if arguments.has("--json") {
      Terminal.write(json: body)
      return .success
    }
    let answer = (try? JSONValue(parsing: body)) ?? .null
    if let key = answer["key"].escapedText {
      Terminal.write(key + "\n")
    } else {
      Terminal.write(KeysCommand.table(action == "list" ? answer["data"].elements : [answer]) + Arguments.more(answer))
    }
    return .success
  }
}

/// API keys, through the service or in the store of one that is not running.
enum KeysCommand {
  static func create(_ arguments: Arguments) throws(CommandError) -> [UInt8] {
    guard let wanted = arguments.value("--scope") else {
      throw CommandError(code: .usage, message: "--scope is needed: what the key allows, some of \(APIScope.names)")
    }
    var scopes: Set<APIScope> = []
    for name in wanted.split(separator: ",") {
      guard let scope = APIScope(rawValue: String(name)) else {
        throw CommandError(code: .usage, message: "\"\(name)\" is not a scope; there are \(APIScope.names)")
      }
      scopes.insert(scope)
    }
    guard let name = arguments.value("--name"), (1...APIKeyDraft.longestName).contains(name.unicodeScalars.count) else {
      throw CommandError(code: .usage, message: "--name is needed, of 1 to \(APIKeyDraft.longestName) characters")
    }
    var quota: Int?
    if let text = arguments.value("--quota") {
      quota = Int(text)
      guard let quota, APIKeyDraft.quotas.contains(quota) else {
        throw CommandError(
          code: .usage,
          message: "--quota must be a whole number from \(APIKeyDraft.quotas.lowerBound) to "
            + "\(APIKeyDraft.quotas.upperBound)")
      }
    }
    var namespace: Namespace?
    if let text = arguments.value("--namespace") ?? Environment.value("REDIAL_NAMESPACE") {
      namespace = Namespace(text)
      if namespace == nil { throw CommandError(code: .usage, message: "--namespace \(Namespace.rule)") }
    }
    if arguments.has("--store") {
      let draft = APIKeyDraft(name: name, scopes: scopes, quota: quota, namespace: namespace)
      return try inStore(arguments) { settings throws(Service.StartError) in try Service.createKey(settings, draft) }
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("name", name)
    writer.key("scopes")
    writer.beginArray()
    for scope in APIScope.allCases where scopes.contains(scope) { writer.string(scope.rawValue) }
    writer.endArray()
    if let quota { writer.field("quota", quota) }
    if let namespace { writer.field("namespace", namespace.name) }
    writer.endObject()
    // The option names the new key's namespace; the request itself acts in the namespace of the caller's key.
    return try APIClient(arguments, actsInNamespace: false).request("POST", "/v1/keys", json: writer.bytes).body
  }

  static func list(_ arguments: Arguments) throws(CommandError) -> [UInt8] {
    if arguments.has("--store") {
      return try inStore(arguments) { settings throws(Service.StartError) in try Service.listKeys(settings) }
    }
    return try APIClient(arguments).request("GET", "/v1/keys" + arguments.pageQuery()).body
  }

  static func revoke(_ id: String, _ arguments: Arguments) throws(CommandError) -> [UInt8] {
    guard id.utf8.allSatisfy({ $0 == 0x5F || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) }) else {
      throw CommandError(code: .usage, message: "\"\(id)\" is not the id of a key; `redial keys list` shows ids")
    }
    guard arguments.has("--store") else {
      return try APIClient(arguments).request("DELETE", "/v1/keys/\(id)").body
    }
    let answer = try inStore(arguments) { settings throws(Service.StartError) in try Service.revokeKey(settings, id) }
    guard let answer else { throw CommandError(code: .refused, message: "No API key has the id \(id).") }
    return answer
  }

  private static func inStore<Result>(
    _ arguments: Arguments, _ body: (ServiceSettings) throws(Service.StartError) -> Result
  ) throws(CommandError) -> Result {
    let settings = try StoreOption.settings(arguments)
    do throws(Service.StartError) {
      return try body(settings)
    } catch {
      throw CommandError(code: .unreachable, message: error.message)
    }
  }

  static func table(_ keys: [JSONValue]) -> String {
    var table = Table("key", "scopes", "quota", "namespace", "name", "")
    for key in keys {
      table.add(
        Table.Cell(key["id"].escapedText),
        Table.Cell(key["scopes"].elements.compactMap(\.escapedText).joined(separator: ",")),
        Table.Cell(key["quota"].integer.map { "\($0)/min" }), Table.Cell(key["namespace"].escapedText),
        Table.Cell(key["name"].escapedText), Table.Cell(key["revokedAt"].escapedText.map { "revoked \($0)" }, .bad))
    }
    return table.text(none: "There is no key; `redial keys create --name NAME --scope SCOPE` makes one.")
  }
}
