internal import Dispatch
internal import HTTPServer
internal import RedialCore
internal import RedialEngine
internal import RedialLanes
internal import RedialModel
internal import RedialStore
internal import Synchronization
internal import RedialJSON
internal import RedialText

/// Sends committed changes, and changes of breakers, to listeners as server-sent events.
///
/// Without listeners it costs one check of a flag per commit. All listeners share one log of the events that they
/// still need, so a slow listener costs no memory beyond its connection's buffer. A listener that falls behind the
/// log gets `reset` and is disconnected.
///
/// `@unchecked Sendable`: all mutable state except the atomics is used only on `queue`, which is serial.
final class EventFeed: @unchecked Sendable {
  private let settings: EventSettings
  private let reader: any CallReader
  private let standings: TargetStandings
  private let clock: Clock
  private let redaction: Redaction
  private let epoch: UInt64
  private let queue = DispatchQueue(label: "redial.events")
  private var owner: Owner { .queue(queue) }
  /// Whether events are recorded at all.
  private let isOn = Atomic<Bool>(false)
  /// Changes that were committed but are not events yet.
  private let pending = Atomic<Int>(0)
  /// The namespaces whose events are recorded: those of the channels that are on.
  private let recorded = Mutex<Set<Namespace>>([])
  private var channels: [Namespace: EventChannel] = [:]
  private var listeners: [UInt64: EventListener] = [:]
  private let notifyEvery: UInt64
  private var lastListener: UInt64 = 0
  private var isBeating = false
  private var isClosed = false
  /// Asks the other instances on the same store for their events; nil if there can be none. Set once by `init`.
  private var relay: EventRelay?
  /// Clients that listen as soon as the events of all instances arrive.
  private var arriving: [Namespace: [@Sendable () -> Void]] = [:]

  /// Maximum number of changes that wait to become events; more are dropped, and listeners get `reset`.
  private static let maxPending = 20_000
  /// Calls that are read at a time.
  private static let page = 250

  /// - Parameter trust: Signs requests to other instances on the same store; nil if there can be none.
  init(
    settings: EventSettings, reader: any CallReader, standings: TargetStandings, clock: Clock, redaction: Redaction,
    trust: PeerTrust? = nil
  ) {
    self.settings = settings
    self.reader = reader
    self.standings = standings
    self.clock = clock
    self.redaction = redaction
    epoch = UInt64(bitPattern: Clock.wallTime().microseconds)
    // An update may be two events.
    notifyEvery = UInt64(max(1, settings.maxKept / 2 - 1))
    relay = trust.map { trust in
      EventRelay(trust: trust, clock: clock, heartbeat: settings.heartbeat) { [weak self] in self?.heed($0) }
    }
  }

  // MARK: What happens

  /// Records events for changes that are on disk.
  func committed(_ writes: [StoreWrite]) {
    guard isOn.load(ordering: .acquiring) else { return }
    let recorded = recorded.withLock { $0 }
    // Calls of a namespace without listeners take no space from the others.
    let reported = writes.filter { $0.isReported(in: recorded) }
    guard !reported.isEmpty else { return }
    guard pending.add(reported.count, ordering: .relaxed).newValue <= Self.maxPending else {
      return queue.async { self.overflow(reported.count) }
    }
    let now = clock.now
    queue.async {
      var rest = reported[...]
      while !rest.isEmpty {
        self.recordEvents(of: rest.prefix(Self.page), at: now)
        rest = rest.dropFirst(Self.page)
      }
      self.pending.subtract(reported.count, ordering: .relaxed)
      self.notifyAll()
    }
  }

  /// Records what happened to a target.
  func record(_ event: TargetEvent) {
    guard isOn.load(ordering: .acquiring) else { return }
    queue.async {
      self.append(StreamedEvent(event))
      self.notifyAll()
    }
  }

  /// Records that a webhook endpoint was disabled.
  ///
  /// - Parameter data: The endpoint, as JSON.
  func recordDisabled(_ endpoint: WebhookEndpoint, data: [UInt8], at now: Timestamp) {
    guard isOn.load(ordering: .acquiring) else { return }
    let event = StreamedEvent(
      type: .endpointDisabled, target: endpoint.asSubscription.target, call: nil, labels: [],
      data: WebhookPayload.make(.endpointDisabled, at: now) { $0.raw(data) })
    queue.async {
      self.append(event)
      self.notifyAll()
    }
  }

