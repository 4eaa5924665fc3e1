internal import HTTPServer
internal import RedialCore
internal import RedialJSON
internal import RedialModel
internal import RedialStore

/// The instances that share the store.
struct InstanceRoutes: RouteGroup {
  let runtime: Runtime

  var routes: [Route] { [Route(.get, "/v1/instances", .scope(.read), serve: list)] }

  /// They run the calls of all namespaces, so only operators see them.
  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try exchange.caller.requireDefaultNamespace()
    try request.checkNoParameters()
    let response = Answer.list(runtime.instances) { instance, writer in
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
    runtime.respond(exchange.responder, response)
  }
}

extension Runtime {
  /// The instances on the store. A store that is not shared has one, with all shards.
  fileprivate var instances: [Peer] {
    guard let peers else {
      return [
        Peer(
          session: LeaseSession(id: 0, instance: 0), address: nil, version: redialVersion, shards: .all, expiresAt: nil,
          isSelf: true)
      ]
    }
    return peers.table.all
  }
}
