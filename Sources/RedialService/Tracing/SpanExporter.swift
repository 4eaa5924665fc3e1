internal import Dispatch
internal import RedialCore
internal import RedialLanes
internal import RedialModel
internal import RedialTransport
internal import Synchronization
internal import RedialJSON

/// Sends spans to a collector by OTLP/HTTP in JSON: many per request, on a thread of its own, with Redial's own retry
/// policy.
///
/// The number of waiting spans is limited; more are dropped and counted, so that a collector that is slow or gone costs
/// a limited amount of memory, and no call waits for it.
///
/// `@unchecked Sendable`: `random`, `isFailing` and `held` are used only on `queue`, which is serial; everything else
/// is constant or locked.
final class SpanExporter: @unchecked Sendable {
  /// Why spans were dropped.
  enum Loss: String, Sendable, CaseIterable {
    /// Too many waited.
    case full
    /// The collector refused them.
    case refused
    /// The collector could not be reached, or did not accept them, through all retries.
    case unreachable
    /// The service stopped first.
    case stopped
  }

  /// A request that is to be sent or retried.
  private struct Request {
    var body: [UInt8]
    var spans: Int
    var attempts = 0
    var startedAt: Timestamp
    var due: Timestamp
    var waits = WaitHistory.none
  }

  private struct Inbox: Sendable {
    var waiting: [TracedEvent] = []
    var exported = 0
    var lost: [Loss: Int] = [:]
    var isClosed = false
  }

  /// Events that become one request.
  private static let batch = 512
  /// How long a stop waits for the last spans to be sent.
  static let flushTime = Duration.seconds(2)

  /// The answers that the protocol wants retried, and network failures; after the last retry the spans are dropped.
  static let policy = RetryPolicy(
    maxAttempts: 6, deadline: .seconds(120), backoff: .exponential(initial: .seconds(1), multiplier: 2),
    retryOn: RetryConditions(network: .always, statuses: StatusSet(statuses: [429, 502, 503, 504])), stopOn: .none,
    retryAfter: RetryAfterRule(maximum: .seconds(60)))

  private let url: String
  private let settings: SpanSettings
  private let clock: Clock
  private let log: Log
  private let redaction: Redaction
  private let tls: TLSSettings
  private let find: @Sendable (CallID) -> TracedCall?
  private let instance: String
  private let queue = DispatchQueue(label: "redial.spans", qos: .utility)
  private let inbox = Mutex(Inbox())
  private let closing = Atomic(false)
  private let timer: any DispatchSourceTimer
  private var random: RandomSource
  private var isFailing = false
  /// The request that waits for its next attempt; the others wait behind it.
  private var held: Request?

  /// - Parameters:
  ///   - instance: Identifies this process among those of the service.
  ///   - find: Reads an unknown call from the store; called on the exporter's thread.
  /// - Returns: Nil if no collector is set.
  init?(
    settings: SpanSettings, clock: Clock, log: Log, redaction: Redaction, tls: TLSSettings, instance: String,
    seed: UInt64, find: @escaping @Sendable (CallID) -> TracedCall?
  ) {
    guard let url = settings.url else { return nil }
    self.url = url
    self.settings = settings
    self.clock = clock
    self.log = log
    self.redaction = redaction
    self.tls = tls
    self.find = find
    self.instance = instance
    random = RandomSource(seed: seed)
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.setEventHandler { [weak self] in self?.export() }
    timer.schedule(
      deadline: .now() + .microseconds(Int(settings.interval.wholeMicroseconds)),
      repeating: .microseconds(Int(settings.interval.wholeMicroseconds)))
    timer.activate()
  }

  deinit { timer.cancel() }

  /// Adds events, from any thread; it never waits.
  func add(_ events: [TracedEvent]) {
    if events.isEmpty { return }
    let isFull = inbox.withLock { inbox in
      let room = inbox.isClosed ? 0 : max(0, settings.maxWaiting - inbox.waiting.count)
      let before = inbox.waiting.count
      inbox.waiting += events.prefix(room)
      if room < events.count { inbox.lost[inbox.isClosed ? .stopped : .full, default: 0] += events.count - room }
      return before < Self.batch && inbox.waiting.count >= Self.batch
    }
    if isFull { queue.async { self.export() } }
  }

  /// Sends the waiting spans, for no longer than ``flushTime``, and accepts no more.
  func close() {
    closing.store(true, ordering: .releasing)
    let flushed = DispatchSemaphore(value: 0)
    queue.async { [self] in
      timer.cancel()
      export()
      flushed.signal()
    }
    let isOver = flushed.wait(timeout: .now() + .microseconds(Int(Self.flushTime.wholeMicroseconds))) == .success
    let left = inbox.withLock { inbox in
      inbox.isClosed = true
      return inbox.waiting.count
    }
    if !isOver || left > 0 { log.write(.warning, "spansLeft", [("spans", "\(left)"), ("url", redactedURL)]) }
  }

