internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension RedialClient {
  /// The events of the service from now on.
  ///
  /// ```swift
  /// func watch(_ client: RedialClient) async throws {
  ///   for try await event in client.events(EventFilter(type: [.callFailed, .targetOpened])) {
  ///     print(event.type, event.call?.url ?? "")
  ///   }
  /// }
  /// ```
  ///
  /// A stream that breaks off is continued where it ended, at the pace of ``polling``. If that is impossible the next
  /// event is a ``RedialEvent/Kind/reset``: read your data again. It ends only if its task is cancelled, or with an
  /// error. For events that must not be missed use webhooks.
  ///
  /// - Parameter filter: Selects events.
  public func events(_ filter: EventFilter = EventFilter()) -> RedialEventStream {
    RedialEventStream(client: self, filter: filter)
  }
}

/// Which events to receive: those for which all conditions hold.
public struct EventFilter: Sendable, Hashable {
  /// Only these kinds; empty for all.
  public var type: [RedialEvent.Kind]
  /// Only this target, and calls to it.
  public var target: String?
  /// Only this call.
  public var call: String?
  /// Only calls with this label.
  public var label: Label?
  /// Calls of clients, or deliveries of webhooks; nil for calls of clients. Events of targets come in any case.
  public var kind: RedialCall.Kind?
  /// Only calls of which at least so many attempts had begun, 1 to 1,000,000,000.
  public var attempts: Int?
  /// Only calls that waited for this.
  public var waitingOn: RedialCall.WaitReason?
  /// The id of the event after which to begin; nil for now.
  public var lastEventID: String?

  /// A label of a call.
  public struct Label: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
    /// Creates a label.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Creates a filter.
  public init(
    type: [RedialEvent.Kind] = [], target: String? = nil, call: String? = nil, label: Label? = nil,
    lastEventID: String? = nil, kind: RedialCall.Kind? = nil, attempts: Int? = nil,
    waitingOn: RedialCall.WaitReason? = nil
  ) {
    self.type = type
    self.target = target
    self.call = call
    self.label = label
    self.lastEventID = lastEventID
    self.kind = kind
    self.attempts = attempts
    self.waitingOn = waitingOn
  }

  var query: [(name: String, value: String)] {
    var query: [(name: String, value: String)] = []
    if !type.isEmpty { query.append(("type", type.map(\.rawValue).joined(separator: ","))) }
    if let target { query.append(("target", target)) }
    if let call { query.append(("call", call)) }
    if let label { query.append(("label", "\(label.name)=\(label.value)")) }
    if let kind { query.append(("kind", kind.rawValue)) }
    if let attempts { query.append(("attempts", "\(attempts)")) }
    if let waitingOn { query.append(("waitingOn", waitingOn.rawValue)) }
    return query
  }
}

/// The events of a service; see ``RedialClient/events(_:)``.
public struct RedialEventStream: AsyncSequence, Sendable {
  let client: RedialClient
  let filter: EventFilter

  /// Begins to listen when the first event is requested.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, filter: filter) }

  /// Listens, and reconnects when the stream breaks off.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let client: RedialClient
    private let filter: EventFilter
    private var lastID: String?
    private var pending: ArraySlice<RedialEvent> = []
    private var chunks: HTTPByteStream.Iterator?
    private var parser = EventParser()
    private var random: RandomSource
    private var history = WaitHistory.none
    /// Consecutive streams without an event.
    private var failures = 0

    fileprivate init(client: RedialClient, filter: EventFilter) {
      self.client = client
      self.filter = filter
      lastID = filter.lastEventID
      random = RandomSource(seed: client.seed())
    }

    /// The id of the latest event, from which another stream can go on; nil before the first.
    public var lastEventID: String? { lastID }

    /// Begins to listen, so that no later event is missed; without this, ``next()`` does.
    ///
    /// - Throws: ``RedialProblem`` if the service refuses, ``RedialTransportError`` if it cannot be reached within the
    ///   client's policy, and `CancellationError`.
    public mutating func connect() async throws {
      guard chunks == nil else { return }
      chunks = try await client.listen(filter, after: lastID).makeAsyncIterator()
      parser = EventParser()
    }

