internal import HTTPServer
internal import RedialModel
internal import RedialJSON
internal import RedialText

/// Submits a request as it is: `ANY /v1/forward/https://api.example.com/charges?x=1`.
///
/// A client uses Redial by a prefix to its URLs. Method, header and body are passed on; fields whose names start with
/// `Redial-` contain the other members of a descriptor. The client's `Authorization` is for Redial and not for the
/// target; `Redial-Authorization` is the one for the target. A browser adds its cookies for Redial's host, including
/// those of other programs on it, to each request: they are not passed on, and the target gets `Redial-Cookie`.
struct ForwardRoutes: RouteGroup {
  let submission: Submission
  let keys: KeyRing
  /// The proxies whose `X-Forwarded-*` fields are used.
  let proxies: TrustedProxies
  let users: TrustedUsers

  var routes: [Route] {
    [
      Route(
        nil, "/v1/forward/*", .scope(.submit), exposure: .acting, isSubmission: true, takesCodedContent: true,
        serve: forward)
    ]
  }

  private func forward(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    // The query belongs to the URL.
    let url = ForwardedURL.text(exchange.part) + (request.query.map { "?" + $0 } ?? "")
    guard ForwardedURL.isAbsolute(url) else { throw ForwardedURL.notAbsolute }
    let caller = exchange.caller
    var options = ForwardOptions()
    let text = try descriptor(of: url, request, &options)
    let keyText = try request.idempotencyKey()
    var limits = try submission.limits(for: caller, request)
    limits.mayHaveLatin1 = true
    let wait = submission.preferredWait(request, of: caller)
    let key = keyText.map { Self.key(caller.idempotencyName($0), of: request, to: url, options) }
    do throws(Problem) {
      var descriptor = try text.withUnsafeBufferPointer { bytes throws(Problem) in
        try CallDescriptor.read(bytes, limits: limits)
      }
      descriptor.key = key
      submission.submit(descriptor, waiting: wait, exchange.responder)
    } catch {
      try submission.refuse(
        error.restated(options.asSent), unlessRepeatedUnder: key, waiting: wait, exchange.responder)
    }
  }

  /// Identifies a repetition: method, URL, body and options for Redial. Header fields are left out, because a genuine
  /// repetition has another `traceparent`, and may have another token.
  private static func key(
    _ name: IdempotencyName, of request: borrowing HTTPRequest, to url: String, _ options: ForwardOptions
  ) -> IdempotencyKey {
    var writer = JSONWriter()
    writer.beginObject()
    writer.field("method", "\(request.method)")
    writer.field("url", url)
    options.write(to: &writer)
    writer.endObject()
    let body = Array(request.body)
    return writer.bytes.withUnsafeBufferPointer {
      IdempotencyKey(name, json: $0, former: UnsafeRawBufferPointer($0), before: body)
    }
  }

  /// Fields of the connection with the client (RFC 9110 §7.6.1), of the message's framing, or for Redial, and cookies,
  /// which a browser adds by itself.
  private static let kept = ConnectionFields.names.union(["prefer", "cookie"])

  /// Whether a proxy that signs people in adds the field, with who they are or their token: oauth2-proxy does, and
  /// mod_auth_openidc.
  private static func isOfSigningIn(_ name: String) -> Bool {
    ["x-auth-request-", "oidc_", "oidc-"].contains { name.hasPrefix($0) }
      || [
        "x-forwarded-user", "x-forwarded-groups", "x-forwarded-email", "x-forwarded-preferred-username",
        "x-forwarded-access-token",
      ].contains(name)
  }

  /// Fields that an attempt sets itself.
  private static let ofAttempts: Set<String> = ["redial-call-id", "redial-attempt", "redial-hops"]

  /// The equivalent descriptor as JSON, so that the same checks apply as for any other.
  private func descriptor(
    of url: String, _ request: borrowing HTTPRequest, _ options: inout ForwardOptions
  ) throws(Problem) -> [UInt8] {
    var fields: [(name: String, values: [HeaderField])] = []
    var said = ForwardOptions()
    defer { options = said }
    var named: Set<String> = []
    var problem: Problem?
    var deliberate: [HeaderField] = []
    // The address that clients use for Redial, from a trusted proxy, would mislead the target.
    let isProxied = proxies.address(of: request) != nil
    request.forEachHeader { name, bytes in
      let name = String(decoding: name, as: UTF8.self).lowercased()
      let field = HeaderField(name, bytes: bytes)
      let value = field.value
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
        deliberate.append(HeaderField(own, bytes: bytes))
      } else if Self.ofAttempts.contains(name) {
        // Another service like this one makes the request.
      } else if name.hasPrefix("redial-") {
        if let fault = said.take(name.dropFirst("redial-".count), value), problem == nil { problem = fault }
      } else if users.isOn, name == users.userField || name == users.groupsField || Self.isOfSigningIn(name) {
        // It is for Redial.
      } else if isProxied, ForwardedAddress.names.contains(name) {
        // It is for Redial.
      } else if !Self.kept.contains(name) {
        if let place = fields.firstIndex(where: { $0.name == name }) {
          fields[place].values.append(field)
        } else {
          fields.append((name, [field]))
        }
      }
    }
    if let problem { throw problem }
    for field in deliberate {
      // If no key is required, there may be two Authorizations; then the last one counts.
      fields.removeAll { $0.name == field.name }
      named.remove(field.name)
      fields.append((field.name, [field]))
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
      for value in field.values { value.writeStored(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
    if !request.body.isEmpty { writer.field("bodyBase64", Base64.encode(Array(request.body))) }
    said.write(to: &writer)
    writer.endObject()
    return writer.bytes
  }
}
