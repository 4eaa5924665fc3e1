internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Requests that another instance on the same store has to serve.
struct OwnerRequests: Sendable {
  let peers: PeerLink
  let documents: SharedDocuments
  let queries: Queries

  /// Has the owner of a target serve a request; false, and nothing is done, if this instance has to.
  func forward(_ exchange: Exchange, toOwnerOf target: TargetKey) -> Bool {
    guard !peers.table.owns(target) else { return false }
    if exchange.isForwarded {
      answerNotOwner(of: target, exchange.responder)
    } else {
      forward(exchange.forwardable, toOwnerOf: target, exchange.responder)
    }
    return true
  }

  /// Has the owner of a target serve a request that the engine has passed on to that owner.
  ///
  /// - Parameter request: Nil if it must not be forwarded (again).
  func forward(_ request: ForwardableRequest?, toOwnerOf target: TargetKey, _ responder: HTTPResponder) {
    // Whoever serves it records it.
    let responder = responder.direct
    guard let request else { return answerNotOwner(of: target, responder) }
    // All that is needed is retained until it is answered: a stop waits for open requests.
    peers.forward(request, toOwnerOf: ShardSet.shard(of: target)) { answer in
      switch answer {
      // The client may submit a call here next, which must know then what its target hides.
      case .served(let answer) where request.method == .put || request.method == .patch:
        documents.read([.targetPrivacy]) { queries.respond(responder, answer) }
      case .served(let answer): queries.respond(responder, answer)
      case .maybe where request.method != .get: queries.respond(responder, Answer.problem(Self.ownerSilent(target)))
      case .notServed, .maybe: answerNotOwner(of: target, responder)
      }
    }
  }

  /// The problem that an owner got a request, and its answer did not come.
  private static func ownerSilent(_ target: TargetKey) -> Problem {
    .outcomeUnknown(
      "The instance that runs the calls to \(target.bare) got the request and did not answer. It may have done it. "
        + "Look whether it has, or try again.", retryAfter: 1)
  }

  /// Has the owners of the targets of some calls execute the command of a bulk operation, each for its calls.
  func forward(
    _ commands: BulkCommands, in namespace: Namespace, about calls: [BulkBatch.Elsewhere], of batch: BulkBatch
  ) {
    let ofOwner = Dictionary(grouping: calls) { peers.table.owner(ofShard: ShardSet.shard(of: $0.target))?.session.id }
    for calls in ofOwner.values {
      var commands = commands
      commands.calls = calls.map(\.call)
      peers.forward(
        commands.request(in: namespace), toOwnerOf: ShardSet.shard(of: calls[0].target)
      ) { answer in
        // Calls that were changed, if the answer was lost, are not found again.
        let served: HTTPResponse? = if case .served(let answer) = answer, answer.status == 200 { answer } else { nil }
        batch.add(
          served.flatMap { BulkBatch.Tally(json: $0.body, of: calls.count) } ?? BulkBatch.Tally(elsewhere: calls.count))
      }
    }
  }

  /// Answers with a page of the targets of all instances; false, and nothing is done, if there are no others.
  func gatherTargets(_ exchange: Exchange, atMost limit: Int) -> Bool {
    guard let request = exchange.forwardable, peers.table.all.contains(where: { !$0.isSelf }) else { return false }
    peers.gather(request) { answers in
      var pages = PeerPages(by: "key")
      guard let answers, answers.allSatisfy({ pages.add($0) }) else {
        return queries.respond(exchange.responder, Answer.problem(Self.peerSilent))
      }
      queries.respond(exchange.responder, pages.page(of: limit))
    }
    return true
  }

  /// Gathers the issues of late calls of all instances; false, and nothing is done, if there are no others.
  ///
  /// - Parameters:
  ///   - request: What they are asked; nil if another instance asks this one.
  ///   - then: Called with the issues, without the statements about them.
  func gatherIssues(
    _ request: ForwardableRequest?, _ exchange: Exchange,
    then: @escaping @Sendable (FoundIssues) -> Void
  ) -> Bool {
    guard let request, peers.table.all.contains(where: { !$0.isSelf }) else { return false }
    peers.gather(request) { answers in
      var pages = PeerPages(by: "id")
      guard let answers, answers.allSatisfy({ pages.add($0) }) else {
        return queries.respond(exchange.responder, Answer.problem(Self.peerSilent))
      }
      let found = pages.elements.compactMap { CallIssue(shown: $0.json, in: exchange.caller.namespace) }
      then(FoundIssues(issues: found, isComplete: !pages.hasMore))
    }
    return true
  }

  private static let peerSilent = Problem(
    .instanceUnreachable,
    detail: "Each instance knows the targets whose calls it runs, and one of them could not be asked. Try again.",
    retryAfter: 1)

  /// Passes a request on to the leader; false, and nothing is done, if this instance leads.
  func passToLeader(_ exchange: Exchange) -> Bool {
    guard !peers.table.isLeading else { return false }
    if let request = exchange.forwardable {
      forwardToLeader(request, exchange.responder)
    } else {
      // Another instance has sent it to the leader, and this one is not.
      let field = HTTPHeader("\(PeerLink.notOwnerField)", "1")
      queries.respond(exchange.responder, Answer.problem(Answer.leaderSilent, [field]))
    }
    return true
  }

  private func forwardToLeader(_ request: ForwardableRequest, _ responder: HTTPResponder) {
    let responder = responder.direct
    peers.forward(request, toOwnerOf: PeerTable.leadersShard) { answer in
      guard case .served(let answer) = answer else {
        return queries.respond(responder, Answer.problem(Answer.leaderSilent))
      }
      // The client may ask this instance next, which must know then what has changed.
      guard request.method != .get, (200...299).contains(answer.status) else {
        return queries.respond(responder, answer)
      }
      documents.read(Set(StoredDocument.Kind.allCases)) { queries.respond(responder, answer) }
    }
  }

  /// Refuses a command about a target, because this instance does not run its calls.
  private func answerNotOwner(of target: TargetKey, _ responder: HTTPResponder) {
    let field = HTTPHeader("\(PeerLink.notOwnerField)", "1")
    queries.respond(responder, Answer.problem(Refusal.ownedElsewhere(target).problem, [field]))
  }
}