  /// Adds an event to those of its namespace, if it has listeners.
  private func append(_ event: StreamedEvent) {
    owner.check()
    let namespace = event.target.namespace
    guard channels[namespace]?.isOn == true else { return }
    channels[namespace]?.log.append(event)
    // A commit may contain more events than are kept: no listener may fall behind because of that alone.
    guard let channel = channels[namespace], channel.log.next - channel.notified >= notifyEvery else { return }
    notifyAll(of: namespace)
  }

  private func overflow(_ count: Int) {
    pending.subtract(count, ordering: .relaxed)
    interrupt(.overflow)
    notifyAll()
  }

  /// Events of all namespaces are missing here.
  private func interrupt(_ gap: EventListener.Gap) {
    owner.check()
    for namespace in channels.keys { channels[namespace]?.log.interrupt() }
    for number in listeners.keys { listeners[number]?.misses(gap) }
  }

  private func recordEvents(of writes: ArraySlice<StoreWrite>, at now: Timestamp) {
    owner.check()
    let ids = writes.compactMap { write -> CallID? in if case .update(let id, _, _) = write { id } else { nil } }
    var records: [CallID: CallRecord] = [:]
    do throws(StoreError) {
      // Retention may have removed it already.
      for case .success(let record)? in try reader.records(of: ids) { records[record.id] = record }
    } catch {
      // An update does not say in which namespace its call is. All other readers report a store that cannot be read.
      return interrupt(.storeUnavailable)
    }
    for write in writes { recordEvents(of: write, records, at: now) }
  }

  private func recordEvents(of write: StoreWrite, _ records: [CallID: CallRecord], at now: Timestamp) {
    switch write {
    case .insert(let record):
      append(.callAccepted, record, nil, at: record.createdAt)
    case .update(let id, let progress, let attempt):
      guard var record = records[id] else { return }
      record.progress = progress
      if let attempt { append(.callAttempted, record, attempt, at: now) }
      if let end = EventType(endOf: progress) { append(end, record, nil, at: progress.finishedAt ?? now) }
    case .erase(let id, let spec):
      channels[spec.namespace]?.log.erase(id, keeping: spec, redaction)
      if relay != nil { append(.erasure(of: id, spec)) }
    default: break
    }
  }

  private func append(_ type: EventType, _ record: CallRecord, _ attempt: AttemptRecord?, at time: Timestamp) {
    guard channels[record.spec.namespace]?.isOn == true else { return }
    append(
      StreamedEvent(
        type, of: record, attempt: attempt, wait: standings.wait(of: record, at: clock.now), redaction: redaction,
        at: time))
  }

  // MARK: What happens at other instances

  /// Takes the other instances on the same store.
  func meet(_ others: [Peer]) { relay?.meet(others) }

  private func heed(_ report: EventRelay.Report) {
    switch report {
    // The sender of a stream that is too fast has to wait.
    case .event(let event, let namespace): queue.sync { relayed(event, namespace) }
    case .whole(let namespace): queue.async { self.whole(namespace) }
    case .missed(let namespace): queue.async { self.missed(namespace) }
    }
  }

  private func relayed(_ event: ServerSentEvents.Event, _ namespace: Namespace) {
    owner.check()
    guard channels[namespace]?.isOn == true, let event = StreamedEvent(event, in: namespace) else { return }
    if event.type == .callErased, let call = event.call { return forget(call.id, of: namespace) }
    append(event)
    notifyAll(of: namespace)
  }

  /// Removes erased content from the recorded events of a call.
  private func forget(_ id: CallID, of namespace: Namespace) {
    guard case .success(let record)? = (try? reader.records(of: [id]))?.first ?? nil else {
      // What may stay of it is not known.
      channels[namespace]?.log.interrupt()
      return notifyAll(of: namespace)
    }
    channels[namespace]?.log.erase(id, keeping: record.spec, redaction)
  }

