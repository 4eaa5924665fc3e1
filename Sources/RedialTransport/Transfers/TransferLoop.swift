internal import CCurl
internal import CLinux
internal import RedialLanes
internal import RedialModel
internal import Synchronization

/// The thread of a transport: libcurl's multi interface, which receives messages from a mailbox.
///
/// `@unchecked Sendable`: `run` executes once, on one thread, and only that thread uses the mutable state except the
/// mailbox; the bell of its events may be rung from any thread. The accesses that the run time does not check are single
/// operations on arrays and dictionaries, within which nothing of this object is called.
final class TransferLoop: @unchecked Sendable {
  enum Message: Sendable {
    case start(TransportRequest)
    /// Makes requests here, and starts them.
    case make(@Sendable () -> [TransportRequest])
    case cancel(UInt64)
    case restrict(EgressPolicy)
    /// A piece of a request's body, or why there is none.
    case piece(BodyPiece)
    /// Whether a helper works.
    case helper(Helper, isUp: Bool)
    /// The result of looking up a name.
    case name(NameAnswer)
    case stop
  }

  private(set) var multi: UnsafeMutableRawPointer
  private let events: SocketEvents
  private(set) var configuration: TransportConfiguration
  private let completions: @Sendable ([Transport.Ended]) -> Void
  private let mailbox = Mailbox<Message>()
  /// The messages that are being handled. Their memory is used again.
  @exclusivity(unchecked) private var batch: [Message] = []

  /// The transfers in flight, by the requests' ids.
  @exclusivity(unchecked) var transfers: [UInt64: Transfer] = [:]
  /// Transfers that ended by the target's fault or a helper's, while that is being found.
  private var doubted: [(transfer: Transfer, code: CURLcode, helper: Helper)] = []
  private let resolver: HelperProbe
  private let proxy: HelperProbe
  /// The changes that redirects have made to a transfer's request; without transfers that were never redirected.
  private var hops: [UInt64: Hop] = [:]
  /// The number of transfers that libcurl last got.
  private var counted = 0
  /// Whether there may be connections that nobody uses.
  var hasConnections = false
  /// Since when nothing is in flight, if there may be such connections.
  var quietSince: ContinuousClock.Instant?
  var uploads = TransferTimers()
  /// The names that are being looked up, and those that wait for that.
  var lookups: LookupQueue
  /// Gets the addresses of a name from the system; it may block.
  let resolve: @Sendable (String) -> NameLookup.Result
  /// The requests that wait for each name, and until when.
  var named: [String: Set<UInt64>] = [:]
  var nameTimers = TransferTimers()
  /// When requests end that have got more time.
  var lateTimers = TransferTimers()
  /// Until when requests wait for a stream.
  var streamTimers = TransferTimers()
  @exclusivity(unchecked) private var idle: [Transfer] = []
  private let pruning = AddressPruning()
  let memory = OriginMemory()
  @exclusivity(unchecked) var results: [Transport.Ended] = []
  let bodies = BodyLanes()
  /// Requests that have not started, because none of their body is there yet; and when the body was requested.
  var awaiting: [UInt64: ContinuousClock.Instant] = [:]
  /// When to look for transfers that have waited too long for their body.
  var nextLateCheck = ContinuousClock.now
  /// Distinguishes the bodies that are being read.
  var bodyTicket: UInt64 = 0
  private var isStopping = false
  /// How many kept connections were not used, because something was there to be read, they had ended, or they were of
  /// another group.
  let abandonedConnections = Atomic(0)
  /// The thread that runs it, as soon as one does.
  private var owner = Owner.holder

  /// Maximum number of idle handles that are kept.
  private static let maximumIdle = 256
  /// How often to check whether a target still takes a body although it has already responded.
  static let uploadPause = Duration.seconds(1)
  /// How long the thread sleeps when libcurl has no timer of its own, in milliseconds; a message wakes it.
  static let longestSleep: Int32 = 60_000

  init(
    multi: UnsafeMutableRawPointer, events: SocketEvents, configuration: TransportConfiguration,
    resolver: HelperProbe = HelperProbe(),
    resolve: @escaping @Sendable (String) -> NameLookup.Result = NameLookup.resolve,
    completions: @escaping @Sendable ([Transport.Ended]) -> Void
  ) {
    self.multi = multi
    self.events = events
    self.configuration = configuration
    self.resolver = resolver
    proxy = .proxy(configuration)
    self.resolve = resolve
    lookups = LookupQueue(limit: configuration.maxLookups)
    self.completions = completions
  }

  deinit {
    idle = []
    curl_multi_cleanup(multi)
  }

  /// Sends messages, from any thread.
  func post(_ messages: [Message]) {
    switch mailbox.post(contentsOf: messages) {
    case .mustWake: events.bell.ring()
    case .queued: break
    case .closed:
      let ended = Self.cancelled(messages)
      if !ended.isEmpty { completions(ended) }
    }
  }

