internal import HTTPServer
internal import RedialModel

/// Submits a request as it is: `ANY /v1/forward/https://api.example.com/charges?x=1`.
///
/// A client uses Redial by a prefix to its URLs. Method, header and body are passed on; fields whose names start with
/// `Redial-` contain the other members of a descriptor. The client's `Authorization` is for Redial and not for the
/// target; `Redial-Authorization` is the one for the target. A browser adds its cookies for Redial's host, including
/// those of other programs on it, to each request: they are not passed on, and the target gets `Redial-Cookie`.
extension Routes {
  /// Accepts a request to be forwarded.
  func forward(
    _ url: String, _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    var options = ForwardOptions()
    let text = try descriptor(of: url, request, &options)
    let key = try keyText(of: request)
    let limits = try limits(for: caller, request)
    var descriptor = try text.withUnsafeBufferPointer { bytes throws(Problem) in
      try CallDescriptor.read(bytes, limits: limits)
    }
    descriptor.key = key.map {
      IdempotencyKey(text: caller.qualified($0), fingerprint: Self.fingerprint(of: request, to: url, options))
    }
    submit(descriptor, waiting: preferredWait(request), responder)
  }

  /// Identifies a repetition: method, URL, body and options for Redial. Header fields are left out, because a genuine
  /// repetition has another `traceparent`, and may have another token.
  private static func fingerprint(
    of request: borrowing HTTPRequest, to url: String, _ options: ForwardOptions
  ) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("method", "\(request.method)")
    writer.field("url", url)
    options.write(to: &writer)
    writer.endObject()
    return (writer.bytes + Array(request.body)).withUnsafeBytes { SHA256Digest.of($0) }
  }

  /// Fields of the connection with the client (RFC 9110 §7.6.1), of the message's framing, or for Redial, and cookies,
  /// which a browser adds by itself.
  private static let kept: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "transfer-encoding",
    "upgrade", "host", "content-length", "expect", "prefer", "cookie",
  ]

  /// Fields that an attempt sets itself.
  private static let ofAttempts: Set<String> = ["redial-call-id", "redial-attempt", "redial-hops"]

  /// The equivalent descriptor as JSON, so that the same checks apply as for any other.
  private func descriptor(
    of url: String, _ request: borrowing HTTPRequest, _ options: inout ForwardOptions
  ) throws(Problem) -> [UInt8] {
    var fields: [(name: String, values: [String])] = []
    var said = ForwardOptions()
    defer { options = said }
    var named: Set<String> = []
    var problem: Problem?
    var deliberate: [(name: String, value: String)] = []
    // The address that clients use for Redial, from a trusted proxy, would mislead the target.
    let isProxied = proxies.address(of: request) != nil
    request.forEachHeader { name, value in
      let name = String(decoding: name, as: UTF8.self).lowercased()
      let value = String(decoding: value, as: UTF8.self)
      if name == "connection" {
        for option in value.split(separator: ",") {
          named.insert(option.lowercased().filter { $0 != " " && $0 != "\t" })
        }
      }
      if name == "redial-namespace" {
        // It selects the namespace, and is not part of the call.
      } else if name == "authorization", keys.isCredential(value) {
        // It is for Redial: the target would learn the key, and so would readers of the store.
      } else if name == "redial-authorization" || name == "redial-cookie" {
        let own = String(name.dropFirst("redial-".count))
        if deliberate.contains(where: { $0.name == own }), problem == nil { problem = ForwardOptions.repeated(name) }
        deliberate.append((own, value))
      } else if Self.ofAttempts.contains(name) {
        // Another service like this one makes the request.
      } else if name.hasPrefix("redial-") {
        if let fault = said.take(name.dropFirst("redial-".count), value), problem == nil { problem = fault }
      } else if isProxied, ForwardedAddress.names.contains(name) {
        // It is for Redial.
      } else if !Self.kept.contains(name) {
        if let place = fields.firstIndex(where: { $0.name == name }) {
          fields[place].values.append(value)
        } else {
          fields.append((name, [value]))
        }
      }
    }
    if let problem { throw problem }
    for (name, value) in deliberate {
      // If no key is required, there may be two Authorizations; then the last one counts.
      fields.removeAll { $0.name == name }
      named.remove(name)
      fields.append((name, [value]))
    }
    var writer = JSONWriter(capacity: 1024 + request.body.count * 4 / 3)
    writer.beginObject()
    writer.field("url", url)
    writer.field("method", "\(request.method)")
    writer.key("headers")
    writer.beginObject()
    for field in fields where !named.contains(field.name) {
      writer.key(field.name)
      writer.beginArray()
      for value in field.values { writer.string(value) }
      writer.endArray()
    }
    writer.endObject()
    if !request.body.isEmpty { writer.field("bodyBase64", Base64.encode(Array(request.body))) }
    said.write(to: &writer)
    writer.endObject()
    return writer.bytes
  }
}

/// The `Redial-*` fields of a forwarded request.
struct ForwardOptions {
  /// Members of a descriptor that are text.
  private static let texts: [Substring: StaticString] = [
    "delay": "delay", "start-at": "startAt", "target": "target", "ordering-key": "orderingKey",
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
      let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { return Self.problem(name, "must be NAME=VALUE") }
      labels.append(CallSpec.Label(name: String(parts[0]), value: String(parts[1])))
      return nil
    case _ where !isFirst: return Self.problem(name, "is given twice")
    case "policy", "callback", "capture", "redirects": return takeJSON(name, value)
    case "priority", "idempotent": return takeJSON(name, value == "?1" ? "true" : value == "?0" ? "false" : value)
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
      case "priority": "priority"
      default: "idempotent"
      }
    // A callback may be only its URL, and a policy only its name.
    let isText = value.first != "{" && (name == "callback" || name == "policy")
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
      guard isJSON else { return Self.problem(name, "is not JSON") }
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

  /// What is wrong with a field that may occur once.
  ///
  /// - Parameter name: The whole name, in lower case.
  static func repeated(_ name: String) -> Problem { problem(name.dropFirst("redial-".count), "is given twice") }

  private static func problem(_ name: Substring, _ detail: String) -> Problem {
    Problem(
      status: 422, code: "invalidOption", title: "A Redial field cannot be used",
      detail: "The field Redial-\(name) \(detail).", errors: [.init(pointer: "Redial-\(name)", detail: detail)])
  }
}