    /// The next event.
    ///
    /// - Throws: ``RedialProblem`` if the service refuses, ``RedialTransportError`` if it cannot be reached within the
    ///   client's policy, ``UnexpectedAnswer`` for data that is not an event, and `CancellationError`.
    public mutating func next() async throws -> RedialEvent? {
      while true {
        if let event = pending.popFirst() { return event }
        try Task.checkCancellation()
        try await connect()
        let chunk: Data?
        do throws(HTTPCallError) {
          chunk = try await chunks?.next()
        } catch {
          if case .cancelled = error { throw CancellationError() }
          client.log?("GET /v1/events: broke off: \(error.logDescription)")
          chunk = nil
        }
        guard let chunk else {
          try await pause()
          continue
        }
        try take(chunk)
      }
    }

    private mutating func take(_ chunk: Data) throws {
      guard let messages = parser.feed(chunk) else {
        throw UnexpectedAnswer(
          request: "GET /v1/events", status: 200, underlying: StreamOverflow(limit: EventParser.longest))
      }
      // An id without data also moves the position from which to continue.
      if !parser.lastID.isEmpty { lastID = parser.lastID }
      do {
        pending = try messages.map { try RedialEvent(id: $0.id, json: Data($0.data.utf8)) }[...]
      } catch {
        throw UnexpectedAnswer(request: "GET /v1/events", status: 200, underlying: error)
      }
      if !pending.isEmpty { (failures, history) = (0, .none) }
    }

    /// Waits before the next stream, longer each time that one has no event.
    private mutating func pause() async throws {
      chunks = nil
      let drawn = client.polling.wait(beforeRetry: failures, after: history, using: &random)?.duration
      let wait = Swift.max(RedialClient.shortestPoll, drawn ?? history.previous)
      history = history.adding(wait)
      failures += 1
      try await client.clock.sleep(for: wait)
    }
  }
}

extension RedialClient {
  /// Begins a stream of events.
  fileprivate func listen(_ filter: EventFilter, after id: String?) async throws -> HTTPByteStream {
    if sendsKeyInTheClear { log?("GET /v1/events: the API key goes unencrypted to \(baseURL.host ?? "")") }
    var request = ServiceRequest("GET", ["v1", "events"])
    request.query = filter.query
    var urlRequest = try request.urlRequest(to: self)
    urlRequest.setValue("text/event-stream, application/problem+json", forHTTPHeaderField: "Accept")
    if let id { urlRequest.setValue(id, forHTTPHeaderField: "Last-Event-ID") }
    // Foundation on Linux ends a stream then, even an active one; it is continued where it was.
    urlRequest.timeoutInterval = 600
    var retrier = Retrier(policy, name: request.name)
    retrier.clock = clock
    retrier.seed = seed
    retrier.log = log
    var options = URLRetryOptions(retrier)
    options.policy.retryOn = .idempotent
    options.successStatuses = StatusSet([200...200])
    options.delegate = NoRedirects()
    // Its own connection, because it keeps it while it listens.
    let own = URLSession(configuration: session.configuration)
    defer { own.finishTasksAndInvalidate() }
    do throws(HTTPCallError) {
      return try await own.stream(for: urlRequest, retrying: options).0
    } catch {
      throw serviceError(error, request)
    }
  }

  private func serviceError(_ error: HTTPCallError, _ request: ServiceRequest) -> any Error {
    switch error {
    case .cancelled: return CancellationError()
    case .endpoint(let response, let body):
      let field = response.value(forHTTPHeaderField: "Retry-After")
      return RedialProblem(
        ServiceAnswer(
          request: request.name, status: response.statusCode, body: body,
          retryAfter: field.flatMap { RetryAfter.parse(Array($0.utf8)[...], at: clock.wallTime) }))
    case .inaccessible(let last?, _): return serviceError(last, request)
    case .urlError, .other, .notHTTP, .noData, .inaccessible(nil, _):
      return RedialTransportError(
        request: request.name, baseURL: baseURL, retryOutcome: error.retryOutcome, underlying: error)
    }
  }
}

/// Follows no redirect, so that the key is sent nowhere else.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
