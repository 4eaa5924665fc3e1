internal import HTTPServer
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// Replays: new calls made from earlier ones.
struct ReplayRoutes: RouteGroup {
  let submission: Submission
  let calls: CallAnswers
  let keys: KeyRing
  let audit: AuditLog

  var routes: [Route] {
    // It also needs the scope operate, and payloads if it could reveal the original.
    [Route(.post, "/v1/calls/{id}/replay", .scope(.submit), isSubmission: true, audit: .callReplayed, serve: replay)]
  }

  /// Submits a call like an earlier one, with changes.
  private func replay(_ request: borrowing HTTPRequest, _ exchange: Exchange) throws(Problem) {
    let (id, caller, isDryRun) = (try exchange.callID(), exchange.caller, try request.isDryRun())
    let responder = isDryRun ? exchange.responder.direct : exchange.responder
    if !request.body.isEmpty { try request.checkJSON() }
    let replay = try CallReplay.read(request.content)
    // The original may be another client's: its request is sent again, including its credentials.
    guard submission.queries.admits(caller, to: .operate, by: keys, responder) else { return }
    if replay.canReveal || isDryRun, !submission.queries.admits(caller, to: .payloads, by: keys, responder) { return }
    let key = try request.idempotencyKey().map {
      IdempotencyKey(
        caller.idempotencyName($0), json: request.content, former: request.body,
        after: Array("replay of \(id)\n".utf8))
    }
    let limits = try submission.limits(for: caller, request)
    let wait = submission.preferredWait(request, of: caller)
    let note = exchange.audit
    submission.queries.answer(responder) { [self] () throws -> HTTPResponse? in
      do {
        let descriptor = try descriptor(of: replay, id, limits, caller)
        if isDryRun {
          submission.showPlan(of: descriptor, responder, caller)
        } else {
          var keyed = descriptor
          keyed.key = key
          keyed.audit = audit.begin(note)
          submission.submit(keyed, waiting: wait, responder)
        }
        return nil
      } catch let problem as Problem where key != nil && !isDryRun {
        // The original may have been erased or removed since the first of these submissions.
        try submission.refuse(problem, unlessRepeatedUnder: key, waiting: wait, responder)
        return nil
      } catch {
        submission.metrics.count { $0.refused += 1 }
        throw error
      }
    }
  }

  /// Reads the original, and makes the descriptor of the new call.
  private func descriptor(
    of replay: CallReplay, _ id: CallID, _ limits: CallDescriptor.Limits, _ caller: Caller
  ) throws -> CallDescriptor {
    guard let original = try submission.queries.reader.call(id, in: caller.namespace, allResponses: false)?.record
    else {
      throw Refusal.callNotFound(id).problem
    }
    guard original.kind == .call else {
      throw Problem(
        .notReplayable,
        detail: "\(id) is a webhook; POST /v1/calls/\(id)/retry delivers it again.")
    }
    guard original.spec.contentErasedAt == nil else { throw Problem.contentErased(id) }
    let body = replay.keepsBody ? try calls.body(of: original, atMost: .max) : []
    return try replay.descriptor(of: original, body: body, limits: limits, submission.redaction)
  }
}

extension Queries {
  /// Whether a caller has a further scope; if not, the request is refused here.
  func admits(_ caller: Caller, to scope: APIScope, by keys: KeyRing, _ responder: HTTPResponder) -> Bool {
    guard let (problem, fields) = keys.refusal(of: caller, lacking: scope) else { return true }
    respond(responder, Answer.problem(problem, fields))
    return false
  }
}
