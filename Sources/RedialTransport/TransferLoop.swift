internal import CCurl
internal import RedialModel
internal import Synchronization

/// The thread of a transport: libcurl's multi interface, fed from a mailbox.
///
/// `@unchecked Sendable`: `run` executes once, on one thread, and everything mutable but the mailbox is touched there
/// alone; `SocketEvents.wake` may be called from any thread.
final class TransferLoop: @unchecked Sendable {
  enum Message: Sendable {
    case start(TransportRequest)
    case cancel(UInt64)
    case restrict(EgressPolicy)
    case stop
  }

  private struct Mail {
    var messages: [Message] = []
    var hasEnded = false
  }

  private let multi: UnsafeMutableRawPointer
  private let events: SocketEvents
  private var configuration: TransportConfiguration
  private let completions: @Sendable ([TransportResult]) -> Void
  private let mail = Mutex(Mail())

  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  private var handles: [UInt64: UnsafeMutableRawPointer] = [:]
  /// What the redirects of a transfer have made of its request; those that were never redirected are not among them.
  private var hops: [UInt64: Hop] = [:]
  private var firstBytes = FirstByteTimers()
  private var idle: [Transfer] = []
  private var results: [TransportResult] = []
  private var isStopping = false

  /// Handles without a request that are kept.
  private static let maximumIdle = 256
  /// How long the thread sleeps when libcurl has no timer of its own, in milliseconds; a message wakes it.
  private static let longestSleep: Int32 = 60_000

  init(
    multi: UnsafeMutableRawPointer, events: SocketEvents, configuration: TransportConfiguration,
    completions: @escaping @Sendable ([TransportResult]) -> Void
  ) {
    self.multi = multi
    self.events = events
    self.configuration = configuration
    self.completions = completions
  }

  deinit {
    idle = []
    curl_multi_cleanup(multi)
  }

  /// Hands over messages, from any thread.
  func post(_ messages: [Message]) {
    let refused = mail.withLock { mail -> [Message] in
      guard !mail.hasEnded else { return messages }
      let wasEmpty = mail.messages.isEmpty
      mail.messages += messages
      if wasEmpty, !messages.isEmpty { events.wake() }
      return []
    }
    let ended = refused.compactMap { message -> TransportResult? in
      guard case .start(let request) = message else { return nil }
      return .cancelled(request.id)
    }
    if !ended.isEmpty { completions(ended) }
  }

  /// Runs until the transport is shut down.
  func run() {
    while !isStopping {
      for message in takeMail() { perform(message) }
      if !isStopping { events.turn(atMost: firstBytes.sleep(atMost: results.isEmpty ? Self.longestSleep : 0)) }
      takeEnded()
      abortSilent()
      tell()
    }
    for message in mail.withLock({ mail in
      mail.hasEnded = true
      defer { mail.messages = [] }
      return mail.messages
    }) {
      if case .start(let request) = message {
        results.append(.cancelled(request.id))
      }
    }
    tell()
  }

  private func takeMail() -> [Message] {
    mail.withLock { mail in
      var taken: [Message] = []
      swap(&taken, &mail.messages)
      return taken
    }
  }

  private func perform(_ message: Message) {
    switch message {
    case .start(let request): begin(request)
    case .cancel(let id): if let handle = handles[id] { abort(handle) }
    case .restrict(let policy):
      configuration.egress = policy
      idle = []
    case .stop:
      isStopping = true
      for handle in Array(transfers.keys) { abort(handle) }
    }
  }

  private func begin(_ request: TransportRequest) {
    guard !isStopping else { return results.append(.cancelled(request.id)) }
    guard let transfer = idle.popLast() ?? Transfer(configuration: configuration) else {
      return results.append(.outOfMemory(request.id))
    }
    var code = transfer.prepare(request)
    if code == CURLE_OK, curl_multi_add_handle(multi, transfer.handle) != CURLM_OK { code = CURLE_OUT_OF_MEMORY }
    guard code == CURLE_OK else {
      results.append(transfer.result(code))
      return
    }
    transfers[transfer.handle] = transfer
    handles[request.id] = transfer.handle
    if let bound = configuration.firstByteTimeout {
      firstBytes.add(FirstByteTimers.Entry(handle: transfer.handle, generation: transfer.generation), after: bound)
    }
  }

  /// Goes on with an attempt that was answered by a redirect, if it may.
  private func follow(_ transfer: Transfer, _ code: CURLcode) -> Bool {
    guard transfer.request.maxRedirects > 0 else { return false }
    let request = transfer.request
    let hop =
      hops[request.id]
      ?? Hop(url: request.url, method: request.method, headers: request.headers, body: request.body)
    guard let (next, timeout) = transfer.next(after: code, hop) else { return false }
    hops[request.id] = next
    curl_multi_remove_handle(multi, transfer.handle)
    var code = transfer.prepare(next, timeout: timeout)
    if code == CURLE_OK, curl_multi_add_handle(multi, transfer.handle) != CURLM_OK { code = CURLE_OUT_OF_MEMORY }
    guard code != CURLE_OK else { return true }
    results.append(transfer.result(code))
    forget(transfer)
    keep(transfer)
    return true
  }

  /// Aborts what has not begun to answer in time.
  private func abortSilent() {
    while let entry = firstBytes.popExpired() {
      guard let transfer = transfers[entry.handle], transfer.generation == entry.generation,
        transfer.received.headBytes == 0, remove(entry.handle) != nil
      else { continue }
      results.append(transfer.result(CURLE_OPERATION_TIMEDOUT, abortedAt: .firstByte))
      keep(transfer)
    }
  }

  private func abort(_ handle: UnsafeMutableRawPointer) {
    guard let transfer = remove(handle) else { return }
    results.append(transfer.cancelled())
    keep(transfer)
  }

  private func takeEnded() {
    var code = CURLE_OK
    while let handle = redial_curl_multi_next_done(multi, &code) {
      if let transfer = transfers[handle], follow(transfer, code) { continue }
      guard let transfer = remove(handle) else { continue }
      results.append(transfer.result(code))
      keep(transfer)
    }
  }

  private func remove(_ handle: UnsafeMutableRawPointer) -> Transfer? {
    guard let transfer = transfers[handle] else { return nil }
    forget(transfer)
    curl_multi_remove_handle(multi, handle)
    return transfer
  }

  private func forget(_ transfer: Transfer) {
    transfers[transfer.handle] = nil
    handles[transfer.id] = nil
    if transfer.redirects > 0 { hops[transfer.id] = nil }
  }

  private func keep(_ transfer: Transfer) {
    if idle.count < Self.maximumIdle { idle.append(transfer) }
  }

  private func tell() {
    guard !results.isEmpty else { return }
    completions(results)
    results.removeAll(keepingCapacity: true)
  }
}