  /// The results of requests that are not started any more.
  private static func cancelled(_ messages: [Message]) -> [Transport.Ended] {
    messages.flatMap { message -> [Transport.Ended] in
      switch message {
      case .start(let request): [(request.id, .cancelled())]
      case .make(let requests): requests().map { ($0.id, .cancelled()) }
      default: []
      }
    }
  }

  /// Runs until the transport is shut down.
  func run() {
    owner = .thisThread
    events.wasLate = { [weak self] in self?.give(more: $0) }
    while !isStopping {
      takeMail()
      if isStopping { break }
      keepIdle()
      events.beginDue()
      takeEnded()
      endStreamWaits()
      startLookups()
      tell()
      let sleep = lookupSleep(
        atMost: lateTimers.sleep(
          atMost: streamTimers.sleep(atMost: uploads.sleep(atMost: closeIdle(sleep: longestSleep)))))
      events.runRound(atMost: mailbox.maySleep() ? sleep : 0)
      takeEnded()
      endUploads()
      endWaiting()
      endLate()
      if !awaiting.isEmpty { failLate() }
      tell()
    }
    for (transfer, code, _) in doubted { results.append((transfer.id, transfer.result(code))) }
    doubted = []
    results += Self.cancelled(mailbox.close())
    tell()
  }