  private func whole(_ namespace: Namespace) {
    owner.check()
    guard let channel = channels[namespace], channel.isFollowed else { return }
    channels[namespace]?.wholeFrom = channel.log.next
    for arrive in arriving.removeValue(forKey: namespace) ?? [] { arrive() }
  }

  private func missed(_ namespace: Namespace) {
    owner.check()
    guard let channel = channels[namespace], channel.isFollowed else { return }
    channels[namespace]?.wholeFrom = channel.log.next
    for number in channel.clients { listeners[number]?.misses(.instanceChanged) }
    notifyAll(of: namespace)
  }

  // MARK: Who listens

  /// Adds a client as a listener from now on, or from the event after a given one.
  ///
  /// - Parameters:
  ///   - caller: The listener; it gets the events of its namespace.
  ///   - isInstance: Whether it is another instance, which gets the events of this one alone.
  ///   - mayGoOn: Returns why the caller may not continue to listen; nil while it may.
  ///   - refuse: Called with the problem if it cannot listen.
  func listen(
    _ responder: HTTPResponder, _ filter: EventFilter, after last: EventID?, _ caller: Caller, isInstance: Bool = false,
    mayGoOn: @escaping @Sendable () -> Problem?, refuse: @escaping @Sendable (Problem) -> Void
  ) {
    queue.async {
      let add: @Sendable () -> Void = {
        self.add(responder, filter, after: last, caller, isInstance: isInstance, mayGoOn, refuse)
      }
      if isInstance || self.follows(caller.namespace, refuse) { return add() }
      if self.arriving[caller.namespace] != nil { self.arriving[caller.namespace]?.append(add) }
    }
  }

  /// Whether the events of all instances arrive in a namespace; if not, they are asked for, and `arriving` has a place.
  private func follows(_ namespace: Namespace, _ refuse: (Problem) -> Void) -> Bool {
    owner.check()
    guard let relay, !isClosed, arriving[namespace] == nil else { return self.relay == nil || isClosed }
    if channels[namespace]?.isFollowed == true { return true }
    guard channels.values.count(where: \.isFollowed) < EventRelay.mostNamespaces else {
      refuse(Self.tooMany("Clients of at most \(EventRelay.mostNamespaces) namespaces may listen at a time."))
      return false
    }
    startRecording(namespace)
    channels[namespace]?.isFollowed = true
    arriving[namespace] = []
    relay.follow(namespace)
    return false
  }

  private static func tooMany(_ detail: String) -> Problem {
    Problem(.tooManyListeners, detail: "\(detail) Try again later.", retryAfter: 5)
  }

  private func add(
    _ responder: HTTPResponder, _ filter: EventFilter, after last: EventID?, _ caller: Caller, isInstance: Bool,
    _ mayGoOn: @escaping @Sendable () -> Problem?, _ refuse: (Problem) -> Void
  ) {
    owner.check()
    // It was admitted before this queue ran, and listeners without permission may have been removed since.
    if let problem = mayGoOn() { return refuse(problem) }
    let namespace = caller.namespace
    guard !isClosed else { return refuse(Self.tooMany("The service stops.")) }
    guard isInstance || channels[namespace]?.clients.count ?? 0 < settings.maxListeners else {
      return refuse(
        Self.tooMany("At most \(settings.maxListeners) clients of the namespace \(namespace) may listen at a time."))
    }
    lastListener += 1
    let number = lastListener
    let channel = open(namespace, for: number, isInstance: isInstance)
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
    var listener = EventListener(
      stream: stream, filter: filter, caller, isInstance: isInstance, epoch: epoch, next: channel.log.next,
      mayGoOn: mayGoOn)
    if let last { listener.resume(after: last, in: channel) }
    listener.greet()
    listeners[number] = listener
    notify(number)
    beat()
  }

  /// Gives a listener a place in its namespace, whose events are recorded from now on.
  private func open(_ namespace: Namespace, for number: UInt64, isInstance: Bool) -> EventChannel {
    var channel = startRecording(namespace)
    channel.listeners.insert(number)
    channel.latest = number
    if !isInstance {
      channel.clients.insert(number)
      channel.latestClient = number
    }
    channels[namespace] = channel
    return channel
  }

