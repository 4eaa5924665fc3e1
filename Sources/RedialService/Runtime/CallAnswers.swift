internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore

/// How clients get calls: as they are in the store, or when they have ended.
struct CallAnswers: Sendable {
  let queries: Queries
  let standings: TargetStandings
  let ends: EndTable
  /// Learns of the ends of calls that others run; nil if there can be no others.
  let endWatch: EndWatch?
  let bodies: BodyReading
  let redaction: Redaction
  let clock: Clock

  private var reader: any CallReader { queries.reader }

  /// Answers with a call as it is in the store.
  ///
  /// - Parameter withRequest: Whether the answer contains the request.
  func show(_ id: CallID, in namespace: Namespace?, _ responder: HTTPResponder, withRequest: Bool = false) {
    queries.answer(responder) {
      let stored = try stored(id, in: namespace)
      return Answer.call(
        stored, wait: standings.wait(of: stored, at: clock.now), redaction,
        request: withRequest ? try request(of: stored.record) : nil)
    }
  }

  func showPage(_ query: CallQuery, _ responder: HTTPResponder, _ caller: Caller) {
    queries.answer(responder, as: query.load, for: caller) { _ in
      let (page, wait) = try self.page(query)
      return Answer.calls(page.calls, next: page.next, redaction, wait: wait)
    }
  }

  /// The calls that a query selects, and how each waits. If the query asks for that, each is shown as it was found.
  func page(
    _ query: CallQuery
  ) throws(StoreError) -> (CallPage<StoredCall>, wait: @Sendable (StoredCall) -> CallView.Wait?) {
    guard query.filter.asksForWaits else {
      let (page, now) = (try reader.calls(query), clock.now)
      return (page, { [standings] in standings.wait(of: $0, at: now) })
    }
    let known = standings.known(at: clock.now)
    var query = query
    query.standings = known
    return (try reader.calls(query), { known.wait(of: $0.record, stored: $0.target) })
  }

  /// Answers with the call of a command that is done. Its client must not believe otherwise because the call cannot be
  /// read.
  func showDone(_ record: CallRecord, _ responder: HTTPResponder) {
    queries.answer(responder, isOwed: true) {
      do {
        // It belongs to the client's namespace, or the engine would have refused.
        let stored = try stored(record.id, in: nil)
        return Answer.call(stored, wait: standings.wait(of: stored, at: clock.now), redaction)
      } catch let error as StoreError {
        _ = queries.problem(of: error)
        return Answer.unread(record, wait: standings.wait(of: record, at: clock.now), redaction)
      }
    }
  }

  /// Answers with a call once it has ended, or with something else after a time.
  ///
  /// - Parameters:
  ///   - namespace: The namespace that it must belong to; nil if that is known.
  ///   - applied: The client's preference, which an answer in time fulfils; nil if there was none.
  ///   - withRequest: Whether the answer contains the request.
  ///   - repetition: What the submission has done, if the call was accepted before under its key.
  ///   - orElse: The answer if the call has not ended in time, was removed before it could be shown, or cannot be read; nil
  ///     for the call as it is.
  func showEnded(
    _ id: CallID, in namespace: Namespace?, _ responder: HTTPResponder, _ wait: EndWait,
    applied: Duration? = nil, withRequest: Bool = false, repetition: IdempotencyStatus? = nil,
    orElse: (@Sendable () throws -> HTTPResponse?)? = nil
  ) {
    let show = { @Sendable (stored: StoredCall) throws in
      Answer.call(
        stored, wait: standings.wait(of: stored, at: clock.now), redaction, applied: applied,
        repetition: repetition, request: withRequest ? try request(of: stored.record) : nil)
    }
    let find = { @Sendable () throws -> StoredCall? in
      orElse == nil ? try stored(id, in: namespace) : try reader.call(id, in: namespace, allResponses: false)
    }
    // `orElse` is given for a call that was just accepted; its client must not get another answer because many
    // queries wait.
    let isOwed = orElse != nil
    let unread = { @Sendable (error: any Error) throws -> HTTPResponse? in
      guard let orElse else { throw error }
      _ = queries.problem(of: error)
      return try orElse()
    }
    // The table of waits retains this until the call ends, its time is up or the service stops.
    let finish = { @Sendable (outcome: EndTable.Outcome) in
      queries.answer(responder, isOwed: isOwed) {
        if let problem = wait.mayGoOn() {
          // Who has just submitted it must know that it is accepted.
          guard let orElse, repetition != .repeated else { throw problem }
          return try orElse()
        }
        if outcome == .timedOut, let orElse { return try orElse() }
        let stored: StoredCall?
        do { stored = try find() } catch { return try unread(error) }
        return try stored.map(show) ?? orElse?()
      }
    }
    let ticket = ends.wait(for: id, until: clock.now + wait.bound, while: wait.mayGoOn, finish)
    guard let ticket else {
      return queries.answer(responder, isOwed: isOwed) {
        if let orElse { return try orElse() }
        return try find().map(show)
      }
    }
    // A client that disconnects frees its place. One that has only closed its sending side is answered as if its time
    // were up.
    responder.onCancel { if ends.giveUp(ticket) { finish(.timedOut) } }
    // It may have ended before the wait began.
    queries.answer(responder, isOwed: isOwed) { () -> HTTPResponse? in
      do {
        let stored = try find()
        if let stored, !stored.record.progress.state.isFinal {
          endWatch?.watch(id, of: stored.record.spec.target)
          return nil
        }
        return ends.giveUp(ticket) ? try stored.map(show) ?? orElse?() : nil
      } catch {
        return ends.giveUp(ticket) ? try unread(error) : nil
      }
    }
  }

  /// The first bytes of a call's body, from memory or the store.
  func body(of call: CallRecord, atMost count: Int) throws -> [UInt8] {
    do throws(StoredBodyError) {
      return try bodies.bytes(of: call, atMost: count)
    } catch {
      switch error {
      case .gone: throw Problem.contentErased(call.id)
      case .damaged(let clause):
        throw DamagedCall(id: call.id, reason: "its body: \(clause)").of(call.spec).error
      case .unreadable(let failure): throw failure
      }
    }
  }

  /// - Parameter namespace: The namespace that it must belong to; nil if that is known.
  private func stored(_ id: CallID, in namespace: Namespace?) throws -> StoredCall {
    guard let stored = try reader.call(id, in: namespace, allResponses: false) else {
      throw Refusal.callNotFound(id).problem
    }
    return stored
  }

  /// The visible part of a call's request.
  private func request(of call: CallRecord) throws -> RequestView {
    let hasNone = call.spec.contentErasedAt != nil || call.spec.isSensitive
    return RequestView(of: call, body: hasNone ? [] : try body(of: call, atMost: RequestView.mostBytes))
  }
}