  /// The metrics.
  var families: [MetricFamily] {
    let (waiting, exported, lost) = inbox.withLock { ($0.waiting.count, $0.exported, $0.lost) }
    var dropped = MetricFamily(
      "redial_spans_dropped_total", .counter, "Spans that were not exported, by reason.")
    for loss in Loss.allCases { dropped.add([MetricFamily.Label("reason", loss.rawValue)], lost[loss] ?? 0) }
    return [
      MetricFamily("redial_spans_exported_total", .counter, "Spans that the collector has taken.", exported),
      dropped, MetricFamily("redial_spans_waiting", .gauge, "Spans that wait to be exported.", waiting),
    ]
  }

  // MARK: On the queue

  /// Sends the waiting spans, until none is left or a request must wait for its next attempt.
  private func export() {
    Owner.queue(queue).check()
    while let request = held ?? next() {
      let isLast = closing.load(ordering: .acquiring)
      guard isLast || request.due <= clock.now else { return }
      held = nil
      send(request, isLast: isLast)
    }
  }

  private func next() -> Request? {
    while true {
      let events = inbox.withLock { inbox in
        let events = Array(inbox.waiting.prefix(Self.batch))
        inbox.waiting.removeFirst(events.count)
        return events
      }
      if events.isEmpty { return nil }
      let spans = events.flatMap(spans)
      if spans.isEmpty { continue }
      let now = clock.now
      return Request(
        body: SpanBatch.json(spans, service: settings.service, instance: instance), spans: spans.count, startedAt: now,
        due: now)
    }
  }

  /// The spans of an event: of the attempt, and of the call if it has ended.
  private func spans(_ event: TracedEvent) -> [Span] {
    guard let subject = event.subject ?? find(event.call), subject.kind == .call, subject.context.isSampled else {
      return []
    }
    var spans: [Span] = []
    if let attempt = event.attempt {
      spans.append(Span(of: attempt, event.call, subject.outline, event.progress, subject.context, redaction))
    }
    if event.progress.state.isFinal {
      spans.append(Span(of: event.call, subject.outline, event.progress, createdAt: subject.createdAt, subject.context))
    }
    return spans
  }

  private func send(_ given: Request, isLast: Bool) {
    var request = given
    request.attempts += 1
    let result = BlockingHTTPClient.perform(
      TransportRequest(
        id: 0, url: url, method: "POST", headers: [HeaderField("content-type", "application/json")] + settings.headers,
        body: request.body, timeout: isLast ? min(settings.timeout, Self.flushTime) : settings.timeout,
        captureLimit: 64 * 1024), tls: tls)
    let now = clock.now
    let end = AttemptEnd(
      outcome: result.outcome, status: result.status ?? 0,
      retryAfter: result.response?.head.retryAfter(at: Clock.wallTime()),
      attempts: request.attempts, startedAt: request.startedAt, waits: request.waits)
    let decision = Self.policy.decide(end, at: now, using: &random)
    switch decision.action {
    case .succeed: delivered(request.spans, answer: result.response?.body ?? [])
    case .retry(let wait) where !isLast:
      fails(result)
      request.due = now + wait
      request.waits = request.waits.adding(wait)
      held = request
      queue.asyncAfter(deadline: .now() + .microseconds(Int(wait.wholeMicroseconds))) { [weak self] in self?.export() }
    case .retry, .park, .stop:
      fails(result)
      let isRefused =
        result.outcome == .answered && result.status.map { !Self.policy.retryOn.statuses.contains($0) } ?? false
      lose(request.spans, isRefused ? .refused : isLast ? .stopped : .unreachable)
    }
  }

  private func lose(_ spans: Int, _ loss: Loss) {
    inbox.withLock { $0.lost[loss, default: 0] += spans }
  }

  private func delivered(_ count: Int, answer: [UInt8]) {
    let rejected = min(count, Self.rejected(answer))
    inbox.withLock { inbox in
      inbox.exported += count - rejected
      if rejected > 0 { inbox.lost[.refused, default: 0] += rejected }
    }
    if isFailing { log.write(.info, "spansExportedAgain", [("url", redactedURL)]) }
    isFailing = false
  }

  private func fails(_ result: AttemptResult) {
    let error = result.decisiveFailure?.message ?? "status \(result.status ?? 0)"
    if !isFailing { log.write(.warning, "spansNotExported", [("url", redactedURL), ("error", error)]) }
    isFailing = true
  }

  private var redactedURL: String { redaction.url(url) }

  /// How many spans were refused according to an answer: `{"partialSuccess": {"rejectedSpans": "3"}}`.
  static func rejected(_ answer: [UInt8]) -> Int {
    let found = answer.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      return try? Self.rejected(&reader)
    }
    return found ?? 0
  }

  private static func rejected(_ reader: inout JSONReader) throws(JSONError) -> Int {
    var rejected = 0
    try reader.beginObject()
    while let name = try reader.nextKey() {
      guard name == "partialSuccess", try reader.peek() == .object else {
        _ = try reader.skipValue()
        continue
      }
      try reader.beginObject()
      while let name = try reader.nextKey() {
        switch (name, try reader.peek()) {
        case ("rejectedSpans", .string): rejected = Int(try reader.string()) ?? 0
        case ("rejectedSpans", .number): rejected = Int(clamping: try reader.integer())
        default: _ = try reader.skipValue()
        }
      }
    }
    return max(0, rejected)
  }
}
