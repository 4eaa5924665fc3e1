internal import RedialModel
internal import RedialJSON

/// The `Redial-*` fields of a forwarded request.
struct ForwardOptions {
  /// Members of a descriptor that are text.
  private static let texts: [Substring: StaticString] = [
    "delay": "delay", "start-at": "startAt", "target": "target", "ordering-key": "orderingKey",
    "on-repeat": "onRepeat", "credential": "credential",
  ]

  private var members: [(name: StaticString, value: [UInt8])] = []
  private var labels: [CallSpec.Label] = []
  private var seen: Set<Substring> = []

  /// Reads a field.
  ///
  /// - Parameter name: The name after `redial-`, in lower case.
  /// - Returns: What is wrong with it.
  mutating func take(_ name: Substring, _ value: String) -> Problem? {
    let isFirst = seen.insert(name).inserted
    switch name {
    case "label":
      guard let label = CallSpec.Label(value) else { return Self.problem(name, CallSpec.Label.fault) }
      labels.append(label)
      return nil
    case _ where !isFirst: return Self.problem(name, "is given twice")
    case "policy", "callback", "capture", "redirects", "redact", "sign": return takeJSON(name, value)
    case "priority", "idempotent", "sensitive":
      return takeJSON(name, value == "?1" ? "true" : value == "?0" ? "false" : value)
    default:
      guard let member = Self.texts[name] else { return Self.problem(name, "is not an option") }
      var writer = JSONWriter()
      writer.string(value)
      members.append((member, writer.bytes))
      return nil
    }
  }

  private mutating func takeJSON(_ name: Substring, _ value: String) -> Problem? {
    let member: StaticString =
      switch name {
      case "policy": "policy"
      case "callback": "callback"
      case "capture": "capture"
      case "redirects": "redirects"
      case "sign": "sign"
      case "redact": "redact"
      case "priority": "priority"
      case "sensitive": "sensitive"
      default: "idempotent"
      }
    // A callback may be only its URL, and a policy or what signs only its name.
    let isText = value.first != "{" && (name == "callback" || name == "policy" || name == "sign")
    var writer = JSONWriter()
    if isText, name == "callback" {
      writer.beginObject()
      writer.field("url", value)
      writer.endObject()
    } else if isText {
      writer.string(value)
    } else {
      let bytes = Array(value.utf8)
      let isJSON = bytes.withUnsafeBufferPointer { bytes in
        var reader = JSONReader(bytes)
        return (try? reader.skipValue()) != nil && (try? reader.finish()) != nil
      }
      guard isJSON else { return Self.problem(name, Self.form(of: name)) }
      writer.raw(bytes)
    }
    members.append((member, writer.bytes))
    return nil
  }

  /// Writes the members into an open object.
  func write(to writer: inout JSONWriter) {
    for member in members {
      writer.key(member.name)
      writer.raw(member.value)
    }
    if !labels.isEmpty { labels.write(to: &writer) }
  }

  /// A fault in the descriptor that is made of a request, at the field of that request.
  func asSent(_ fault: Problem.Fault) -> Problem.Fault {
    var parts = (fault.pointer ?? "").split(separator: "/", omittingEmptySubsequences: true)[...]
    guard let member = parts.popFirst().map(String.init) else { return fault }
    if member == "headers", let name = parts.first { return .init(header: String(name), detail: fault.detail) }
    let name = Self.texts.first { $1.description == member }?.key ?? (member == "labels" ? "label" : Substring(member))
    guard seen.contains(name) else { return fault }
    let rest = parts.joined(separator: "/")
    return .init(header: Self.field(name), detail: rest.isEmpty ? fault.detail : "has \(rest), which \(fault.detail)")
  }

  /// What is wrong with a field that may occur once.
  ///
  /// - Parameter name: The whole name, in lower case.
  static func repeated(_ name: String) -> Problem { problem(name.dropFirst("redial-".count), "is given twice") }

  /// A field's name as the contract has it, such as `Redial-Start-At`.
  static func field(_ name: Substring) -> String {
    (["Redial"]
      + name.split(separator: "-", omittingEmptySubsequences: false).map { $0.prefix(1).uppercased() + $0.dropFirst() })
      .joined(separator: "-")
  }

  /// What a field must be, as a clause.
  private static func form(of name: Substring) -> String {
    switch name {
    case "priority": "must be a whole number"
    case "idempotent", "sensitive": "must be true or false (or ?1 or ?0)"
    case "policy": "must be the name of a policy, or a policy as JSON"
    case "callback": "must be a URL, or a callback as JSON"
    default: "must be JSON"
    }
  }

  private static func problem(_ name: Substring, _ detail: String) -> Problem {
    Problem(.invalidOption, at: .init(.header, field(name)), detail)
  }
}
