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
  private static let left = ConnectionFields.names.union([
    "accept-encoding", "authorization", "content-encoding", "cookie", "forwarded", "origin", "redial-namespace",
  ])

  /// A command of a bulk operation about one call, in the form in which a client would give it.
  init(
    _ kind: CallCommand.Kind, _ call: CallID, in namespace: Namespace, _ attribution: Attribution,
    if condition: CallCommand.Condition?
  ) {
    method = kind.method
    let query = condition.map { "?\(CallCommand.Condition.parameter)=\($0.text)" }
    target = "/v1/calls/\(call)/\(kind.pathName)\(query ?? "")"
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
