internal import HTTPServer
internal import RedialModel
internal import RedialStore

/// What other instances tell this one of the ends of calls, and ask it to tell.
struct EndRoutes: RouteGroup {
  let queries: Queries
  let calls: CallAnswers
  /// Nil if no others can share the store.
  let instances: OtherInstances?

  var routes: [Route] { [Route(.post, EndWatch.path, .scope(.submit), server: .peer, serve: take)] }

  private func take(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    guard let content = EndCoding.content(request.content, atMost: EndWatch.mostInRequest),
      let watch = instances?.endWatch
    else {
      throw Problem(
        .invalidForward,
        detail: "The instance that has sent it may be of another version. It looks into the store instead.")
    }
    calls.ends.ended(content.ended)
    guard !content.watched.isEmpty else {
      return exchange.responder.respond(HTTPResponse(status: 200, body: EndCoding.answer(isWatching: true, ended: [])))
    }
    let isWatching = watch.remember(content.watched, for: content.session)
    queries.answer(exchange.responder, isOwed: true) {
      let ended = try queries.reader.ended(among: content.watched)
      return HTTPResponse(status: 200, body: EndCoding.answer(isWatching: isWatching, ended: ended))
    }
  }
}
