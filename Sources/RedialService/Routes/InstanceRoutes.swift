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
  let clock: Clock

  var routes: [Route] { [Route(.get, "/v1/instances", .scope(.read), serve: list)] }

  /// They run the calls of all namespaces, so only operators see them.
  private func list(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    try exchange.caller.requireDefaultNamespace()
    let page = try ListPage(parameters: request.query)
    let (shown, next) = try page.part(of: listed, .byNumber) { "\($0.session.instance)" }
    let response = Answer.list(shown, next: next) { instance, writer in
      writer.beginObject()
      writer.field("number", instance.session.instance)
      writer.key("url")
      if let address = instance.address { writer.string(address) } else { writer.null() }
      writer.field("version", instance.version)
      writer.field("shards", instance.shards.size)
      writer.field("self", instance.isSelf)
      writer.field("leads", instance.shards.contains(PeerTable.leadersShard))
      writer.endObject()
    } more: {
      write(instances?.link.table.loss, to: &$0)
    }
    queries.respond(exchange.responder, response)
  }

  private func write(_ loss: LostCommits?, to writer: inout JSONWriter) {
    guard let loss, loss.isShown(at: clock.now) else { return }
    writer.key("lostCommits")
    writer.beginObject()
    writer.field("at", loss.at)
    writer.field("made", Int(loss.made))
    writer.field("found", Int(loss.found))
    writer.endObject()
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
