internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialModel
internal import RedialStore
internal import Synchronization

/// Tells listeners, by server-sent events, what has been committed and what becomes of targets' breakers.
///
/// Until somebody listens it costs one look at a flag for each commit. What a listener has yet to hear is in one log
/// that all share, so a slow one costs no memory of its own beyond what its connection may hold; one that falls behind
/// the log is told so and cut off.
///
/// `@unchecked Sendable`: everything mutable but the atomics is touched on `queue` only, which is serial.
final class EventFeed: @unchecked Sendable {
  private let settings: EventSettings
  private let reader: any CallReader
  private let standings: TargetStandings
  private let clock: Clock
  private let redaction: Redaction
  private let epoch: UInt64
  private let queue = DispatchQueue(label: "redial.events")
  /// Whether events are noted at all.
  private let isOn = Atomic<Bool>(false)
  /// Changes that were committed and are not events yet.
  private let pending = Atomic<Int>(0)
  private var log: EventLog
  private var listeners: [UInt64: EventListener] = [:]
  /// Up to which event everybody was told, as far as they had room.
  private var told: UInt64 = 0
  private let tellEvery: UInt64
  private var lastListener: UInt64 = 0
  private var isBeating = false
  private var isClosed = false

  /// Changes that may wait to become events; more are left out, and listeners are told.
  private static let maxPending = 20_000

  init(
    settings: EventSettings, reader: any CallReader, standings: TargetStandings, clock: Clock, redaction: Redaction
  ) {
    self.settings = settings
    self.reader = reader
    self.standings = standings
    self.clock = clock
    self.redaction = redaction
    epoch = UInt64(bitPattern: Clock.wallTime().microseconds)
    // An update may be two events.
    tellEvery = UInt64(max(1, settings.maxKept / 2 - 1))
    log = EventLog(maxCount: settings.maxKept, maxBytes: settings.maxKeptBytes)
  }

  // MARK: What happens

  /// Notes what changes, which are on disk, tell of.
  func committed(_ writes: [StoreWrite]) {
    guard isOn.load(ordering: .acquiring) else { return }
    let told = writes.filter { $0.isTold }
    guard !told.isEmpty else { return }
    guard pending.add(told.count, ordering: .relaxed).newValue <= Self.maxPending else {
      return queue.async { self.overflow(told.count) }
    }
    let now = clock.now
    queue.async {
      for write in told {
        self.note(write, at: now)
        // A commit may hold more events than are kept: nobody is to fall behind for that alone.
        if self.log.next - self.told >= self.tellEvery { self.tellAll() }
      }
      self.pending.subtract(told.count, ordering: .relaxed)
      self.tellAll()
    }
  }

  /// Notes what the engine gives notice of.
  func note(_ notice: Notice, at now: Timestamp) {
    guard isOn.load(ordering: .acquiring), let event = StreamedEvent(notice, at: now) else { return }
    queue.async {
      self.log.append(event)
      self.tellAll()
    }
  }

  /// Notes that a webhook endpoint was disabled.
  ///
  /// - Parameter data: The endpoint, as JSON.
  func noteDisabled(_ endpoint: WebhookEndpoint, data: [UInt8], at now: Timestamp) {
    guard isOn.load(ordering: .acquiring) else { return }
    let event = StreamedEvent(
      kind: .endpointDisabled, target: endpoint.asSubscription.target, call: nil, labels: [],
      data: WebhookPayload.make(WebhookEndpointDraft.endpointDisabled, at: now) { $0.raw(data) })
    queue.async {
      self.log.append(event)
      self.tellAll()
    }
  }

  private func overflow(_ count: Int) {
    pending.subtract(count, ordering: .relaxed)
    log.interrupt()
    for (number, var listener) in listeners {
      listener.misses(.overflow)
      listeners[number] = listener
    }
    tellAll()
  }

  private func note(_ write: StoreWrite, at now: Timestamp) {
    switch write {
    case .insert(let record):
      append(.accepted, record, nil, at: record.createdAt)
    case .update(let id, let progress, let attempt):
      // Retention may have been quicker; a store that cannot be read is told of by everything else that reads it.
      guard var record = try? reader.call(id, allResponses: false)?.record else { return }
      record.progress = progress
      if let attempt { append(.attempted, record, attempt, at: now) }
      switch progress.state {
      case .succeeded: append(.succeeded, record, nil, at: progress.finishedAt ?? now)
      case .cancelled: append(.cancelled, record, nil, at: progress.finishedAt ?? now)
      case .failed:
        append(progress.failure == .tripped ? .tripped : .failed, record, nil, at: progress.finishedAt ?? now)
      case .scheduled, .queued, .held, .running: break
      }
    default: break
    }
  }