  /// Begins to record the events of a namespace.
  @discardableResult
  private func startRecording(_ namespace: Namespace) -> EventChannel {
    var channel =
      channels[namespace]
      ?? EventChannel(log: EventLog(maxCount: settings.maxKept, maxBytes: settings.maxKeptBytes))
    if !channel.isOn { channel.log.interrupt() }
    channel.isOn = true
    channels[namespace] = channel
    _ = recorded.withLock { $0.insert(namespace) }
    isOn.store(true, ordering: .releasing)
    shareBytes()
    return channels[namespace] ?? channel
  }

  /// Stops recording the events of a namespace.
  private func stopRecording(_ namespace: Namespace) {
    channels[namespace]?.isOn = false
    channels[namespace]?.log.interrupt()
    _ = recorded.withLock { $0.remove(namespace) }
    isOn.store(channels.values.contains { $0.isOn }, ordering: .releasing)
    shareBytes()
  }

  /// Divides the space for events among the namespaces that have any.
  private func shareBytes() {
    let count = max(1, channels.values.count { $0.isOn })
    for namespace in channels.keys { channels[namespace]?.log.maxBytes = settings.maxKeptBytes / count }
  }

  private func stream(of number: UInt64, did event: HTTPStreamEvent) {
    owner.check()
    guard var listener = listeners[number] else { return }
    switch event {
    case .writable:
      listener.isWritable = true
      listeners[number] = listener
      notify(number)
    case .clientEnded, .closed:
      listener.stream.end()
      remove(number)
    case .draining:
      listener.end(saying: "the service stops")
      remove(number)
    }
  }

  /// Removes listeners that no longer have permission: their API key was revoked, or they have none and one is now
  /// required.
  func dismissTheRefused() {
    queue.async {
      for (number, var listener) in self.listeners where listener.mayGoOn() != nil {
        listener.end(saying: listener.hasKey ? "the API key was revoked" : "an API key is needed from now on")
        self.remove(number)
      }
    }
  }

  private func remove(_ number: UInt64) {
    owner.check()
    guard let namespace = listeners.removeValue(forKey: number)?.namespace else { return }
    channels[namespace]?.listeners.remove(number)
    channels[namespace]?.clients.remove(number)
    guard let channel = channels[namespace], channel.clients.isEmpty else { return }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(settings.linger.wholeMicroseconds))) { [weak self] in
      guard let self, let now = channels[namespace] else { return }
      if now.isFollowed, now.clients.isEmpty, now.latestClient == channel.latestClient {
        relay?.unfollow(namespace)
        channels[namespace]?.isFollowed = false
      }
      if now.listeners.isEmpty, now.latest == channel.latest { stopRecording(namespace) }
    }
  }

  private func notifyAll() {
    for namespace in Array(channels.keys) { notifyAll(of: namespace) }
  }

  private func notifyAll(of namespace: Namespace) {
    guard let channel = channels[namespace], channel.isOn else { return }
    channels[namespace]?.notified = channel.log.next
    for number in channel.listeners { notify(number) }
  }

  private func notify(_ number: UInt64) {
    guard var listener = listeners[number], let log = channels[listener.namespace]?.log else { return }
    let goesOn = listener.notify(log, at: Clock.wallTime())
    listeners[number] = listener
    if !goesOn { remove(number) }
  }

  /// Sends heartbeats to listeners without events, while there are any.
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

  /// Removes all listeners: the service stops.
  func close() {
    queue.async {
      self.isClosed = true
      self.isOn.store(false, ordering: .releasing)
      self.relay?.unfollowAll()
      for namespace in Array(self.arriving.keys) { self.whole(namespace) }
      for (_, var listener) in self.listeners { listener.end(saying: "the service stops") }
      self.listeners = [:]
    }
  }
}

extension StoreWrite {
  /// Whether this write is an event, as far as it shows its namespace, in a namespace with listeners.
  fileprivate func isReported(in recorded: Set<Namespace>) -> Bool {
    switch self {
    case .insert(let record): recorded.contains(record.spec.namespace)
    case .update(_, let progress, let attempt): attempt != nil || progress.state.isFinal
    // Removes erased content from the recorded events of the call.
    case .erase(_, let spec): recorded.contains(spec.namespace)
    default: false
    }
  }
}
