internal import HTTPServer
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// The credentials that calls use by their names.
struct CredentialRoutes: RouteGroup {
  let queries: Queries
  let changes: Changes
  /// Nil if no others can share the store.
  let instances: OtherInstances?
  let credentials: AttemptCredentials
  let limits: CallDescriptor.Limits
  /// The maximum number of credentials of a namespace.
  let maxCredentials: Int

  private static let one = "/v1/credentials/{name}"

  var routes: [Route] {
    [
      Route(.get, "/v1/credentials", .scope(.read), serve: list),
      Route(.get, Self.one, .scope(.read), serve: show),
      Route(.put, Self.one, .scope(.admin), server: .leader, audit: .credentialPut, serve: put),
      Route(.delete, Self.one, .scope(.admin), server: .leader, audit: .credentialRemoved, serve: remove),
    ]
  }

  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let page = try ListPage(parameters: request.query)
    try instances?.documents.check()
    let known = credentials.known.all(in: exchange.caller.namespace)
    let damaged = credentials.known.damaged(in: exchange.caller.namespace)
    let answer = try Answer.list(known, page, .byName, unreadable: damaged, by: \.name) { write($0, to: &$1) }
    queries.respond(exchange.responder, answer)
  }

  private func show(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try instances?.documents.check()
    let name = CredentialName(try exchange.credentialName(), in: exchange.caller.namespace)
    queries.respond(exchange.responder, answer(try Self.require(credentials.known[name], name)))
  }

  private func put(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    try request.checkJSON()
    let (name, namespace) = (try exchange.credentialName(), exchange.caller.namespace)
    let draft = try CredentialDraft.read(request.content, limits: limits)
    try Self.checkKey(of: draft.content)
    try limits.requireKey(for: "The credential \(name)")
    let known = credentials.known
    changes.makeDocuments(exchange) { store in
      let old = known[CredentialName(name, in: namespace)]
      guard old != nil || known.all(in: namespace).count < maxCredentials else {
        throw Problem(
          .tooManyCredentials,
          detail:
            "The namespace \(namespace) has \(maxCredentials) credentials, which is the maximum (maxCredentials). "
            + "Delete one first, or raise it.")
      }
      let credential = Credential(draft, name: name, in: namespace, inPlaceOf: old, at: Clock.wallTime())
      try store.commit([.put(credential.document)])
      known.set(credential)
      return answer(credential, status: old == nil ? 201 : 200)
    }
  }

  private func remove(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try request.checkNoParameters()
    let name = CredentialName(try exchange.credentialName(), in: exchange.caller.namespace)
    let known = credentials.known
    changes.makeDocuments(exchange) { store in
      if !known.damaged(in: name.namespace).contains(name.bare) { _ = try Self.require(known[name], name) }
      let id = Credential.documentID(of: name)
      try store.commit([.remove(.credential, id: id), .remove(.accessToken, id: id)])
      known.remove(name)
      return HTTPResponse(status: 204, headers: [], body: [])
    }
  }

  /// Refuses a private key that cannot sign.
  private static func checkKey(of content: CredentialContent) throws(Problem) {
    guard content.type == .oauth2, content.clientAuthentication == .privateKeyJWT,
      SignatureKey(pem: content[.privateKey], for: content.algorithm) == nil
    else { return }
    let fault = TokenRequest.keyFault(content.algorithm)
    throw Problem(
      .invalidCredential, detail: fault,
      errors: [.init(pointer: "/privateKey", detail: "cannot be used for \(content.algorithm.rawValue)")])
  }

  private static func require(_ credential: Credential?, _ name: CredentialName) throws(Problem) -> Credential {
    guard let credential else {
      throw Problem(
        .credentialNotFound, detail: "No credential is called \(name.bare); GET /v1/credentials lists them.")
    }
    return credential
  }

  private func answer(_ credential: Credential, status: Int = 200) -> HTTPResponse {
    var response = Answer.json(capacity: 512) { write(credential, to: &$0) }
    response.status = status
    if status == 201 { response.headers.append(HTTPHeader("location", "/v1/credentials/\(credential.name)")) }
    return response
  }

  private func write(_ credential: Credential, to writer: inout JSONWriter) {
    writer.beginObject()
    credential.writeMembers(to: &writer)
    if credential.content.type == .oauth2 {
      writer.key("accessToken")
      Self.write(credentials.standing(of: credential, at: Clock.wallTime()), to: &writer)
    }
    writer.endObject()
  }

  private static func write(_ standing: TokenBook.Standing, to writer: inout JSONWriter) {
    writer.beginObject()
    switch standing {
    case .none: writer.field("state", "none")
    case .fetching: writer.field("state", "fetching")
    case .valid(let until):
      writer.field("state", "valid")
      writer.field("expiresAt", until)
    case .failing(let problem, let until):
      writer.field("state", "failing")
      writer.field("problem", problem)
      writer.field("nextFetchAt", until)
    }
    writer.endObject()
  }
}