  /// Makes libcurl keep the configured number of idle connections besides those in use, because its limit includes
  /// both. Otherwise slow targets, each with a connection in use, would cause every other connection to be closed
  /// after each request.
  private func keepIdle() {
    guard transfers.count != counted else { return }
    counted = transfers.count
    _ = redial_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maxIdleConnections) + counted)
  }

  /// Whether no transfer is in flight, or waits for anything.
  var isQuiet: Bool { transfers.isEmpty && doubted.isEmpty }

  /// Closes all connections, and goes on with another multi handle; only while it ``isQuiet``.
  func renew(with fresh: UnsafeMutableRawPointer) {
    owner.check()
    idle = []
    curl_multi_cleanup(multi)
    multi = fresh
    // It fails only for an option that this libcurl does not know, and the handle before it knew them.
    let isAttached = events.attach(fresh)
    precondition(isAttached, "libcurl's events cannot be had any more")
    counted = -1
  }

  private func takeMail() {
    mailbox.take(&batch, staysAwake: true)
    for message in batch { perform(message) }
    batch.removeAll(keepingCapacity: true)
  }

  private func perform(_ message: Message) {
    owner.check()
    switch message {
    case .start(let request): begin(request)
    case .make(let requests): for request in requests() { begin(request) }
    case .cancel(let id): cancel(id)
    case .piece(let piece): take(piece)
    case .helper(let helper, let isUp): endDoubted(by: helper, isUp)
    case .name(let answer): take(answer)
    case .restrict(let policy):
      configuration.egress = policy
      idle = []
    case .stop:
      isStopping = true
      for transfer in Array(transfers.values) { abort(transfer) }
    }
  }

  private func begin(_ request: TransportRequest) {
    guard !isStopping else { return results.append((request.id, .cancelled())) }
    guard
      let transfer = idle.popLast()
        ?? Transfer(configuration: configuration, events: events, pruning: pruning, memory: memory)
    else {
      return results.append((request.id, .outOfMemory))
    }
    if request.source != nil { return beginReading(request, with: transfer) }
    begin(request, with: transfer, transfer.prepare(request))
  }

  /// Starts a transfer, if it could be prepared.
  func begin(_ request: TransportRequest, with transfer: Transfer, _ prepared: CURLcode) {
    let code = add(transfer, prepared)
    guard code == CURLE_OK else {
      results.append((transfer.id, transfer.result(code)))
      return
    }
    transfers[request.id] = transfer
  }

  /// Gives libcurl a transfer, if it could be prepared.
  private func add(_ transfer: Transfer, _ prepared: CURLcode) -> CURLcode {
    let code = hand(transfer, prepared)
    guard code == CURLE_OK else { return code }
    // HTTP/2, in which a server must allow even a small body, is used only within TLS.
    if transfer.hasContent, transfer.dialling.isSecure || transfer.upload.isPiecewise {
      let entry = TransferTimers.Entry(transfer: transfer, generation: transfer.generation)
      uploads.add(entry, after: Self.uploadPause)
    }
    return CURLE_OK
  }

  private func hand(_ transfer: Transfer, _ prepared: CURLcode) -> CURLcode {
    guard prepared == CURLE_OK else { return prepared }
    guard curl_multi_add_handle(multi, transfer.handle) == CURLM_OK else { return CURLE_OUT_OF_MEMORY }
    (transfer.isInFlight, transfer.begun, hasConnections) = (true, .now, true)
    return CURLE_OK
  }

  /// Gives libcurl a transfer again that has waited, if it could be prepared.
  func proceed(_ transfer: Transfer, _ prepared: CURLcode) {
    let code = hand(transfer, prepared)
    guard code == CURLE_OK else { return end(transfer, code) }
    transfer.suspension.resume()
  }

  /// Follows the redirect of an attempt, if it may.
  private func follow(_ transfer: Transfer) -> Bool {
    guard transfer.request.maxRedirects > 0 else { return false }
    guard let (next, timeout) = transfer.next(hop(of: transfer)) else { return false }
    hops[transfer.id] = next
    withdraw(transfer)
    readAgain(next, with: transfer)
    resume(transfer, transfer.prepare(next, timeout: timeout))
    return true
  }

  /// The current request of an attempt.
  private func hop(of transfer: Transfer) -> Hop {
    let request = transfer.request
    return hops[request.id]
      ?? Hop(
        url: request.url, method: request.method, headers: request.headers, body: request.body, source: request.source)
  }

  /// Sends a request on a connection of its own: on the one that libcurl had chosen it was not sent, or not processed.
  private func startOver(_ transfer: Transfer) {
    abandonedConnections.add(1, ordering: .relaxed)
    guard let left = transfer.course.startOver(after: transfer.elapsed, of: transfer.request.timeout) else {
      return end(transfer, CURLE_OPERATION_TIMEDOUT)
    }
    withdraw(transfer)
    let hop = hop(of: transfer)
    if transfer.course.sends > 0 { readAgain(hop, with: transfer) }
    // Where all connections of before are left, others may share the new one.
    let isRenewed = memory.advice(on: hop.url, in: transfer.request.group).group != transfer.group
    resume(transfer, transfer.prepare(hop, timeout: left, isAlone: !isRenewed))
  }

  /// Starts another request of an attempt, if it could be prepared.
  private func resume(_ transfer: Transfer, _ prepared: CURLcode) {
    let code = add(transfer, prepared)
    guard code != CURLE_OK else { return }
    results.append((transfer.id, transfer.result(code)))
    forget(transfer)
    keep(transfer)
  }

  private func cancel(_ id: UInt64) {
    if let transfer = transfers[id] { return abort(transfer) }
    guard let place = doubted.firstIndex(where: { $0.transfer.id == id }) else { return }
    let transfer = doubted.remove(at: place).transfer
    results.append((transfer.id, transfer.cancelled()))
    keep(transfer)
  }

  private func abort(_ transfer: Transfer) {
    if let result = giveUpAwaiting(transfer) {
      results.append((transfer.id, result))
      return keep(transfer)
    }
    remove(transfer)
    results.append((transfer.id, transfer.cancelled()))
    keep(transfer)
  }

  private func takeEnded() {
    owner.check()
    var code = CURLE_OK
    while let handle = redial_curl_multi_next_done(multi, &code) {
      guard let transfer = Transfer.take(redial_curl_get_private(handle)), transfer.isInFlight else { continue }
      redial_take_in_hand(Int64(bitPattern: transfer.id))
      defer { redial_take_in_hand(0) }
      if transfer.naming.isWanted {
        awaitName(transfer)
      } else if let pause = transfer.crowding.pause {
        awaitStream(transfer, for: pause)
      } else if transfer.course.isConnectionAbandoned || transfer.mustMove() {
        startOver(transfer)
      } else if !follow(transfer) {
        end(transfer, code)
      }
    }
  }

  /// Ends a transfer that libcurl has finished, or cannot start.
  func end(_ transfer: Transfer, _ code: CURLcode) {
    transfer.learn(from: code)
    remove(transfer)
    guard let helper = transfer.doubt(code) else {
      results.append((transfer.id, transfer.result(code)))
      return keep(transfer)
    }
    doubted.append((transfer, code, helper))
    (helper == .resolver ? resolver : proxy).ask { [weak self] isUp in self?.post([.helper(helper, isUp: isUp)]) }
  }

  /// Ends a transfer for whose name the resolver could not say whether it exists.
  func endUnresolved(_ transfer: Transfer) {
    remove(transfer)
    results.append((transfer.id, transfer.result(CURLE_COULDNT_RESOLVE_HOST, without: .resolver)))
    keep(transfer)
  }

  /// Ends transfers, now that it is known whether a helper works.
  private func endDoubted(by helper: Helper, _ isUp: Bool) {
    for (transfer, code, _) in doubted.filter({ $0.helper == helper }) {
      results.append((transfer.id, transfer.result(code, without: isUp ? nil : helper)))
      keep(transfer)
    }
    doubted.removeAll { $0.helper == helper }
  }

  func remove(_ transfer: Transfer) {
    owner.check()
    forget(transfer)
    stopWaiting(transfer)
    withdraw(transfer)
  }

  /// Takes a transfer from libcurl, if it has it.
  func withdraw(_ transfer: Transfer) {
    if transfer.isInFlight { curl_multi_remove_handle(multi, transfer.handle) }
    transfer.isInFlight = false
    transfer.crowding.isWaiting = false
    memory.crowds.left(transfer.id, in: transfer.crowding.crowd, from: transfer.exchange.connection)
  }

  private func forget(_ transfer: Transfer) {
    transfers[transfer.id] = nil
    if transfer.course.redirects > 0 { hops[transfer.id] = nil }
  }

  func keep(_ transfer: Transfer) {
    if idle.count < Self.maximumIdle { idle.append(transfer) }
  }

  private func tell() {
    guard !results.isEmpty else { return }
    completions(results)
    results.removeAll(keepingCapacity: true)
  }
}
