internal import HTTPServer
internal import RedialModel

/// A copy of a client's request that another instance may have to serve.
struct ForwardableRequest: Sendable {
  let method: HTTPMethod
  /// The path and query.
  let target: String
  let fields: [HeaderField]
  let body: [UInt8]
  let caller: Caller

  /// Fields that are about the client's connection, or that show who it is, which is sent in another way.
  private static let omitted = ConnectionFields.names.union([
    "accept-encoding", "authorization", "content-encoding", "cookie", "forwarded", "origin", "redial-namespace",
  ])

  /// A request with JSON that an instance makes itself.
  init(_ method: HTTPMethod, _ target: String, json: [UInt8], of caller: Caller) {
    (self.method, self.target, body, self.caller) = (method, target, json, caller)
    fields = [HeaderField("content-type", "application/json")]
  }

  /// Copies a request. Its body is as the server has decoded it.
  init(_ request: borrowing HTTPRequest, of caller: Caller) {
    method = request.method
    target = PeerTrust.target(of: request)
    body = Array(request.content)
    self.caller = caller
    var fields: [HeaderField] = []
    request.forEachHeader { name, value in
      let name = String(decoding: name, as: UTF8.self).lowercased()
      guard !Self.omitted.contains(name), !name.hasPrefix(PeerTrust.prefix), !name.hasPrefix("x-forwarded-") else {
        return
      }
      fields.append(HeaderField(name, bytes: value))
    }
    self.fields = fields
  }
}