  private func append(_ kind: StreamedEvent.Kind, _ record: CallRecord, _ attempt: AttemptRecord?, at time: Timestamp) {
    log.append(
      StreamedEvent(
        kind, of: record, attempt: attempt, wait: standings.wait(of: record, at: clock.now), redaction: redaction,
        at: time))
  }

  // MARK: Who listens

  /// Has a client listen from now on, or from behind an event that it names.
  ///
  /// - Parameters:
  ///   - keyID: The API key that it may listen by.
  ///   - refuse: Called with the problem if it cannot.
  func listen(
    _ responder: HTTPResponder, _ filter: EventFilter, after last: EventID?, keyID: String?,
    refuse: @escaping @Sendable (Problem) -> Void
  ) {
    queue.async { self.add(responder, filter, after: last, keyID: keyID, refuse) }
  }

  private func add(
    _ responder: HTTPResponder, _ filter: EventFilter, after last: EventID?, keyID: String?,
    _ refuse: (Problem) -> Void
  ) {
    guard !isClosed, listeners.count < settings.maxListeners else {
      return refuse(
        Problem(
          status: 503, code: "tooManyListeners", title: "Too many clients listen",
          detail: isClosed
            ? "The service stops." : "No more than \(settings.maxListeners) may listen at a time. Try again later.",
          retryAfter: 5))
    }
    if !isOn.load(ordering: .relaxed) {
      log.interrupt()
      isOn.store(true, ordering: .releasing)
    }
    lastListener += 1
    let number = lastListener
    let head = HTTPResponse(
      status: 200,
      headers: [
        HTTPHeader("content-type", "text/event-stream"), HTTPHeader("cache-control", "no-store"),
        HTTPHeader("x-accel-buffering", "no"),
      ], body: [])
    let stream = responder.stream(head) { [weak self] event in
      guard let self else { return }
      queue.async { self.stream(of: number, did: event) }
    }
    var listener = EventListener(stream: stream, filter: filter, keyID: keyID, epoch: epoch, next: log.next)
    if let last { listener.resume(after: last, in: log) }
    listener.greet()
    listeners[number] = listener
    tell(number)
    beat()
  }

  private func stream(of number: UInt64, did event: HTTPStreamEvent) {
    guard var listener = listeners[number] else { return }
    switch event {
    case .writable:
      listener.hasRoom = true
      listeners[number] = listener
      tell(number)
    case .clientEnded, .closed:
      listener.stream.end()
      remove(number)
    case .draining:
      listener.end(saying: "the service stops")
      remove(number)
    }
  }

  /// Lets those not listen any longer who do so by an API key that was revoked.
  func dismiss(listenersWithKey id: String) {
    queue.async {
      for (number, var listener) in self.listeners where listener.keyID == id {
        listener.end(saying: "the API key was revoked")
        self.remove(number)
      }
    }
  }

  private func remove(_ number: UInt64) {
    listeners[number] = nil
    guard listeners.isEmpty else { return }
    let latest = lastListener
    queue.asyncAfter(deadline: .now() + .microseconds(Int(settings.linger.wholeMicroseconds))) { [weak self] in
      guard let self, listeners.isEmpty, lastListener == latest else { return }
      isOn.store(false, ordering: .releasing)
      log.interrupt()
    }
  }

  private func tellAll() {
    told = log.next
    for number in Array(listeners.keys) { tell(number) }
  }

  private func tell(_ number: UInt64) {
    guard var listener = listeners[number] else { return }
    let goesOn = listener.tell(log, at: Clock.wallTime())
    listeners[number] = listener
    if !goesOn { remove(number) }
  }

  /// Shows those who hear nothing that the connection lives, as long as there are any.
  private func beat() {
    guard !isBeating, !listeners.isEmpty else { return }
    isBeating = true
    queue.asyncAfter(deadline: .now() + .microseconds(Int(settings.heartbeat.wholeMicroseconds))) { [weak self] in
      guard let self else { return }
      isBeating = false
      for (number, var listener) in listeners {
        listener.beat()
        listeners[number] = listener
      }
      beat()
    }
  }

  /// Lets nobody listen any longer: the service stops.
  func close() {
    queue.async {
      self.isClosed = true
      self.isOn.store(false, ordering: .releasing)
      for (_, var listener) in self.listeners { listener.end(saying: "the service stops") }
      self.listeners = [:]
    }
  }
}

extension StoreWrite {
  /// Whether there is an event for it.
  fileprivate var isTold: Bool {
    switch self {
    case .insert: true
    case .update(_, let progress, let attempt): attempt != nil || progress.state.isFinal
    default: false
    }
  }
}
