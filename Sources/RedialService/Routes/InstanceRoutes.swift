internal import HTTPServer
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// The instances that share the store.
struct InstanceRoutes: RouteGroup {
  let queries: Queries
  /// Nil if no others can share the store.
  let instances: OtherInstances?

  var routes: [Route] { [Route(.get, "/v1/instances", .scope(.read), serve: list)] }

  /// They run the calls of all namespaces, so only operators see them.
  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try exchange.caller.requireDefaultNamespace()
    let page = try ListPage(parameters: request.query)
    let response = try Answer.list(listed, page, .byNumber, by: { "\($0.session.instance)" }) { instance, writer in
      writer.beginObject()
      writer.field("number", instance.session.instance)
      writer.key("url")
      if let address = instance.address { writer.string(address) } else { writer.null() }
      writer.field("version", instance.version)
      writer.field("shards", instance.shards.size)
      writer.field("self", instance.isSelf)
      writer.field("leads", instance.shards.contains(PeerTable.leadersShard))
      writer.endObject()
    }
    queries.respond(exchange.responder, response)
  }

  /// The instances on the store. A store that is not shared has one, with all shards.
  private var listed: [Peer] {
    guard let instances else {
      return [
        Peer(
          session: LeaseSession(id: 0, instance: 0), address: nil, version: redialVersion, shards: .all, expiresAt: nil,
          isSelf: true)
      ]
    }
    return instances.link.table.all
  }
}
