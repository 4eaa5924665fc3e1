internal import Dispatch
internal import HTTPServer
internal import RedialModel
internal import RedialStore
internal import Synchronization
internal import RedialJSON

/// All calls that match a filter, one per line, the newest first: page by page, each read after the client has taken
/// the one before.
///
/// It keeps one page in memory. If a list cannot be read to its end, the connection is reset, so that no client takes a
/// part for the whole.
final class CallExport: Sendable {
  private struct State {
    var query: CallQuery
    var stream: HTTPResponseStream?
    var isWritable = true
    /// The first page was read; the request itself has paid for it.
    var hasBegun = false
    /// A page is being read or written, or waits for quota.
    var isReading = false
    var isOver = false
  }

  private let calls: CallAnswers
  private let caller: Caller
  private let mayGoOn: @Sendable () -> Problem?
  private let charge: @Sendable () -> (problem: Problem, fields: [HTTPHeader])?
  private let state: Mutex<State>

  private init(
    _ calls: CallAnswers, _ query: CallQuery, _ caller: Caller, _ mayGoOn: @escaping @Sendable () -> Problem?,
    _ charge: @escaping @Sendable () -> (problem: Problem, fields: [HTTPHeader])?
  ) {
    self.calls = calls
    self.caller = caller
    self.mayGoOn = mayGoOn
    self.charge = charge
    state = Mutex(State(query: query))
  }

  /// Answers with the calls.
  ///
  /// - Parameters:
  ///   - query: Selects the calls, and how many are read at a time.
  ///   - caller: The client; keys are served in rotation.
  ///   - mayGoOn: Called before each page. Returns why the client may have no more; nil if it may.
  ///   - charge: Counts one more request against the client's quota, for each page except the first. If the quota is
  ///     used up, the list waits until there is quota again, because a list that ended there would look complete.
  static func begin(
    _ query: CallQuery, _ calls: CallAnswers, _ metrics: Metrics, _ responder: HTTPResponder, for caller: Caller,
    mayGoOn: @escaping @Sendable () -> Problem?,
    charge: @escaping @Sendable () -> (problem: Problem, fields: [HTTPHeader])?
  ) {
    let export = CallExport(calls, query, caller, mayGoOn, charge)
    metrics.count { $0.requests[2] += 1 }
    let head = HTTPResponse(
      status: 200,
      headers: [HTTPHeader("content-type", "application/x-ndjson"), HTTPHeader("x-accel-buffering", "no")], body: [])
    let stream = responder.stream(head) { export.stream(did: $0) }
    // The two retain each other until the list ends.
    export.state.withLock { state in if !state.isOver { state.stream = stream } }
    export.goOn()
  }

  private func stream(did event: HTTPStreamEvent) {
    switch event {
    case .writable:
      state.withLock { $0.isWritable = true }
      goOn()
    case .closed: finish()
    // It is cut off when the time is up, unless it has ended by then.
    case .clientEnded, .draining: break
    }
  }

  private func finish() {
    state.withLock { state in
      state.isOver = true
      state.stream = nil
    }
  }

  /// Reads the next page, if the client accepts more and no page is being read.
  private func goOn() {
    let next = state.withLock { state -> (CallQuery, HTTPResponseStream, isFirst: Bool)? in
      guard state.isWritable, !state.isReading, !state.isOver, let stream = state.stream else { return nil }
      state.isReading = true
      defer { state.hasBegun = true }
      return (state.query, stream, !state.hasBegun)
    }
    guard let (query, stream, isFirst) = next else { return }
    guard mayGoOn() == nil else {
      finish()
      return stream.abort()
    }
    if !isFirst, let spent = charge() {
      return DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(spent.problem.retryAfter ?? 1)) { [self] in
        state.withLock { $0.isReading = false }
        goOn()
      }
    }

    calls.queries.run(as: query.load, of: caller.admission) { [self] in
      // Its client may have left while the page waited for its lane.
      if state.withLock({ $0.isOver }) { return }
      try write(query, to: stream)
    } failure: { [self] _ in
      finish()
      stream.abort()
    }
  }

  private func write(_ query: CallQuery, to stream: HTTPResponseStream) throws {
    let (page, wait) = try calls.page(query)
    var lines: [UInt8] = []
    lines.reserveCapacity(page.calls.count * 768)
    for stored in page.calls {
      var writer = JSONWriter(capacity: 768)
      CallView.write(
        stored.record, attempts: [], wait: wait(stored), detail: .summary,
        redaction: calls.redaction, last: stored.last, damage: stored.damage, to: &writer)
      lines += writer.bytes
      lines.append(UInt8(ascii: "\n"))
    }
    // The stream may report that it is writable before the write returns; until then it does not count.
    state.withLock { $0.isWritable = false }
    let result = lines.isEmpty ? .free : stream.write(lines)
    guard let next = page.next else {
      finish()
      return stream.end()
    }
    state.withLock { state in
      state.query.before = next
      state.isReading = false
      if result == .free { state.isWritable = true }
    }
    if result == .closed { finish() } else { goOn() }
  }
}
