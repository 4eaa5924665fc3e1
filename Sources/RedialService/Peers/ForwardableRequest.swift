internal import HTTPServer
internal import RedialEngine
internal import RedialJSON
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
  private static let left: Set<String> = [
    "accept-encoding", "authorization", "connection", "content-encoding", "content-length", "cookie", "expect",
    "forwarded", "host", "keep-alive", "origin", "proxy-authorization", "proxy-connection", "redial-namespace", "te",
    "trailer", "transfer-encoding", "upgrade",
  ]

  /// A command of a bulk operation about one call, in the form in which a client would give it.
  init(_ kind: CallCommand.Kind, _ call: CallID, in namespace: Namespace, _ attribution: Attribution) {
    method = kind == .erase ? .delete : .post
    target = "/v1/calls/\(call)/\(kind.pathName)"
    caller = Caller(namespace: namespace)
    var writer = JSONWriter()
    writer.beginObject()
    if let by = attribution.by { writer.field("by", by) }
    if let reason = attribution.reason { writer.field("reason", reason) }
    writer.endObject()
    body = writer.bytes
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
      guard !Self.left.contains(name), !name.hasPrefix(PeerTrust.prefix), !name.hasPrefix("x-forwarded-") else {
        return
      }
      fields.append(HeaderField(name, String(decoding: value, as: UTF8.self)))
    }
    self.fields = fields
  }
}

extension CallCommand.Kind {
  /// The last part of the path of the command.
  var pathName: String {
    switch self {
    case .cancel: "cancel"
    case .retry: "retry"
    case .erase: "content"
    case .purge: "purge"
    }
  }
}
